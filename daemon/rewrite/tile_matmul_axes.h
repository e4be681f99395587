// Where a thread's result stands: the variables that are its row and its column, and how far they go.
#pragma once

#include <string>
#include <vector>

#include "rewrite/structural.h"

namespace warpwright::rewrite {

// The row or the column of a result.
struct ResultAxis {
  const source::Node* variable = nullptr;  // kVariable
  std::vector<const source::Node*> bound;  // factors whose product it stays below
  size_t grid_axis = 0;                    // 0: x, 1: y; of the launch that the plan asks for
  const std::string& name() const { return variable->name; }
};

struct ResultAxes {
  ResultAxis row, col;
  const source::Node* flat = nullptr;      // kVariable: the one index that row and col are taken from, if so
  std::vector<const source::Node*> batch;  // factors of the flat index beyond row and col: blocks along z
};

Checked<ResultAxes> FindResultAxes(const AnalyzedFunction& kernel, const std::vector<source::BoundsGuard>& guards);

// The factors of a product. `through_definitions`: also of the local variables that stand for products, casts taken
// off.
void FlattenProduct(const source::FunctionAnalysis& analysis, const source::Node& expression, bool through_definitions,
                    std::vector<const source::Node*>& factors);

}  // namespace warpwright::rewrite
