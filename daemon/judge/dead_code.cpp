#include "judge/dead_code.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpwright::judge {
namespace {

constexpr size_t kQuoted = 80;  // bytes of a line in a message

}  // namespace

AddedCode::AddedCode(std::vector<core::AddedLine> lines, std::string file) : file_(std::move(file)) {
  for (core::AddedLine& line : lines) {
    const int number = line.number;
    lines_.emplace(number, Line{.added = std::move(line)});
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

std::map<int, AddedCode::Line> AddedCode::Inferred() const {
  std::map<int, Line> lines = lines_;
  for (auto item = lines.rbegin(); item != lines.rend(); ++item) {
    Line& line = item->second;
    if (line.memory) continue;
    for (auto next = lines.upper_bound(item->first); next != lines.end() && next->first <= line.added.reached_through;
         ++next) {
      line.in_counted_case |= next->second.has_code && next->second.in_counted_case;
      line.with_other_sizes |= next->second.has_code && next->second.with_other_sizes;
    }
  }
  return lines;
}

std::set<int> AddedCode::OfNothing(const std::map<int, Line>& lines) {
  std::set<int> idle;  // nothing comes of them there
  for (const auto& [number, line] : lines)
    if (line.has_code && !line.in_counted_case) idle.insert(number);
  std::set<int> of_nothing;
  const auto gives_nothing = [&](const std::vector<int>& givers) {
    return std::all_of(givers.begin(), givers.end(),
                       [&](int giver) { return idle.contains(giver) || of_nothing.contains(giver); });
  };
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& [number, line] : lines)
      if (!of_nothing.contains(number) &&
          std::any_of(line.added.sources.begin(), line.added.sources.end(), gives_nothing))
        grew = of_nothing.insert(number).second;
  }
  return of_nothing;
}

bool AddedCode::complete() const {
  const std::map<int, Line> lines = Inferred();
  return std::all_of(lines.begin(), lines.end(), [](const auto& item) {
    const Line& line = item.second;
    return !line.has_code || line.in_counted_case || line.with_other_sizes;
  });
}

std::optional<core::Refused> AddedCode::Judge() const {
  const auto refuse = [&](int number, const Line& line, std::string_view why) {
    return core::Refused{core::Check::kDeadCode,
                         fmt::format("the added line {} \"{}\" {}", number, line.added.text.substr(0, kQuoted), why),
                         file_, number};
  };
  const std::map<int, Line> lines = Inferred();
  const std::set<int> of_nothing = OfNothing(lines);
  bool works = false;  // in a case that counts
  for (const auto& [number, line] : lines)
    works = works || (line.in_counted_case && (line.memory || line.added.updates) && !line.added.old_work &&
                      !of_nothing.contains(number));
  for (const auto& [number, line] : lines) {
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
