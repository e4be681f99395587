// How far an index of a statement runs, as an expression of the entry's scalars: where several expressions have its
// values at all shapes, the extents of what it indexes are what is meant.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/computation.h"
#include "core/size_solver.h"

namespace warpwright::lift {

struct IndexedExtents {
  std::vector<core::Size> own;    // of dimensions in which it stands alone
  std::vector<core::Size> other;  // of those in which it stands with others, or with a factor
};
// The shape of a tensor or of an intermediate stage; null: unknown.
using ShapeOfTensor = std::function<const std::vector<core::Size>*(const std::string& name, bool stage)>;

// Of a stage's variable: an index, or one of a reduction.
IndexedExtents ExtentsIndexedBy(const core::Stage& stage, core::VariableId variable, const ShapeOfTensor& shape_of);
// Of the dimensions whose coordinate is this position.
std::vector<core::Size> ExtentsAt(const core::Stage& stage, const core::Affine& position,
                                  const ShapeOfTensor& shape_of);

class IndexedExtentSolver {
 public:
  // All outlive it. `varying`: scalars that are not the same wherever the entry ran. What is one number at all `shapes`
  // follows from them where they are what is indexed, and is a number of the code's else.
  IndexedExtentSolver(const std::vector<core::Sizes>& shapes, const core::SizeSolver& all,
                      const std::set<std::string>& varying)
      : shapes_(shapes), all_(all), varying_(varying) {}

  // One value for each shape. None: nothing is known that is better than what any sizes give.
  std::optional<core::Size> Solve(const std::vector<int64_t>& values, const IndexedExtents& of) const;

 private:
  bool Has(const core::Size& size, const std::vector<int64_t>& values) const;

  const std::vector<core::Sizes>& shapes_;
  const core::SizeSolver& all_;
  const std::set<std::string>& varying_;
};

}  // namespace warpwright::lift
