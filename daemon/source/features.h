// The static features of a kernel: what an expert sees in the source before measuring anything.
//
// Features of device functions that the kernel calls (barriers, shuffles, atomics, mathematics) count as the kernel's.
// What cannot be resolved, in templates and macros, remains unknown (AccessPattern::kUnknown, OperationClass::kUnknown,
// an empty trip count); it is never guessed.
#pragma once

#include <clang-c/Index.h>

#include "core/inspection.h"
#include "source/ast.h"

namespace warpwright::source {

struct Node;
class FunctionAnalysis;

core::StaticFeatures ExtractFeatures(const Ast& ast, CXCursor kernel);

// A scalar local variable that a loop updates by a sum, a product, a minimum or a maximum, and does not otherwise use.
struct Accumulator {
  enum class Kind { kSum, kProduct, kMaximum, kMinimum };
  Kind kind = Kind::kSum;
  std::string symbol, name, type;
  const Node* update = nullptr;  // the assignment, or the `if` around it
  const Node* value = nullptr;   // what is added, multiplied, compared
};
// The accumulators of this loop itself, not of loops inside it. The variable is declared outside the loop.
std::vector<Accumulator> AccumulatorsOf(const FunctionAnalysis& analysis, const Node& loop);

// What the kernel computes, inferred from its accesses and loops. A sum of products that is no plain matrix product, as
// a convolution's or an attention's, is unknown: only what the kernel does tells which it is (core/operation_class.h).
struct SourceClass {
  core::OperationClass operation = core::OperationClass::kUnknown;
  bool sums_products = false;  // or uses tensor cores
};
SourceClass ClassifyOperation(const FunctionAnalysis& analysis, const core::StaticFeatures& features);

}  // namespace warpwright::source
