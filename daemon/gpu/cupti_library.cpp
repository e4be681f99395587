#include "gpu/cupti_library.h"

#include <dlfcn.h>

#include <filesystem>
#include <mutex>
#include <vector>

#include "compile/toolkit.h"

namespace warpwright::gpu {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPermissionRemedy =
    "set NVreg_RestrictProfilingToAdminUsers=0 on the host (a module option of the NVIDIA driver) or give the worker "
    "CAP_PERFMON or "
    "CAP_SYS_ADMIN (docker run --cap-add SYS_ADMIN); without counters, timing and checking go on";
constexpr const char* kProfilerRemedy =
    "stop the other profiler (ncu, nsys, compute-sanitizer, DCGM: `dcgmi profile --pause`): counters serve one at a "
    "time";

// The toolkit's folders first; the plain name is resolved by the system's loader.
std::vector<std::string> Candidates() {
  std::vector<std::string> candidates;
  const auto toolkit = compile::FindToolkit();
  for (const char* name : {"libcupti.so.13", "libcupti.so.12"}) {
    if (toolkit) {
      for (const char* folder : {"lib64", "extras/CUPTI/lib64", "lib", "targets/x86_64-linux/lib"}) {
        std::error_code ignored;
        if (const fs::path path = toolkit->root / folder / name; fs::exists(path, ignored))
          candidates.push_back(path.string());
      }
    }
    candidates.emplace_back(name);
  }
  return candidates;
}

Result<Cupti> Bind(void* library, const std::string& path) {
  Cupti cupti;
  cupti.path = path;
  const char* missing = nullptr;
#define WW_FIND(name)                                                                   \
  cupti.name = reinterpret_cast<decltype(cupti.name)>(::dlsym(library, "cupti" #name)); \
  if (cupti.name == nullptr) missing = "cupti" #name;
  WW_CUPTI_FUNCTIONS(WW_FIND)
#undef WW_FIND
  if (missing != nullptr)
    return Fail(ErrorCode::kEnvironment, path + " lacks " + missing, "install CUPTI of CUDA 12.6 or newer");
  WW_TRY(cupti.Check(cupti.GetVersion(&cupti.version), "cuptiGetVersion"));
  return cupti;
}

Result<Cupti> Open() {
  std::string first_error;
  for (const auto& path : Candidates()) {
    // Never closed: CUPTI keeps its own threads.
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) return Bind(library, path);
    if (first_error.empty()) first_error = ::dlerror();
  }
  return Fail(ErrorCode::kEnvironment, "CUPTI does not load: " + first_error,
              "install the toolkit's CUPTI (package cuda-cupti-13-0, or `script/bootstrap --cuda-from-pypi`) and set "
              "CUDA_HOME");
}

}  // namespace

std::string Cupti::Describe(CUptiResult result) const {
  const char* name = nullptr;
  if (GetResultString(result, &name) != CUPTI_SUCCESS || name == nullptr) name = "CUPTI error";
  return std::string(name) + " (" + std::to_string(static_cast<int>(result)) + ")";
}

Status Cupti::Check(CUptiResult result, const char* call) const {
  if (result == CUPTI_SUCCESS) return {};
  const std::string message = std::string(call) + ": " + Describe(result);
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return Fail(ErrorCode::kEnvironment, "no permission to read counters: " + message, kPermissionRemedy);
    case CUPTI_ERROR_HARDWARE_BUSY:
    case CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED:
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return Fail(ErrorCode::kEnvironment, "counters are in use: " + message, kProfilerRemedy);
    case CUPTI_ERROR_NOT_SUPPORTED:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED:
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
    case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_INVALID_CHIP_NAME:
      return Fail(ErrorCode::kEnvironment, "counters cannot be read on this device: " + message,
                  "use a device and driver that CUPTI supports; without counters, timing and checking go on");
    default: return Fail(ErrorCode::kIo, message);
  }
}

Status Cupti::CheckEnable(CUptiResult result, const char* call) const {
  if (result == CUPTI_ERROR_UNKNOWN)
    return Fail(ErrorCode::kEnvironment,
                "counters cannot be switched on: " + std::string(call) + ": " + Describe(result), kPermissionRemedy);
  return Check(result, call);
}

Result<const Cupti*> LoadCupti() {
  static std::once_flag once;
  static Result<Cupti> cupti = Fail(ErrorCode::kEnvironment, "CUPTI was not opened");
  std::call_once(once, [] { cupti = Open(); });
  if (!cupti) return Fail(cupti.error());
  return &*cupti;
}

}  // namespace warpwright::gpu
