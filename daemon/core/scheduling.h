// What a schedule (schedule/schedule.h) is told beside the source: what the entry computes, with which arguments, at
// which sizes and on which chip.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/chip.h"
#include "core/computation.h"
#include "core/kernel_spec.h"

namespace warpwright::core {

struct ScheduledCase {
  std::map<std::string, int64_t> sizes;  // every integer scalar
  double weight = 1;                     // of its time in the gain
};
struct Scheduling {
  Computation computation;
  KernelSpec spec;
  std::vector<ScheduledCase> cases;  // those that count on the device
  Chip chip;
};

// The cases that are timed on such a device, all of them if none is: what schedules are chosen for.
std::vector<ScheduledCase> ScheduledCases(const KernelSpec& spec, DeviceKind device);

}  // namespace warpwright::core
