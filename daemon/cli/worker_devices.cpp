#include "cli/worker_devices.h"

#include "config/chip_file.h"
#include "gpu/cuda_device.h"
#include "gpu/describe.h"
#include "sim/sim_device.h"

namespace warpwright::cli {

Result<std::unique_ptr<core::Device>> OpenDevice(const std::string& name, const worker::DeviceNeeds& needs) {
  if (name.starts_with("sim:")) {
    WW_ASSIGN(const core::Chip chip, config::LoadChip(name.substr(4)));
    return sim::MakeSimDevice(chip);
  }
  if (name == "cuda" || name.starts_with("cuda:")) {
    WW_ASSIGN(const compile::Compiler* compiler, needs.compiler());
    return gpu::MakeCudaDevice(name, *compiler, needs.on_wait);
  }
  return Fail(ErrorCode::kUsage, "unknown device '" + name + "'", "use cuda, cuda:1, " + config::SimulatedDevices());
}

worker::DeviceDescriber DescriberOf(const std::string& name) {
  if (name.starts_with("cuda"))
    return [name](const worker::MachineTeller& tell, const auto& nvrtc) { gpu::DescribeGpus(name, tell, nvrtc); };
  return [](const worker::MachineTeller&, const auto& nvrtc) { nvrtc(""); };
}

}  // namespace warpwright::cli
