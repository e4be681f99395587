// The port through which the worker runs kernels: sim/sim_device.h and gpu/cuda_device.h.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/chip.h"
#include "core/compiled.h"
#include "core/dtype.h"
#include "core/launch_plan.h"
#include "core/paired_timing.h"

namespace warpwright::core {

// In DeviceRun::seconds and Timed::seconds: waiting until others have left the device. It is no time of the run.
inline constexpr const char* kLeaseSeconds = "lease";

struct DeviceRequest {
  const CompiledModule* module = nullptr;
  const LaunchPlan* plan = nullptr;  // validated
  // One for each kArgument buffer of the plan, same order and size.
  const std::vector<BufferContent>* buffers = nullptr;
  ExecuteOptions options;
  const std::vector<BufferContent>* beside = nullptr;  // as in ExecuteRequest; null: none
};
struct DeviceRun {
  std::vector<std::vector<std::byte>> buffers;
  std::vector<bool> as_sent;  // as in Executed; may be empty
  std::vector<LaunchReport> launches;
  double time_us = 0;
  bool sampled = false;
  std::vector<GuardViolation> guards;
  uint32_t differing_runs = 0;  // this and the following as in Executed
  std::vector<std::vector<std::byte>> other_buffers;
  std::vector<WrittenPart> parts;
  std::vector<std::string> changed_globals;
  std::vector<StateUse> state;
  std::optional<Fault> old_read;
  std::vector<BufferExtent> extents;
  std::vector<Decision> decisions;
  std::vector<std::string> notes;
  std::vector<LineUse> lines;
  std::map<std::string, double> seconds;
};
using DeviceOutcome = std::variant<Fault, DeviceRun>;

// A buffer argument as the timing protocol needs to know it.
struct TimedBuffer {
  DType dtype = DType::kF32;
  bool output = false;   // compared after each sample
  bool rotates = false;  // its elements may be rotated: every sample then has contents that were never used before
};
struct DeviceTimingRequest {
  struct Side {
    const CompiledModule* module = nullptr;
    const LaunchPlan* plan = nullptr;  // validated
  };
  Side original, candidate;
  const std::vector<BufferContent>* buffers = nullptr;
  const std::vector<TimedBuffer>* roles = nullptr;  // of the buffers, in their order
  TimingOptions options;
};
using DeviceTimingOutcome = std::variant<Fault, Timed>;

class Device {
 public:
  virtual ~Device() = default;
  virtual const Chip& chip() const = 0;
  virtual Result<DeviceOutcome> Run(const DeviceRequest& request) = 0;
  virtual Result<DeviceTimingOutcome> Time(const DeviceTimingRequest& request) = 0;
  // False after a fault that leaves the device's context unusable: the process must end.
  virtual bool usable() const = 0;
  virtual bool modelled() const = 0;  // times are computed, not measured
};

}  // namespace warpwright::core
