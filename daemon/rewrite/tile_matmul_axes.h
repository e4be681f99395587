// The position of a thread's result: the variables that are its row and its column, and their bounds.
#pragma once

#include <string>
#include <vector>

#include "rewrite/structural.h"

namespace warpwright::rewrite {

// The row or the column of a result.
struct ResultAxis {
  const source::Node* variable = nullptr;  // kVariable
  std::vector<const source::Node*> bound;  // factors of its upper bound
  size_t grid_axis = 0;                    // 0: x, 1: y; of the launch that the plan requires
  const std::string& name() const { return variable->name; }
};

struct ResultAxes {
  ResultAxis row, col;
  const source::Node* flat = nullptr;      // kVariable: the single index that row and col are derived from, if any
  std::vector<const source::Node*> batch;  // factors of the flat index beyond row and col: blocks along z
};

Checked<ResultAxes> FindResultAxes(const AnalyzedFunction& kernel, const std::vector<source::BoundsGuard>& guards);

// The factors of a product. `through_definitions`: also of the local variables that are products, with casts removed.
void FlattenProduct(const source::FunctionAnalysis& analysis, const source::Node& expression, bool through_definitions,
                    std::vector<const source::Node*>& factors);

}  // namespace warpwright::rewrite
