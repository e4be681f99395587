#include "agents/prompt.h"

#include <fmt/format.h>

#include <set>

namespace warpwright::agents {
namespace embedded {
const std::map<std::string_view, std::string_view>& PromptFiles();
}

namespace {

tl::unexpected<Error> Wrong(const std::string& message) { return Fail(ErrorCode::kCorrupt, "prompt: " + message); }

Result<std::string> Fill(std::string_view text, const PromptValues& values, std::set<std::string, std::less<>>& used) {
  std::string filled;
  for (size_t at = 0;;) {
    const size_t open = text.find("{{", at);
    filled += text.substr(at, open - at);
    if (open == std::string_view::npos) return filled;
    const size_t close = text.find("}}", open);
    if (close == std::string_view::npos) return Wrong("a key that does not end");
    const std::string_view key = text.substr(open + 2, close - open - 2);
    const auto value = values.find(key);
    if (value == values.end()) return Wrong(fmt::format("nothing is known of {{{{{}}}}}", key));
    used.emplace(key);
    filled += value->second;
    at = close + 2;
  }
}

void Trim(std::string& text) {
  text.erase(0, text.find_first_not_of('\n'));
  text.erase(text.find_last_not_of(" \n") + 1);
  text += '\n';
}

}  // namespace

Result<Prompt> FillPrompt(std::string_view text, const PromptValues& values) {
  constexpr std::string_view kOpen = "<!-- ", kClose = " -->\n";
  Prompt prompt;
  std::set<std::string, std::less<>> used;
  size_t at = text.find(kOpen);
  if (at != 0) return Wrong("it does not begin with a part");
  while (at != std::string_view::npos) {
    const size_t head = at + kOpen.size(), head_end = text.find(kClose, head);
    if (head_end == std::string_view::npos) return Wrong("a part whose first line does not end");
    const std::string_view kind = text.substr(head, head_end - head);
    const size_t body = head_end + kClose.size(), next = text.find(std::string("\n") + std::string(kOpen), body);
    const size_t end = next == std::string_view::npos ? text.size() : next + 1;
    const bool system = kind.starts_with("system");
    if (!system && !kind.starts_with("user")) return Wrong(fmt::format("a part of nobody: '{}'", kind));
    const std::string_view mark = kind.substr(system ? 6 : 4);
    if (!mark.empty() && mark != ", kept") return Wrong(fmt::format("an unknown mark: '{}'", kind));
    WW_ASSIGN(std::string filled, Fill(text.substr(body, end - body), values, used));
    Trim(filled);
    (system ? prompt.system : prompt.user).push_back({std::move(filled), !mark.empty()});
    at = next == std::string_view::npos ? next : next + 1;
  }
  for (const auto& [key, value] : values)
    if (used.count(key) == 0) return Wrong("nothing asks for " + key);
  return prompt;
}

Result<Prompt> MakePrompt(std::string_view name, const PromptValues& values) {
  const auto& files = embedded::PromptFiles();
  const auto rules = files.find("rules.md");
  const auto file = files.find(std::string(name) + ".md");
  if (file == files.end() || rules == files.end()) return Wrong(fmt::format("there is no {}.md", name));
  PromptValues all = values;
  all["rules"] = rules->second;
  return FillPrompt(file->second, all);
}

}  // namespace warpwright::agents
