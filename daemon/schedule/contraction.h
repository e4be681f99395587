// A sum of products of two factors as a product of matrices, whatever its layout:
//
//   result[batch, m, n] = epilogue(sum_k left[batch, m, k] * right[batch, n, k])
//
// A result's variables are split by which factor depends on them: m on the left one alone, n on the right one alone,
// batch on both; k are the sum's. Each is a list of variables, which a kernel flattens. So products in any layout,
// batched ones, convolutions (m or n then are positions and batch, k the taps and channels) and their transposes are
// one thing: a product with affine addresses.
//
// A condition on the terms (the padding of a convolution, the triangle of a matrix) belongs to the factor whose
// variables it has: outside, that factor counts as 0 and is not read. So a term that the original leaves out becomes 0
// times the other factor, which is 0 for every finite one.
#pragma once

#include <span>
#include <vector>

#include "core/computation.h"

namespace warpwright::schedule {

struct Axis {
  core::VariableId variable = 0;
  core::Size extent;
  bool operator==(const Axis&) const = default;
};

// Nodes of the stage that the contraction is of.
struct Factor {
  std::vector<core::NodeId> nodes;       // multiplied
  std::vector<core::NodeId> conditions;  // truth values that must hold
  std::vector<core::Guard> guards;       // likewise
};

struct Contraction {
  core::NodeId sum = 0;  // the Reduce; what depends on it is the epilogue
  std::vector<Axis> batch, m, n, k;
  Factor left, right;
  std::vector<core::NodeId> scale;  // factors of neither alone: they multiply the sum
  std::vector<core::Guard> guards;  // without k: where one fails, the sum is 0
};

// Whether the sum's terms have two factors of which each is needed by several results.
bool IsProductOfMatrices(const core::Stage& stage, const core::Reduce& sum);

// Of a stage with one sum. `neighbours`: variables by how near to each other the results are that differ in them; the
// first that one factor alone has makes that factor the right one. kUnsupported: the stage is no contraction; the
// message says why. One without n (a product of a matrix and a vector, a depthwise convolution) is refused too: nothing
// is used twice that tiles could keep.
Result<Contraction> ContractionOf(const core::Computation& computation, const core::Stage& stage,
                                  std::span<const core::VariableId> neighbours);

}  // namespace warpwright::schedule
