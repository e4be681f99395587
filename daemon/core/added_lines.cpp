#include "core/added_lines.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace warpwright::core {
namespace {

// The first word of `note`, which loses it with the space behind.
std::optional<int> TakeNumber(std::string_view& note) {
  int number = 0;
  const auto [end, error] = std::from_chars(note.data(), note.data() + note.size(), number);
  const auto length = static_cast<size_t>(end - note.data());
  if (error != std::errc() || number < 0 || length == note.size() || note[length] != ' ') return std::nullopt;
  note.remove_prefix(length + 1);
  return number;
}

}  // namespace

std::string EncodeAddedLine(const AddedLine& line) {
  return fmt::format("{} {:d} {:d} {} {}", line.number, line.old_work, line.updates, line.reached_through, line.text);
}

Result<std::vector<AddedLine>> DecodeAddedLines(const Rewritten& rewritten) {
  std::vector<AddedLine> lines;
  for (std::string_view note : rewritten.notes) {
    const auto number = TakeNumber(note), old_work = TakeNumber(note), updates = TakeNumber(note),
               reached_through = TakeNumber(note);
    if (!number || !old_work || !updates || !reached_through || *number == 0)
      return Fail(ErrorCode::kCorrupt, "an added line does not decode");
    lines.push_back({.number = *number,
                     .old_work = *old_work != 0,
                     .updates = *updates != 0,
                     .reached_through = *reached_through,
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
