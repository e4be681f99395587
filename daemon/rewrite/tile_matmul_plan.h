// Recognises naive products: each thread owns one result, and a loop adds products of a factor that depends on the
// result's row and a factor that depends on its column. Everything else (where the operands are, batches, conversions,
// what happens to the sum) is kept as text, so its form does not matter.
//
//   row, col from the thread's position (two axes, or one index split by / and %)
//   guard: row < M, col < N
//   declarations; sum = start
//   for (k ...) sum += left(row, k) * right(col, k)
//   epilogue(sum, row, col)
#pragma once

#include <string>
#include <vector>

#include "rewrite/structural.h"
#include "rewrite/tile_matmul_axes.h"

namespace warpwright::rewrite {

// One side of the product.
struct Operand {
  std::vector<const source::Node*> factors;       // multiplied in this order
  std::vector<const source::Node*> declarations;  // kVariable that they need, in source order, none of them uniform
  std::string type;                               // of the product of the factors; empty: that of the sum
  bool along_k = true;                            // consecutive k are adjacent in memory
};

struct TilePlan : ResultAxes {
  std::vector<const source::Node*> uniform;  // kVariable that is uniform over the block
  std::vector<const source::Node*>
      moves;  // kAssign that advance a pointer parameter by a uniform offset (a += batch * M * K)
  std::vector<const source::Node*>
      varying;  // kVariable before the loop that differ between results, without row, col, sum
  std::vector<source::BoundsGuard::Limit> uniform_limits;
  std::vector<source::BoundsGuard> guards;
  const source::Node* sum = nullptr;    // kVariable
  const source::Node* start = nullptr;  // its value before the loop; null: zero
  source::CountedLoop loop;
  Operand left, right;                        // by row, by column
  std::vector<const source::Node*> epilogue;  // statements for each result, in source order
  bool uses_grid_z = false;
};

Checked<TilePlan> PlanTiles(const source::Ast& ast, const KernelSite& site);

// The kVariables among `candidates` that `root` needs, directly or through their initializers, in source order.
std::vector<const source::Node*> NeededDeclarations(const AnalyzedFunction& kernel,
                                                    const std::vector<const source::Node*>& roots,
                                                    const std::vector<const source::Node*>& candidates);

}  // namespace warpwright::rewrite
