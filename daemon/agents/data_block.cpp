#include "agents/data_block.h"

#include <fmt/format.h>

#include <vector>

#include "base/lines.h"
#include "base/utf8.h"

namespace warpwright::agents {
namespace {

constexpr size_t kMaxLineBytes = 4'000;
constexpr size_t kWidth = 200;  // of barred lines: what is longer goes on in the next one

// Nothing hidden, nothing that a terminal or a reader takes for a line's end.
std::string Line(std::string_view line) {
  const size_t end = line.find_last_not_of(" \t\r");
  if (end == std::string_view::npos) return {};
  std::string tabs_kept;
  for (const char c : line.substr(0, end + 1)) {
    if (c == '\t') tabs_kept += "    ";
    else tabs_kept += c;
  }
  return base::CleanText(tabs_kept, kMaxLineBytes);
}

// The lines of `line`, cut where a word ends if one does.
std::string Barred(std::string_view raw) {
  const std::string line = Line(raw);
  std::string_view rest = line;
  std::string out;
  while (rest.size() > kWidth) {
    std::string_view part = rest.substr(0, rest.rfind(' ', kWidth));
    if (part.size() > kWidth || part.find_first_not_of(' ') == std::string_view::npos)
      part = base::CutAtCharacter(rest, kWidth);
    out += fmt::format("| {}\n", part);
    rest.remove_prefix(part.size());
    if (rest.starts_with(' ')) rest.remove_prefix(1);
  }
  return out + fmt::format("| {}\n", rest);
}

}  // namespace

std::string NumberedLines(std::string_view text) {
  std::string out;
  size_t number = 0, empty = 0;
  for (const std::string_view raw : base::LinesOf(text)) {
    ++number;
    const std::string line = Line(raw);
    if (line.empty()) {
      ++empty;
      continue;
    }
    if (empty > 1) out += "   ...\n";
    else if (empty == 1 && number > 2) out += fmt::format("{:4}|\n", number - 1);
    empty = 0;
    out += fmt::format("{:4}| {}\n", number, line);
  }
  return out;
}

std::string BarredLines(std::string_view text, size_t max_bytes) {
  const std::vector<std::string_view> lines = base::LinesOf(text);
  std::string begin;
  size_t first = 0;
  for (; first < lines.size() && begin.size() < max_bytes / 2; ++first) begin += Barred(lines[first]);
  std::vector<std::string> back;
  size_t bytes = 0, last = lines.size();
  while (last > first && bytes < max_bytes / 2) {
    back.push_back(Barred(lines[--last]));
    bytes += back.back().size();
  }
  std::string out = begin;
  if (last > first) out += fmt::format("  ({} lines are left out)\n", last - first);
  for (auto line = back.rbegin(); line != back.rend(); ++line) out += *line;
  return out;
}

std::string Quoted(std::string_view text, size_t limit) {
  std::string out = "\"";
  for (const char c : base::Clip(base::CleanText(text, 4 * limit), limit)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace warpwright::agents
