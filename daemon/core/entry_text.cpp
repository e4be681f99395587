#include "core/entry_text.h"

#include <charconv>

namespace warpwright::core {
namespace {

// The last word of `line`, which loses it with the space before.
std::string_view TakeLastWord(std::string_view& line) {
  const size_t space = line.rfind(' ');
  const std::string_view word = space == std::string_view::npos ? line : line.substr(space + 1);
  line = space == std::string_view::npos ? std::string_view() : line.substr(0, space);
  return word;
}

int LineNumber(std::string_view word) {
  int line = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), line);
  return error == std::errc() && end == word.data() + word.size() && line > 0 ? line : 0;
}

}  // namespace

Result<EntryText> DecodeEntryText(const Rewritten& rewritten) {
  EntryText entry{.text = rewritten.text, .slice_hash = {}, .headers = {}, .functions = {}};
  constexpr std::string_view kSlice = "slice ", kHeader = "header ", kFunction = "function ";
  for (const std::string_view note : rewritten.notes) {
    if (note.starts_with(kSlice)) {
      entry.slice_hash = note.substr(kSlice.size());
    } else if (note.starts_with(kHeader)) {
      entry.headers.emplace_back(note.substr(kHeader.size()));
    } else if (std::string_view rest = note; note.starts_with(kFunction)) {
      FunctionLines function;
      function.last = LineNumber(TakeLastWord(rest));
      function.first = LineNumber(TakeLastWord(rest));
      if (function.first == 0 || function.last < function.first || rest.size() <= kFunction.size())
        return Fail(ErrorCode::kCorrupt, "the lines of a function do not decode");
      function.name = rest.substr(kFunction.size());
      entry.functions.push_back(std::move(function));
    } else {
      return Fail(ErrorCode::kCorrupt, "an entry's text does not decode");
    }
  }
  return entry;
}

Result<EntryText> ReadEntryText(Evaluator& evaluator, const SourceRef& source, const std::string& entry,
                                const std::string& file) {
  RewriteRequest request{
      .source = source, .entry = entry, .kernel = {}, .transform = std::string(kEntryText), .parameters = {}};
  if (!file.empty()) request.parameters[kEntryTextFile] = file;
  WW_ASSIGN(const RewriteOutcome outcome, evaluator.Rewrite(request));
  if (const auto* refusal = std::get_if<RewriteRefusal>(&outcome))
    return Fail(ErrorCode::kUnsupported, "the text of " + entry + ": " + refusal->reason);
  return DecodeEntryText(std::get<Rewritten>(outcome));
}

}  // namespace warpwright::core
