// The vocabulary for what a kernel or an entry computes: of the classification by source text (source/) and of that by
// the lifted form (computation_structure.h), of evidence, skills and experience.
#pragma once

#include <cstdint>
#include <string_view>

namespace warpwright::core {

enum class OperationClass : uint8_t {
  kElementwise,
  kRowReduction,      // several results, each of many elements; statistics of rows, columns, groups
  kFullReduction,     // one result
  kArgReduction,      // the position of an extremum
  kRowNormalization,  // a row program: elements that need a reduction of their own row, as softmax and norms do
  kMatmul,            // a contraction, batched or not, in which both operands are used again
  kMatvec,            // one in which the larger operand is used once
  kConvolution,       // of any rank: depthwise, grouped, transposed too
  kStencil,           // each result is of a neighbourhood: stencils, filters, pooling
  kTranspose,         // a rearranging copy
  kGather,
  kScatter,
  kHistogram,
  kScan,
  kAttention,
  kComposition,  // several of them
  kUnknown
};
inline constexpr OperationClass kAllOperationClasses[] = {
    OperationClass::kElementwise,      OperationClass::kRowReduction,
    OperationClass::kFullReduction,    OperationClass::kArgReduction,
    OperationClass::kRowNormalization, OperationClass::kMatmul,
    OperationClass::kMatvec,           OperationClass::kConvolution,
    OperationClass::kStencil,          OperationClass::kTranspose,
    OperationClass::kGather,           OperationClass::kScatter,
    OperationClass::kHistogram,        OperationClass::kScan,
    OperationClass::kAttention,        OperationClass::kComposition,
    OperationClass::kUnknown};
std::string_view Name(OperationClass operation);     // "row_normalization"
std::string_view InWords(OperationClass operation);  // "a row program (a softmax or a norm)"
constexpr bool IsReduction(OperationClass operation) {
  return operation == OperationClass::kRowReduction || operation == OperationClass::kFullReduction;
}
constexpr OperationClass Last(OperationClass) { return OperationClass::kUnknown; }

}  // namespace warpwright::core
