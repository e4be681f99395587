// What row_parallel will do to a kernel, and the proof that it may: which loops are distributed over the threads of a
// row, which statements one thread executes, where the threads must synchronize.
//
// Outside of column loops all threads of a row compute the same values from the same reduced values, so control flow
// there is uniform. Memory is tracked between statements: an element that one thread may have written and another one
// uses needs a barrier in between, unless both belong to the same iteration number of their loops, which the same
// thread executes.
#pragma once

#include <vector>

#include "rewrite/row_parallel_loop.h"

namespace warpwright::rewrite {

struct RowPlan {
  const source::Node* row = nullptr;                 // kVariable: blockIdx.x * blockDim.x + threadIdx.x
  const source::Node* row_loop = nullptr;            // the grid-stride loop over rows that declares it, if it does
  const source::Node* row_bound = nullptr;           // number of rows
  std::vector<const source::Node*> unused;           // kDeclaration used only to compute the row
  std::vector<ColumnLoop> loops;                     // in source order
  std::vector<const source::Node*> single;           // statements for one thread: writes of one element per row
  std::vector<const source::Node*> barriers;         // statements that need a barrier before them
  std::vector<const source::Node*> barriers_at_end;  // blocks of serial loops that need a barrier at their end
  bool uses_grid_yz = false;                         // blockIdx.y or .z: the grid's other axes keep their meaning
};

// `reductions_are_barriers`: combining values also synchronizes memory (it does in a block, it does not in a warp).
Checked<RowPlan> PlanRows(const source::Ast& ast, const KernelSite& site, bool reductions_are_barriers);

}  // namespace warpwright::rewrite
