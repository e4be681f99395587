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
// What one segment of a launcher (rewrite/segments.h) computes, with SegmentSpec of the entry's.
struct SegmentForm {
  uint64_t number = 0;
  Computation computation;
};
struct Scheduling {
  Computation computation;  // no stages: it is not known of the entry as a whole
  KernelSpec spec;
  std::vector<ScheduledCase> cases;  // those that count on the device
  Chip chip;
  std::vector<SegmentForm> segments = {};
};

// The entry's with every buffer that it may write as one that a segment finds in some state and leaves in another.
KernelSpec SegmentSpec(KernelSpec spec);

// The cases that are timed on such a device, all of them if none is: what schedules are chosen for.
std::vector<ScheduledCase> ScheduledCases(const KernelSpec& spec, DeviceKind device);

}  // namespace warpwright::core
