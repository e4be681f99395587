// A list of variables as one index of a tile, and their names in the kernel.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "schedule/contraction.h"
#include "schedule/kernel_text.h"

namespace warpwright::schedule {

using VariableTexts = std::map<core::VariableId, std::string>;

// After the extent where that is one letter ("m" of M), else as the formula has them: "i0", "r0".
VariableTexts NamesOfVariables(const core::Stage& stage, const std::vector<Axis>& sum, Names& names);
// The names of the stage's results, with others for this sum's.
VariableTexts WithSum(VariableTexts variables, const std::vector<Axis>& sum, Names& names);

// A statement, continued on further lines where it gets too long.
void AddBroken(Lines& lines, const std::string& statement);

// "reinterpret_cast<size_t>(A) % 16 == 0"
std::string AlignedAddress(const std::string& buffer, int bytes);
class FlatAxis {
 public:
  // `index`, `count`: what the flattened index and its extent are called; of a single variable its own.
  FlatAxis(std::vector<Axis> axes, const VariableTexts& variables, Names& names, const std::string& index,
           const std::string& count);

  bool empty() const { return axes_.empty(); }
  bool single() const { return axes_.size() == 1; }
  const std::vector<Axis>& axes() const { return axes_; }
  const std::string& index() const { return index_; }
  const std::string& count() const { return count_; }  // "1" of none
  std::string extent() const;                          // of all together, of the entry's own names
  // Constants for the extents that are expressions, and for their product.
  void DeclareExtents(Lines& lines) const;
  // Declares the variables, their names with the prefix, from a flattened index; of a single one where it is not it.
  void Decode(Lines& lines, const std::string& flat, const std::string& prefix = "") const;
  // Sets the variables in an array's element: name[i].
  void DecodeInto(Lines& lines, const std::string& flat, const std::string& prefix, const std::string& element) const;
  // Adds the variables' texts: prefix, name, suffix.
  void Bind(VariableTexts& variables, const std::string& prefix = "", const std::string& suffix = "") const;

 private:
  std::vector<std::pair<std::string, std::string>> Parts(const std::string& flat) const;  // name, text

  std::vector<Axis> axes_;
  std::vector<std::string> names_, extents_;
  std::string index_, count_;
};

}  // namespace warpwright::schedule
