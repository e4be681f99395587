#include "report/pull_request_status.h"

#include <fmt/format.h>

#include "report/body_state.h"
#include "report/format.h"
#include "report/markdown.h"
#include "report/pull_request.h"

namespace warpwright::report {
namespace {

constexpr std::string_view kBegin = "<!-- warpwright:outdated -->\n", kEnd = "<!-- warpwright:figures -->\n",
                           kFoldEnd = "\n</details>\n<!-- warpwright:figures end -->\n";
constexpr size_t kMaxWhy = 2'000;

}  // namespace

std::string RenderStatusComment(std::string_view headline, std::string_view why) {
  std::string text = fmt::format("{}\n{}", kStatusMarker, headline);
  if (!why.empty()) text += ": " + EscapeMarkdown(std::string(why), kMaxWhy);
  return Sentence(std::move(text)) + "\n";
}

bool IsMarkedOutdated(std::string_view body) { return body.find(kBegin) != std::string_view::npos; }

std::string MarkOutdated(std::string_view body, std::string_view why) {
  const size_t line = body.find('\n');
  if (!ParseBody(body) || line == std::string_view::npos) return std::string(body);
  const std::string_view state = body.substr(0, line + 1);
  std::string_view figures = body.substr(line + 1);
  if (const size_t marked = figures.find(kEnd); IsMarkedOutdated(body) && marked != std::string_view::npos)
    figures.remove_prefix(marked + kEnd.size());
  const size_t controls = figures.rfind(kControlsBegin);
  const std::string_view rest = controls == std::string_view::npos ? std::string_view() : figures.substr(controls);
  figures = figures.substr(0, controls);
  if (figures.ends_with(kFoldEnd)) figures.remove_suffix(kFoldEnd.size());
  return fmt::format(
      "{}{}> [!WARNING]\n> **Out of date: the figures below do not hold for this branch on its base.** {}\n\n"
      "<details><summary>What was found at the time</summary>\n{}\n{}{}{}",
      state, kBegin, Sentence(EscapeMarkdown(std::string(why), kMaxWhy)), kEnd, figures, kFoldEnd, rest);
}

std::string OutdatedTitle(std::string_view title) {
  const size_t colon = title.find("): ");
  if (!title.starts_with("perf(") || colon == std::string_view::npos || title.find(" faster") == std::string_view::npos)
    return std::string(title);
  return fmt::format("{}): out of date", title.substr(0, colon));
}

}  // namespace warpwright::report
