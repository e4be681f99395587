#include "core/inspection.h"

namespace warpwright::core {

std::string_view Name(AccessPattern pattern) {
  switch (pattern) {
    case AccessPattern::kCoalesced: return "coalesced";
    case AccessPattern::kStrided: return "strided";
    case AccessPattern::kBroadcast: return "broadcast";
    case AccessPattern::kIndirect: return "indirect";
    case AccessPattern::kUnknown: return "unknown";
  }
  return "?";
}

std::string_view Name(EntryInfo::Kind kind) {
  switch (kind) {
    case EntryInfo::Kind::kLauncher: return "launcher";
    case EntryInfo::Kind::kKernel: return "kernel";
  }
  return "?";
}

std::string_view Name(OperationClass operation) {
  switch (operation) {
    case OperationClass::kElementwise: return "elementwise";
    case OperationClass::kRowReduction: return "row_reduction";
    case OperationClass::kRowNormalization: return "row_normalization";
    case OperationClass::kFullReduction: return "full_reduction";
    case OperationClass::kMatmul: return "matmul";
    case OperationClass::kTranspose: return "transpose";
    case OperationClass::kHistogram: return "histogram";
    case OperationClass::kGather: return "gather";
    case OperationClass::kScan: return "scan";
    case OperationClass::kStencil: return "stencil";
    case OperationClass::kOther: return "other";
  }
  return "?";
}

}  // namespace warpwright::core
