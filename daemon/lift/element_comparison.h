// Whether two expressions of an output element are the same function, and equally well computed: by their forms, else
// by their values on inputs of several ranges.
//
// On an input both are evaluated as functions of real numbers and as they are computed (point_evaluation.h). Another
// function: the real values are farther apart than rounded literals explain. Worse accuracy: what the candidate
// computes is farther from the original's real value than a few times what rounding may do to the original. So any
// order of a sum, fma, reciprocals, Welford's and online formulas pass; a variance by the mean of squares, or an
// exponential that overflows, does not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/equivalence.h"
#include "core/kernel_spec.h"
#include "lift/graph.h"
#include "lift/point_inputs.h"
#include "lift/trace.h"

namespace warpwright::lift {

struct ElementPair {
  uint32_t buffer = 0;  // of the arguments
  uint64_t element = 0;
  ExprId original = kConcrete, candidate = kConcrete;
};

struct ElementDifference {
  core::DifferenceKind kind = core::DifferenceKind::kFunction;
  ElementPair pair;
  size_t input = 0;  // index into ComparedElements::inputs
  double expected = 0, computed = 0;
  double excess = 0;  // over what the original's own rounding explains
};

struct ComparedElements {
  std::vector<ElementDifference> differences;  // the clearest one of each kind
  uint64_t same_form = 0;
  uint64_t untested = 0;  // neither has a form in common nor could be evaluated on any input
  std::optional<ElementPair> untested_example;
  std::vector<std::vector<core::BufferContent>> inputs;  // that were tried
};

struct ComparisonSetting {
  const core::KernelSpec* spec = nullptr;
  const core::LiftShape* shape = nullptr;
  std::vector<core::DType> dtypes;       // of the buffer arguments
  std::span<const DataBranch> branches;  // taken as they happened: inputs that turn one are left out
  double cpu_deadline = 0;               // no further input is tried after it
  uint32_t node_limit = 0;               // of the forms
};

// `pairs`: of expressions that are not identical.
ComparedElements CompareElements(const Graph& graph, std::span<const ElementPair> pairs,
                                 const ComparisonSetting& setting);

}  // namespace warpwright::lift
