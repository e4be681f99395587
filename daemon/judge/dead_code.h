// dead-code: what a candidate adds must run where its gain was found.
//
// - Every added line for which the compiler made instructions runs in some run of the evaluation. A line that only runs
//   with other sizes (a remainder, a path for sizes that are no multiple) is fine if an odd shape runs it.
// - But then the added code must do the work in the cases that count as well: if added lines access memory with other
//   sizes only, other added lines must access memory, or update a sum, in a case whose time counts. Otherwise what is
//   left of the change there is bookkeeping around the old code: a loop in steps of four where a case has three.
// - Of a loop that the compiler takes apart, a line's instructions may be left in a part that no trip reaches. A plain
//   statement that accesses no memory runs where a later one of its block does, to which no other way leads.
//
// Lines are added if the original has no equal one left, wherever it stands: moving code adds nothing. Where only the
// loop in front of a statement is new ("for (; k < n; k++) sum += x[k];"), the statement's work is the old one. The
// simulator tells which lines have instructions and ran; a candidate for a GPU is simulated for it. Private to judge/.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/counters.h"
#include "core/verdict.h"

namespace warpwright::judge {

class AddedCode {
 public:
  AddedCode(std::string_view original, std::string_view candidate, std::string file);

  enum class Sizes { kOfCountedCase, kOther };
  void Saw(const std::vector<core::LineUse>& uses, Sizes sizes);

  bool any() const { return !lines_.empty(); }  // that is more than a comment
  bool known() const { return known_; }         // at least one run told its lines
  bool complete() const;                        // no added line is known that did not run
  std::optional<core::Refused> Judge() const;

 private:
  struct Line {
    std::string text;
    bool old_work = false;    // only the loop or the condition in front of it is new
    bool updates = false;     // "part[u] += v * v;": the load before it may read as the old one
    int reached_through = 0;  // the last of the lines behind it to which no other way leads; 0: none
    bool in_counted_case = false, with_other_sizes = false, memory = false, has_code = false;
  };
  // With what is known of statements behind them.
  std::map<int, Line> Inferred() const;
  const std::string file_;
  std::map<int, Line> lines_;  // that were added
  bool known_ = false;
};

}  // namespace warpwright::judge
