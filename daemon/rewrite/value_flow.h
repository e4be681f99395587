// Which lines give a local variable its value, for the judge's check of dead code: a line that adds up what nothing
// ever put there does no work. Read from tokens, not parsed: what may give a value in a way that is not understood (a
// call that has the variable or its address) counts as a line that gives one.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "source/tokens.h"

namespace warpwright::rewrite {

class ValueFlow {
 public:
  explicit ValueFlow(std::string_view text);  // which outlives it

  // For each local variable whose value line `number` (from 1) puts elsewhere, the lines that may give it one, in
  // order. Constants are none: what a variable begins with.
  std::vector<std::vector<int>> SourcesOf(int number) const;
  // "float part[4] = {};"
  bool PutsConstants(int number) const;

 private:
  using Tokens = std::span<const source::Token>;
  struct Function {
    std::set<std::string_view> declared;
    std::map<std::string_view, std::set<int>> givers;
    std::map<int, std::set<std::string_view>> taken;  // by line
    std::set<int> constants;                          // lines that put one
  };
  static size_t ReadStatement(Tokens tokens, Function& function);
  static void ReadHead(Tokens head, Function& function);
  static void ReadList(Tokens tokens, Function& function);
  static bool ReadPart(Tokens part, bool declares, Function& function);
  static void ReadCalls(Tokens part, Function& function);
  std::vector<Function> functions_;
};

}  // namespace warpwright::rewrite
