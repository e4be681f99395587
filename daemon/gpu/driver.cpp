#include "gpu/driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <mutex>

namespace warpwright::gpu {
namespace {

// Errors that no kernel can cause. 100 and 101 mean something else while the driver starts, which is not checked here.
constexpr CUresult kDeviceLostErrors[] = {CUDA_ERROR_DEVICE_UNAVAILABLE,     CUDA_ERROR_NO_DEVICE,
                                          CUDA_ERROR_INVALID_DEVICE,         CUDA_ERROR_ECC_UNCORRECTABLE,
                                          CUDA_ERROR_NVLINK_UNCORRECTABLE,   CUDA_ERROR_SYSTEM_NOT_READY,
                                          CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, CUDA_ERROR_UNKNOWN};
// What an earlier launch did to the context, if a call reports it that no kernel can cause to fail: it was not noticed.
constexpr CUresult kContextLostErrors[] = {CUDA_ERROR_ILLEGAL_ADDRESS,    CUDA_ERROR_INVALID_ADDRESS_SPACE,
                                           CUDA_ERROR_MISALIGNED_ADDRESS, CUDA_ERROR_ILLEGAL_INSTRUCTION,
                                           CUDA_ERROR_INVALID_PC,         CUDA_ERROR_HARDWARE_STACK_ERROR,
                                           CUDA_ERROR_LAUNCH_FAILED,      CUDA_ERROR_ASSERT,
                                           CUDA_ERROR_LAUNCH_TIMEOUT};
std::atomic<bool> gpu_is_lost{false};

// cuda.h redirects names to versions by macros; the text of the expanded name is the symbol.
#define WW_TEXT_OF(x) #x
#define WW_TEXT(x) WW_TEXT_OF(x)

Result<CudaDriver> Open() {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return Fail(ErrorCode::kEnvironment, std::string("no NVIDIA driver: ") + ::dlerror(),
                "install the driver, or choose a simulated device, for example --device sim:h200");
  CudaDriver driver;
  const char* missing = nullptr;
#define WW_FIND(name)                                                                         \
  driver.name = reinterpret_cast<decltype(driver.name)>(::dlsym(library, WW_TEXT(cu##name))); \
  if (driver.name == nullptr) missing = WW_TEXT(cu##name);
  WW_CUDA_FUNCTIONS(WW_FIND)
#undef WW_FIND
  if (missing != nullptr)
    return Fail(ErrorCode::kEnvironment, std::string("the NVIDIA driver lacks ") + missing,
                "install a driver for CUDA 13 (580 or newer)");
  if (const CUresult result = driver.Init(0); result != CUDA_SUCCESS)
    return Fail(ErrorCode::kEnvironment, "the NVIDIA driver failed to start: " + driver.Describe(result),
                "look at nvidia-smi and the kernel log; in a container, start it with --gpus");
  WW_TRY(driver.Check(driver.DriverGetVersion(&driver.version), "cuDriverGetVersion"));
  return driver;
}

}  // namespace

std::string CudaDriver::Describe(CUresult result) const {
  const char *name = nullptr, *text = nullptr;
  if (GetErrorName(result, &name) != CUDA_SUCCESS || name == nullptr) name = "CUDA error";
  if (GetErrorString(result, &text) != CUDA_SUCCESS || text == nullptr) text = "unknown";
  return std::string(name) + " (" + std::to_string(static_cast<int>(result)) + "): " + text;
}

Status CudaDriver::Check(CUresult result, const char* call) const {
  if (result == CUDA_SUCCESS) return {};
  if (std::find(std::begin(kDeviceLostErrors), std::end(kDeviceLostErrors), result) != std::end(kDeviceLostErrors))
    gpu_is_lost = true;
  if (std::find(std::begin(kContextLostErrors), std::end(kContextLostErrors), result) != std::end(kContextLostErrors))
    return Fail(ErrorCode::kWorkerDied,
                std::string(call) + ": " + Describe(result) + ": an earlier launch left the GPU's context unusable");
  return Fail(ErrorCode::kEnvironment, std::string(call) + ": " + Describe(result), "look at `warpwright doctor`");
}

bool GpuIsLost() { return gpu_is_lost; }

Result<const CudaDriver*> LoadCudaDriver() {
  static std::once_flag once;
  static Result<CudaDriver> driver = Fail(ErrorCode::kEnvironment, "the driver was not opened");
  std::call_once(once, [] { driver = Open(); });
  if (!driver) return Fail(driver.error());
  return &*driver;
}

}  // namespace warpwright::gpu
