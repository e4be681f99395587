#include "core/scheduling.h"

namespace warpwright::core {

std::vector<ScheduledCase> ScheduledCases(const KernelSpec& spec, DeviceKind device) {
  std::vector<ScheduledCase> counted, all;
  for (const Case& c : spec.cases) {
    all.push_back({IntegerScalars(c), c.weight});
    if (c.on.contains(device) && c.weight > 0) counted.push_back(all.back());
  }
  return counted.empty() ? all : counted;
}

KernelSpec SegmentSpec(KernelSpec spec) {
  for (Argument& argument : spec.args)
    if (auto* buffer = std::get_if<BufferArgument>(&argument.kind); buffer && buffer->role != Role::kIn)
      buffer->role = Role::kInOut;
  return spec;
}

}  // namespace warpwright::core
