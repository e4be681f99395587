// dead-code: what a candidate adds must run where its gain was found.
//
// - Every added line for which the compiler made instructions runs in some run of the evaluation. A line that only runs
//   with other sizes (a remainder, a path for sizes that are no multiple) is fine if an odd shape runs it.
// - But then the added code must do the work in the cases that count as well: if added lines access memory with other
//   sizes only, other added lines must access memory, or update a sum, in a case whose time counts. Otherwise what is
//   left of the change there is bookkeeping around the old code: a loop in steps of four where a case has three. What
//   adds up variables that no line gave a value there is bookkeeping too ("sum += part[u];" behind that loop).
// - Of a loop that the compiler takes apart, a line's instructions may be left in a part that no trip reaches. A plain
//   statement that accesses no memory runs where a later one of its block does, to which no other way leads.
//
// Which lines are added the worker tells (core/added_lines.h). Where only the loop in front of a statement is new ("for
// (; k < n; k++) sum += x[k];"), the statement's work is the old one. The simulator tells which lines have instructions
// and ran; a candidate for a GPU is simulated for it. Private to judge/.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/added_lines.h"
#include "core/counters.h"
#include "core/verdict.h"

namespace warpwright::judge {

class AddedCode {
 public:
  AddedCode(std::vector<core::AddedLine> lines, std::string file);

  enum class Sizes { kOfCountedCase, kOther };
  void Saw(const std::vector<core::LineUse>& uses, Sizes sizes);

  bool any() const { return !lines_.empty(); }  // that is more than a comment
  bool known() const { return known_; }         // at least one run told its lines
  bool complete() const;                        // no added line is known that did not run
  std::optional<core::Refused> Judge() const;

 private:
  struct Line {
    core::AddedLine added;
    bool in_counted_case = false, with_other_sizes = false, memory = false, has_code = false;
  };
  // With what is known of statements behind them.
  std::map<int, Line> Inferred() const;
  // The lines that put a variable elsewhere that, in the cases that count, no line gave a value.
  static std::set<int> OfNothing(const std::map<int, Line>& lines);
  std::string file_;
  std::map<int, Line> lines_;  // that were added
  bool known_ = false;
};

}  // namespace warpwright::judge
