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
Access AccessOf(const core::TensorArgument& tensor, const core::TensorRead& read);
// The same element.
bool SamePlace(const Access& a, const Access& b);

// The variables from `first` on, which have these extents, merged where all accesses allow it. `apart`: variables that
// something else uses by themselves.
std::vector<Dimension> DimensionsOf(core::VariableId first, const std::vector<core::Size>& extents,
                                    const std::vector<Access>& accesses, core::VariableSet apart);
// Variables that positions other than plain accesses use: index values, guards, gathers; and reads of intermediates,
// unless these are known by row.
core::VariableSet UsedApart(const Problem& problem, const core::Stage& stage, bool intermediates = true);
// Gives every dimension a name after its extent ("N": n, "rows": row), or a usual one.
void NameDimensions(std::vector<Dimension>& dimensions, Names& names);
// Names of all variables of dimensions with one variable, and of the last of each other one.
std::map<core::VariableId, std::string> VariableNames(const std::vector<Dimension>& dimensions);
// "const int col = index % C;" for every dimension, from the flat index of this name and type.
void WriteCoordinates(const std::vector<Dimension>& dimensions, const std::string& type, const std::string& index,
                      Names& names, Lines& lines);
// The number of points, in 64 bits if the problem is wide.
std::string TotalText(const Problem& problem, const std::vector<Dimension>& dimensions);

// Whether the access walks the dimensions densely: its offset is the flat index.
bool IsDense(const Access& access, const std::vector<Dimension>& dimensions);
// Neighbours along the dimension are neighbours in memory.
bool IsContiguous(const Access& access, const Dimension& last);
// What must divide by `width` so that every access of `width` neighbours along this dimension is aligned, beside its
// extent; none: it never is.
std::optional<std::vector<std::string>> Divisible(const Access& access, const Dimension& last, int width);

// Neighbours that one access moves: which accesses, how many, and under which conditions.
struct Packing {
  int width = 1;
  std::vector<Access> accesses;         // each place once
  std::vector<std::string> conditions;  // beside alignment: "n % 4 == 0"
  std::vector<std::string> gathered;    // tensors whose rows are moved so, at places that data says
  int bytes = 1;                        // that addresses must be a multiple of

  bool packs() const { return width > 1 && !accesses.empty(); }
  void Add(const Access& access, const std::vector<std::string>& needs);
};
// The type that kernels use for neighbours, and functions that move them, under names that are free.
struct PackedType {
  std::string name, load, store;
  std::string definition, store_definition;  // the second: empty if nothing is stored
  std::string Load(const std::string& variable, const std::string& address) const;  // a statement
  std::string Store(const std::string& variable, const std::string& address) const;
};
PackedType MakePackedType(const Problem& problem, const Packing& packing);
std::string ElementTypeOf(const Problem& problem, const Access& access);
// "is_aligned(x, 16) && n % 4 == 0".
std::string PackingCondition(const Problem& problem, const Packing& packing, std::vector<std::string>& helpers);

}  // namespace warpwright::schedule
