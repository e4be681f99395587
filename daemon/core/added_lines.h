// The lines that a candidate's text adds to the original's: a derived text (core/source_requests.h), since only the
// worker reads what a candidate wrote. The request is of the original; its parameter "candidate" is the other text.
//
// A line is added if the original has no equal one left, wherever it stands: moving code adds nothing. Comments and
// empty lines are left out. Rewritten::notes have a line of words for each,
//   12 1 0 15 9,10;11 TEXT    its number, whether its work is old, whether it updates, through which line it is passed,
//                             where its values come from ("-": from elsewhere, too); TEXT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/evaluator.h"

namespace warpwright::core {

inline constexpr std::string_view kAddedLines = "added_lines";
inline constexpr const char* kAddedLinesOf = "candidate";  // the parameter

struct AddedLine {
  int number = 0;           // in the candidate, from 1
  bool old_work = false;    // only the loop or the condition in front of it is new, or what variables are called
  bool updates = false;     // "part[u] += v * v;": the load before it may read as the old one
  int reached_through = 0;  // the last of the lines behind it to which no other way leads; 0: none
  // Of each local variable that it puts elsewhere and that added lines alone give a value: these lines.
  std::vector<std::vector<int>> sources;
  std::string text;
  bool operator==(const AddedLine&) const = default;
};

std::string EncodeAddedLine(const AddedLine& line);
// kCorrupt: not what the header of this file says.
Result<std::vector<AddedLine>> DecodeAddedLines(const Rewritten& rewritten);
Result<std::vector<AddedLine>> ReadAddedLines(Evaluator& evaluator, const SourceRef& original,
                                              const std::string& candidate);

}  // namespace warpwright::core
