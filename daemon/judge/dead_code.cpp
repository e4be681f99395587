#include "judge/dead_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/lines.h"

namespace warpwright::judge {
namespace {

constexpr size_t kQuoted = 80;  // bytes of a line in a message
constexpr std::string_view kUpdates[] = {" += ", " -= ", " *= ", "] = "};

std::vector<std::string_view> TrimmedLines(std::string_view text) {
  std::vector<std::string_view> lines = base::LinesOf(text);
  for (std::string_view& line : lines) line = base::Trimmed(line);
  return lines;
}

// "sum += x[k];" of "for (int k = 0; k < n; k++) sum += x[k];": what a line does under the conditions before it.
std::string_view WithoutHeads(std::string_view line) {
  const auto skip_blanks = [&] { line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t"))); };
  while (true) {
    const std::string_view whole = line;
    for (const std::string_view word : {"}", "else", "for", "while", "if"})
      if (line.starts_with(word) && line.size() > word.size() &&
          (word == "}" || std::string_view(" (").find(line[word.size()]) != std::string_view::npos)) {
        line.remove_prefix(word.size());
        break;
      }
    skip_blanks();
    if (line.starts_with('(') && line.size() < whole.size()) {
      int depth = 0;
      size_t end = 0;
      while (end < line.size() && (depth += line[end] == '(' ? 1 : line[end] == ')' ? -1 : 0) > 0) ++end;
      line.remove_prefix(std::min(line.size(), end + 1));
      skip_blanks();
    }
    if (line.size() == whole.size()) return line;
  }
}

bool IsUpdate(std::string_view line) {
  const std::string_view work = WithoutHeads(line);
  return std::any_of(std::begin(kUpdates), std::end(kUpdates),
                     [&](std::string_view assignment) { return work.find(assignment) != std::string_view::npos; });
}

}  // namespace

AddedCode::AddedCode(std::string_view original, std::string_view candidate, std::string file) : file_(std::move(file)) {
  std::multiset<std::string_view> left;
  std::set<std::string_view> works;  // of the original
  for (const std::string_view line : TrimmedLines(original)) {
    left.insert(line);
    works.insert(WithoutHeads(line));
  }
  int number = 0;
  for (const std::string_view line : TrimmedLines(candidate)) {
    ++number;
    if (const auto same = left.find(line); same != left.end()) left.erase(same);
    else if (!line.empty() && !line.starts_with("//"))
      lines_[number] = {
          .text = std::string(line), .old_work = works.contains(WithoutHeads(line)), .updates = IsUpdate(line)};
  }
}

void AddedCode::Saw(const std::vector<core::LineUse>& uses, Sizes sizes) {
  known_ = known_ || !uses.empty();
  for (const core::LineUse& use : uses) {
    const auto found = use.file == file_ ? lines_.find(use.line) : lines_.end();
    if (found == lines_.end()) continue;
    Line& line = found->second;
    line.has_code = true;
    line.memory = line.memory || use.memory;
    bool& runs = sizes == Sizes::kOfCountedCase ? line.in_counted_case : line.with_other_sizes;
    runs = runs || use.threads > 0;
  }
}

bool AddedCode::complete() const {
  return std::all_of(lines_.begin(), lines_.end(), [](const auto& item) {
    const Line& line = item.second;
    return !line.has_code || line.in_counted_case || line.with_other_sizes;
  });
}

std::optional<core::Refused> AddedCode::Judge() const {
  const auto refuse = [&](int number, const Line& line, std::string_view why) {
    return core::Refused{core::Check::kDeadCode,
                         fmt::format("the added line {} \"{}\" {}", number, line.text.substr(0, kQuoted), why), file_,
                         number};
  };
  bool works = false;  // in a case that counts
  for (const auto& [number, line] : lines_)
    works = works || (line.in_counted_case && (line.memory || line.updates) && !line.old_work);
  for (const auto& [number, line] : lines_) {
    if (!line.has_code || line.in_counted_case) continue;
    if (!line.with_other_sizes) return refuse(number, line, "never runs: not in any case, and not with other sizes");
    if (line.memory && !works)
      return refuse(number, line,
                    "runs only with sizes that no case has; in the cases, nothing that was added accesses memory, so "
                    "that the change does nothing there");
  }
  return std::nullopt;
}

}  // namespace warpwright::judge
