// The index space of outputs as few dimensions: variables that every access walks as one become one.
#pragma once

#include <string>
#include <vector>

#include "schedule/kernel_text.h"
#include "schedule/problem.h"

namespace warpwright::schedule {

struct Dimension {
  std::vector<core::VariableId> variables;  // the last one moves fastest, and stands for all of them in offsets
  core::Size extent;
  std::string name;  // of its index in the kernel
};

// An argument's elements that stages read or write, by flat offset over the index variables; none: a gather, a
// remainder, a window.
struct Access {
  std::string tensor;
  core::DType dtype = core::DType::kF32;
  bool store = false;
  std::optional<FlatOffset> offset;
};
std::vector<Access> AccessesOf(const Problem& problem, const core::Stage& stage);

// The variables of stages with equal extents, merged where all accesses allow it. `apart`: variables that something
// else uses by themselves.
std::vector<Dimension> DimensionsOf(const std::vector<core::Size>& extents, const std::vector<Access>& accesses,
                                    core::VariableSet apart);
// Variables that positions other than plain accesses use: index values, guards, gathers, windows.
core::VariableSet UsedApart(const Problem& problem, const core::Stage& stage);
// Gives every dimension a name after its extent ("N": n, "rows": row), or a usual one.
void NameDimensions(std::vector<Dimension>& dimensions, Names& names);
// Names of all variables of dimensions with one variable, and of the last of each other one.
std::map<core::VariableId, std::string> VariableNames(const std::vector<Dimension>& dimensions);

// Whether the access walks the dimensions densely: its offset is the flat index.
bool IsDense(const Access& access, const std::vector<Dimension>& dimensions);
// Neighbours along the last dimension are neighbours in memory.
bool IsContiguous(const Access& access, const Dimension& last);
// What must divide by `width` so that every access of `width` neighbours is aligned, beside the last extent; none: it
// never is.
std::optional<std::vector<std::string>> Divisible(const Access& access, const std::vector<Dimension>& dimensions,
                                                  int width);

}  // namespace warpwright::schedule
