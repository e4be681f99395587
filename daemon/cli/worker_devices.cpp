#include "cli/worker_devices.h"

#include "config/chip_file.h"
#include "core/device_name.h"
#include "gpu/cuda_device.h"
#include "gpu/describe.h"
#include "sim/sim_device.h"

namespace warpwright::cli {

Result<std::unique_ptr<core::Device>> OpenDevice(const std::string& name, const worker::DeviceNeeds& needs) {
  const auto device = core::DeviceName::Parse(name);
  if (!device)
    return Fail(ErrorCode::kUsage, "unknown device '" + name + "'", "use cuda, cuda:1, " + config::SimulatedDevices());
  if (device->kind == core::DeviceKind::kSim) {
    WW_ASSIGN(const core::Chip chip, config::LoadChip(device->chip));
    return sim::MakeSimDevice(chip);
  }
  WW_ASSIGN(const compile::Compiler* compiler, needs.compiler());
  return gpu::MakeCudaDevice(name, *compiler, needs.on_wait);
}

worker::DeviceDescriber DescriberOf(const std::string& name) {
  const auto device = core::DeviceName::Parse(name);
  if (device && device->kind == core::DeviceKind::kCuda)
    return [name](const worker::MachineTeller& tell, const auto& nvrtc) { gpu::DescribeGpus(name, tell, nvrtc); };
  return [](const worker::MachineTeller&, const auto& nvrtc) { nvrtc(""); };
}

}  // namespace warpwright::cli
