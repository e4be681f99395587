// The port behind which kernels run, inside the worker: sim/sim_device.h now, gpu/ later.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/chip.h"
#include "core/compiled.h"
#include "core/evaluator.h"
#include "core/launch_plan.h"

namespace warpwright {

struct DeviceRequest {
  const CompiledModule* module = nullptr;
  const LaunchPlan* plan = nullptr;                 // validated
  const std::vector<BufferContent>* buffers = nullptr;  // one for each kArgument buffer of the plan, same order and size
  ExecuteOptions options;
};
struct DeviceRun {
  std::vector<std::vector<std::byte>> buffers;
  std::vector<LaunchReport> launches;
  double time_us = 0;
  bool sampled = false;
  std::vector<GuardViolation> guards;
};
using DeviceOutcome = std::variant<Fault, DeviceRun>;

class Device {
 public:
  virtual ~Device() = default;
  virtual const Chip& chip() const = 0;
  virtual Result<DeviceOutcome> Run(const DeviceRequest& request) = 0;
};

}  // namespace warpwright
