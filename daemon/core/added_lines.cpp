#include "core/added_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <optional>
#include <utility>

namespace warpwright::core {
namespace {

// The number that `note` begins with, which loses it with the character behind, one of `ends`.
std::optional<int> TakeNumber(std::string_view& note, char* end = nullptr, std::string_view ends = " ") {
  int number = 0;
  const auto [last, error] = std::from_chars(note.data(), note.data() + note.size(), number);
  const auto length = static_cast<size_t>(last - note.data());
  if (error != std::errc() || number < 0 || length == note.size() || ends.find(note[length]) == std::string_view::npos)
    return std::nullopt;
  if (end != nullptr) *end = note[length];
  note.remove_prefix(length + 1);
  return number;
}

// "9,10;11 " or "- ".
std::optional<std::vector<std::vector<int>>> TakeSources(std::string_view& note) {
  if (note.starts_with("- ")) {
    note.remove_prefix(2);
    return std::vector<std::vector<int>>();
  }
  std::vector<std::vector<int>> sources(1);
  for (char end = ','; end != ' ';) {
    const auto number = TakeNumber(note, &end, ",; ");
    if (!number || *number == 0) return std::nullopt;
    sources.back().push_back(*number);
    if (end == ';') sources.emplace_back();
  }
  return sources;
}

std::string EncodeSources(const std::vector<std::vector<int>>& sources) {
  std::vector<std::string> groups;
  for (const std::vector<int>& lines : sources) groups.push_back(fmt::format("{}", fmt::join(lines, ",")));
  return groups.empty() ? "-" : fmt::format("{}", fmt::join(groups, ";"));
}

}  // namespace

std::string EncodeAddedLine(const AddedLine& line) {
  return fmt::format("{} {:d} {:d} {} {} {}", line.number, line.old_work, line.updates, line.reached_through,
                     EncodeSources(line.sources), line.text);
}

Result<std::vector<AddedLine>> DecodeAddedLines(const Rewritten& rewritten) {
  std::vector<AddedLine> lines;
  for (std::string_view note : rewritten.notes) {
    const auto number = TakeNumber(note), old_work = TakeNumber(note), updates = TakeNumber(note),
               reached_through = TakeNumber(note);
    auto sources = reached_through ? TakeSources(note) : std::nullopt;
    if (!number || !old_work || !updates || !sources || *number == 0)
      return Fail(ErrorCode::kCorrupt, "an added line does not decode");
    lines.push_back({.number = *number,
                     .old_work = *old_work != 0,
                     .updates = *updates != 0,
                     .reached_through = *reached_through,
                     .sources = std::move(*sources),
                     .text = std::string(note)});
  }
  return lines;
}

Result<std::vector<AddedLine>> ReadAddedLines(Evaluator& evaluator, const SourceRef& original,
                                              const std::string& candidate) {
  WW_ASSIGN(const RewriteOutcome outcome, evaluator.Rewrite({.source = original,
                                                             .entry = {},
                                                             .kernel = {},
                                                             .transform = std::string(kAddedLines),
                                                             .parameters = {{kAddedLinesOf, candidate}},
                                                             .scheduling = {}}));
  if (const auto* refusal = std::get_if<RewriteRefusal>(&outcome))
    return Fail(ErrorCode::kUnsupported, "the added lines: " + refusal->reason);
  return DecodeAddedLines(std::get<Rewritten>(outcome));
}

}  // namespace warpwright::core
