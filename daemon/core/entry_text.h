// What of a source belongs to an entry, to be shown to whoever changes it: a derived text (core/source_requests.h).
// With the parameter "file", of a header of the repository.
//
// Rewritten::text is the file with spaces for every declaration that the entry does not reach: lines keep their
// numbers. Rewritten::notes say, each in a line of words,
//   slice HASH             of everything that the entry reaches, by tokens; equal texts are equal to the compilers
//   header PATH            of the repository, from which the entry uses something
//   function NAME 12 40    a definition in this file, with its first and last line
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/evaluator.h"

namespace warpwright::core {

inline constexpr std::string_view kEntryText = "entry_text";
inline constexpr const char* kEntryTextFile = "file";  // the parameter

struct FunctionLines {
  std::string name;  // qualified
  int first = 0, last = 0;
};
struct EntryText {
  std::string text;
  std::string slice_hash;
  std::vector<std::string> headers;
  std::vector<FunctionLines> functions;
};
// kCorrupt: not what the header of this file says.
Result<EntryText> DecodeEntryText(const Rewritten& rewritten);
// `file`: empty for the source's own. A refusal is an Error, kUnsupported: the entry was judged, so it can be read.
Result<EntryText> ReadEntryText(Evaluator& evaluator, const SourceRef& source, const std::string& entry,
                                const std::string& file = {});

}  // namespace warpwright::core
