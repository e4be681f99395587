#include "gpu/cuda_device.h"

#include "gpu/driver.h"

namespace warpwright {

Result<std::unique_ptr<Device>> MakeCudaDevice(const std::string&, const Compiler&, std::function<void()>) {
  WW_ASSIGN(const gpu::CudaDriver* driver, gpu::LoadCudaDriver());
  (void)driver;
  return Fail(ErrorCode::kUnsupported, "not yet");
}

}  // namespace warpwright
