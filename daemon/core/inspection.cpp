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

}  // namespace warpwright::core
