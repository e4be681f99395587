// Text of kernels and launchers: lines with indentation, names that are free, heads and launches.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "schedule/problem.h"

namespace warpwright::schedule {

class Lines {
 public:
  explicit Lines(int level = 0) : level_(level) {}
  void Add(std::string_view line);            // also several
  void AddAll(std::string_view lines);        // lines that end with a line break
  void Open(std::string_view head);           // "head {"; of nothing "{"
  void Else(std::string_view head = "else");  // "} else {"
  void Close(std::string_view tail = "");     // "}" and the tail
  void Append(const Lines& other);
  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }
  int level() const { return level_; }

 private:
  void AddPlain(std::string_view line);

  std::string text_;
  int level_ = 0;
};

// Local names of one kernel: the entry's parameters are taken.
class Names {
 public:
  explicit Names(const Problem& problem);
  // The first of these that is free, or the last with a number.
  std::string TakeOf(const std::vector<std::string>& wishes);
  std::string Take(const std::string& wish) { return TakeOf({wish}); }
  void Release(const std::string& name) { taken_.erase(name); }

 private:
  std::set<std::string> taken_;
};

// What a kernel takes of the entry's arguments, in their order: the tensors that its stages read and write, the scalars
// and sizes that they name, and those that `more` names.
struct KernelArguments {
  std::vector<std::string> parameters;  // "const float* __restrict__ x"
  std::vector<std::string> values;      // as the launcher passes them
};
KernelArguments ArgumentsOf(const Problem& problem, const Group& group, const std::set<std::string>& more = {});

// "template <...>\n__global__ void __launch_bounds__(256) name(a, b) {", broken into lines that are not too long.
std::string Head(const std::string& before, const std::string& name, const std::vector<std::string>& parameters);
// "name<<<grid, block, 0, stream>>>(a, b);"
std::string Launch(const Problem& problem, const std::string& name, const std::string& grid, const std::string& block,
                   const std::vector<std::string>& values, const std::string& shared_bytes = "0");
// "gelu_forward_elements", "addVektorElements": what a kernel of this entry is called.
std::string KernelName(const Problem& problem, const std::string& role);
// What the group's outputs are, as comment lines, in which intermediates have the names of the variables that hold
// them, by stage. An intermediate that one output merely copies stands in that output's line.
std::string FormulaComment(const Problem& problem, const Group& group,
                           const std::map<std::string, std::string>& variables = {});
// "(n + 255) / 256" with the parts in parentheses where they need them.
std::string CeilDivided(const std::string& size, const std::string& by);
bool HasWord(const std::string& text, const std::string& word);
std::string WithWord(std::string text, const std::string& word, const std::string& other);  // in its place
// Whether the text is a sum or the like, which needs parentheses beside an operator.
std::string Parenthesized(const std::string& text);

}  // namespace warpwright::schedule
