#include "core/operation_class.h"

namespace warpwright::core {

std::string_view Name(OperationClass operation) {
  switch (operation) {
    case OperationClass::kElementwise: return "elementwise";
    case OperationClass::kRowReduction: return "row_reduction";
    case OperationClass::kFullReduction: return "full_reduction";
    case OperationClass::kArgReduction: return "arg_reduction";
    case OperationClass::kRowNormalization: return "row_normalization";
    case OperationClass::kMatmul: return "matmul";
    case OperationClass::kMatvec: return "matvec";
    case OperationClass::kConvolution: return "convolution";
    case OperationClass::kStencil: return "stencil";
    case OperationClass::kTranspose: return "transpose";
    case OperationClass::kGather: return "gather";
    case OperationClass::kScatter: return "scatter";
    case OperationClass::kHistogram: return "histogram";
    case OperationClass::kScan: return "scan";
    case OperationClass::kAttention: return "attention";
    case OperationClass::kComposition: return "composition";
    case OperationClass::kUnknown: return "unknown";
  }
  return "?";
}

std::string_view InWords(OperationClass operation) {
  switch (operation) {
    case OperationClass::kElementwise: return "an element-wise map";
    case OperationClass::kRowReduction: return "reductions of rows";
    case OperationClass::kFullReduction: return "a reduction to one value";
    case OperationClass::kArgReduction: return "the position of an extremum";
    case OperationClass::kRowNormalization: return "a row program (a softmax or a norm)";
    case OperationClass::kMatmul: return "a matrix product";
    case OperationClass::kMatvec: return "a matrix-vector product";
    case OperationClass::kConvolution: return "a convolution";
    case OperationClass::kStencil: return "a stencil, filter or pool";
    case OperationClass::kTranspose: return "a rearranging copy";
    case OperationClass::kGather: return "a gather";
    case OperationClass::kScatter: return "a scatter";
    case OperationClass::kHistogram: return "a histogram";
    case OperationClass::kScan: return "a scan";
    case OperationClass::kAttention: return "attention";
    case OperationClass::kComposition: return "a composition of several operations";
    case OperationClass::kUnknown: return "not known";
  }
  return "?";
}

}  // namespace warpwright::core
