#include "cli/worker_devices.h"

#include "config/chip_file.h"
#include "gpu/cuda_device.h"
#include "gpu/describe.h"
#include "sim/sim_device.h"

namespace warpwright {

Result<std::unique_ptr<Device>> OpenDevice(const std::string& name, const DeviceNeeds& needs) {
  if (name.starts_with("sim:")) {
    WW_ASSIGN(const Chip chip, LoadChip(name.substr(4)));
    return MakeSimDevice(chip);
  }
  if (name == "cuda" || name.starts_with("cuda:")) {
    WW_ASSIGN(const Compiler* compiler, needs.compiler());
    return MakeCudaDevice(name, *compiler, needs.on_wait);
  }
  return Fail(ErrorCode::kUsage, "unknown device '" + name + "'", "use cuda, cuda:1, " + SimulatedDevices());
}

DeviceDescriber DescriberOf(const std::string& name) {
  if (name.starts_with("cuda"))
    return [name](const MachineTeller& tell, const auto& nvrtc) { gpu::DescribeGpus(name, tell, nvrtc); };
  return [](const MachineTeller&, const auto& nvrtc) { nvrtc(""); };
}

}  // namespace warpwright
