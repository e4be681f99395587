#include "report/body_state.h"

#include <fmt/format.h>

#include "report/markdown.h"

namespace warpwright::report {
namespace {

constexpr std::string_view kOpening = "<!-- warpwright:v1 ", kClosing = " -->",
                           kControls = kControlsBegin.substr(kControlsBegin.find('<'));
constexpr std::string_view kRetry = "<!-- warpwright:retry -->", kIgnore = "<!-- warpwright:ignore -->";
constexpr size_t kMaxValue = 200, kMaxStateLine = 4096;

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '/' || c == ':';
}

std::string Encode(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kMaxValue))
    out += IsPlain(c) ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return out;
}

int Digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; }

std::optional<std::string> DecodeValue(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (IsPlain(text[i])) {
      out += text[i];
      continue;
    }
    if (text[i] != '%' || i + 2 >= text.size() || Digit(text[i + 1]) < 0 || Digit(text[i + 2]) < 0) return std::nullopt;
    out += static_cast<char>(Digit(text[i + 1]) * 16 + Digit(text[i + 2]));
    i += 2;
  }
  return out;
}

// "- [x] <!-- marker -->": GitHub writes x, users also X and other bullets.
bool IsTicked(std::string_view line, std::string_view marker) {
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  if (line.size() < 6 || std::string_view("-*+").find(line[0]) == std::string_view::npos) return false;
  return (line.substr(1, 5) == " [x] " || line.substr(1, 5) == " [X] ") && line.substr(6).starts_with(marker);
}

}  // namespace

std::string StateLine(const BodyState& state) {
  return fmt::format("{}kernel={} base={} candidate={} run={}{}\n", kOpening, Encode(state.kernel),
                     Encode(state.base_commit), Encode(state.candidate), Encode(state.run_id), kClosing);
}

std::string Controls(const Explanation& e, const BodyState& state) {
  const auto box = [](bool ticked) { return ticked ? "[x]" : "[ ]"; };
  std::string out = fmt::format("{}\n\n", kControlsBegin);
  out += fmt::format("- {} {}**Try again**, from the newest base\n", box(state.retry), kRetry);
  out += fmt::format("- {} {}**Ignore** {} until its code changes\n\n", box(state.ignore), kIgnore, CodeSpan(e.kernel));
  out +=
      "Comments for people with write access: `/warpwright retry`, `/warpwright explain`, `/warpwright ignore`, "
      "`/warpwright stop`. Closing this means \"not wanted until the "
      "kernel changes\". Push your own commit to the branch, and warpwright no longer touches it.\n";
  return out;
}

std::optional<BodyState> ParseBody(std::string_view body) {
  if (!body.starts_with(kOpening)) return std::nullopt;
  const std::string_view line = body.substr(0, std::min(body.find('\n'), kMaxStateLine));
  const size_t end = line.find(kClosing);
  if (end == std::string_view::npos || end < kOpening.size()) return std::nullopt;
  BodyState state;
  std::string_view fields = line.substr(kOpening.size(), end - kOpening.size());
  while (!fields.empty()) {
    const std::string_view field = fields.substr(0, fields.find(' '));
    fields.remove_prefix(std::min(fields.size(), field.size() + 1));
    const size_t equals = field.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view name = field.substr(0, equals);
    auto value = DecodeValue(field.substr(equals + 1));
    if (!value) return std::nullopt;
    if (name == "kernel") state.kernel = std::move(*value);
    else if (name == "base") state.base_commit = std::move(*value);
    else if (name == "candidate") state.candidate = std::move(*value);
    else if (name == "run") state.run_id = std::move(*value);  // unknown names are from a later version
  }
  if (state.kernel.empty()) return std::nullopt;
  // Only below the last marker: no log or name above it can tick a box.
  const size_t controls = body.rfind(kControls);
  std::string_view rest = controls == std::string_view::npos ? std::string_view() : body.substr(controls);
  while (!rest.empty()) {
    const std::string_view control = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), control.size() + 1));
    state.retry = state.retry || IsTicked(control, kRetry);
    state.ignore = state.ignore || IsTicked(control, kIgnore);
  }
  return state;
}

}  // namespace warpwright::report
