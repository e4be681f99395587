#include "gpu/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>

namespace warpwright::gpu {
namespace {

constexpr unsigned kMaxGpus = 64;
constexpr unsigned kMaxProcesses = 1024;
constexpr unsigned long long kNotTold = ~0ull;

// Reasons for lower clocks that make times vary between runs. Not included: idle (0x1), clocks set by a user (0x2).
constexpr std::pair<unsigned long long, const char*> kSlowdowns[] = {{0x4, "power cap"},
                                                                     {0x8, "hardware slowdown"},
                                                                     {0x10, "sync boost"},
                                                                     {0x20, "software thermal slowdown"},
                                                                     {0x40, "hardware thermal slowdown"},
                                                                     {0x80, "power brake"},
                                                                     {0x100, "display clocks"}};

Status Start(const Nvml& nvml) {
  const int result = nvml.Init();
  if (result == kNvmlSuccess) return {};
  const std::string message = "NVML failed to start: " + nvml.Describe(result);
  if (result == kNvmlVersionMismatch)
    return Fail(ErrorCode::kEnvironment, message,
                "the driver was updated while its old kernel module is loaded: reboot, or reload the nvidia modules");
  if (result == kNvmlDriverNotLoaded)
    return Fail(ErrorCode::kEnvironment, message, "load the driver: modprobe nvidia; look at the kernel log");
  return Fail(ErrorCode::kEnvironment, message, "look at nvidia-smi and the kernel log");
}

// Whether the function exists and succeeds.
template <typename Function, typename... Args>
bool QueryNvml(Function function, Args... args) {
  return function != nullptr && function(args...) == kNvmlSuccess;
}

std::optional<int> Number(int (*function)(NvmlHandle, int, unsigned*), NvmlHandle gpu, int which) {
  unsigned value = 0;
  if (!QueryNvml(function, gpu, which, &value)) return std::nullopt;
  return static_cast<int>(value);
}
std::optional<double> Watts(int (*function)(NvmlHandle, unsigned*), NvmlHandle gpu) {
  unsigned milliwatts = 0;
  if (!QueryNvml(function, gpu, &milliwatts)) return std::nullopt;
  return milliwatts / 1000.0;
}
std::optional<int64_t> UncorrectedErrors(const Nvml& nvml, NvmlHandle gpu, int counter) {
  constexpr int kUncorrected = 1;
  unsigned long long count = 0;
  if (!QueryNvml(nvml.DeviceGetTotalEccErrors, gpu, kUncorrected, counter, &count)) return std::nullopt;
  return static_cast<int64_t>(count);
}
std::string Text(int (*function)(NvmlHandle, char*, unsigned), NvmlHandle gpu) {
  char text[128] = {};
  return QueryNvml(function, gpu, text, unsigned{sizeof text - 1}) ? text : "";
}

std::string ComputeMode(const Nvml& nvml, NvmlHandle gpu) {
  int mode = 0;
  if (!QueryNvml(nvml.DeviceGetComputeMode, gpu, &mode)) return "";
  switch (mode) {
    case 0: return "default";
    case 1: return "exclusive thread";
    case 2: return "prohibited";
    case 3: return "exclusive process";
    default: return fmt::format("{}", mode);
  }
}

std::optional<std::vector<core::GpuProcess>> Processes(const Nvml& nvml, NvmlHandle gpu) {
  if (nvml.DeviceGetProcesses == nullptr) return std::nullopt;
  std::vector<NvmlProcess> listed(16);
  unsigned count = 0;
  int result = kNvmlInsufficientSize;
  // More processes may start between two calls.
  for (int tries = 0; result == kNvmlInsufficientSize && tries < 5; ++tries) {
    count = static_cast<unsigned>(listed.size());
    result = nvml.DeviceGetProcesses(gpu, &count, listed.data());
    if (result == kNvmlInsufficientSize)
      listed.resize(std::min<size_t>(kMaxProcesses, std::max<size_t>(count, listed.size()) + 16));
  }
  if (result != kNvmlSuccess) return std::nullopt;
  std::vector<core::GpuProcess> processes;
  for (unsigned i = 0; i < std::min<size_t>(count, listed.size()); ++i) {
    core::GpuProcess process;
    process.pid = listed[i].pid;
    if (listed[i].memory != kNotTold) process.memory_bytes = static_cast<int64_t>(listed[i].memory);
    char name[256] = {};
    if (QueryNvml(nvml.SystemGetProcessName, listed[i].pid, name, unsigned{sizeof name - 1})) process.name = name;
    processes.push_back(std::move(process));
  }
  return processes;
}

core::GpuState ReadGpu(const Nvml& nvml, NvmlHandle gpu) {
  core::GpuState state;
  state.name = Text(nvml.DeviceGetName, gpu);
  state.uuid = Text(nvml.DeviceGetUuid, gpu);
  if (NvmlPci pci{}; QueryNvml(nvml.DeviceGetPciInfo, gpu, &pci))
    state.pci = fmt::format("{:08x}:{:02x}:{:02x}.0", pci.domain, pci.bus, pci.device);
  if (NvmlMemory memory{}; QueryNvml(nvml.DeviceGetMemoryInfo, gpu, &memory)) {
    state.memory_bytes = static_cast<int64_t>(memory.total);
    state.free_bytes = static_cast<int64_t>(memory.free);
  }
  int now = 0, pending = 0;
  if (QueryNvml(nvml.DeviceGetEccMode, gpu, &now, &pending)) state.ecc = now != 0;
  if (unsigned mig = 0, later = 0; QueryNvml(nvml.DeviceGetMigMode, gpu, &mig, &later)) state.mig = mig != 0;
  if (QueryNvml(nvml.DeviceGetPersistenceMode, gpu, &now)) state.persistence = now != 0;
  state.uncorrected_errors = UncorrectedErrors(nvml, gpu, 0);
  state.lifetime_uncorrected_errors = UncorrectedErrors(nvml, gpu, 1);
  state.compute_mode = ComputeMode(nvml, gpu);
  state.power_watts = Watts(nvml.DeviceGetPowerUsage, gpu);
  state.power_limit_watts = Watts(nvml.DeviceGetPowerLimit, gpu);
  state.default_power_limit_watts = Watts(nvml.DeviceGetDefaultPowerLimit, gpu);
  state.temperature_celsius = Number(nvml.DeviceGetTemperature, gpu, 0);
  state.sm_mhz = Number(nvml.DeviceGetClockInfo, gpu, kNvmlSm);
  state.max_sm_mhz = Number(nvml.DeviceGetMaxClockInfo, gpu, kNvmlSm);
  state.memory_mhz = Number(nvml.DeviceGetClockInfo, gpu, kNvmlMemoryClock);
  state.max_memory_mhz = Number(nvml.DeviceGetMaxClockInfo, gpu, kNvmlMemoryClock);
  if (unsigned long long reasons = 0; QueryNvml(nvml.DeviceGetSlowdown, gpu, &reasons))
    for (const auto& [bit, name] : kSlowdowns)
      if ((reasons & bit) != 0) state.slowed_by.emplace_back(name);
  state.processes = Processes(nvml, gpu);
  return state;
}

}  // namespace

std::string Nvml::Describe(int result) const {
  const char* text = ErrorString != nullptr ? ErrorString(result) : nullptr;
  return fmt::format("{} ({})", text != nullptr ? text : "NVML error", result);
}

Result<Nvml> LoadNvml() {
  void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return Fail(ErrorCode::kEnvironment, std::string("no NVML: ") + ::dlerror(),
                "it comes with the driver (package libnvidia-ml1, or nvidia-utils); in a container, add the capability "
                "`utility` "
                "(NVIDIA_DRIVER_CAPABILITIES=compute,utility)");
  Nvml nvml;
#define WW_FIND(name, symbol, arguments) nvml.name = reinterpret_cast<decltype(nvml.name)>(::dlsym(library, #symbol));
  WW_NVML_FUNCTIONS(WW_FIND)
#undef WW_FIND
  nvml.ErrorString = reinterpret_cast<decltype(nvml.ErrorString)>(::dlsym(library, "nvmlErrorString"));
  if (nvml.Init == nullptr || nvml.DeviceGetCount == nullptr || nvml.DeviceGetHandleByIndex == nullptr)
    return Fail(ErrorCode::kEnvironment, "NVML is too old: it cannot count GPUs",
                "install a driver for CUDA 13 (580 or newer)");
  WW_TRY(Start(nvml));
  return nvml;
}

core::NvmlPart ReadNvml(const Nvml& nvml) {
  core::NvmlPart part;
  char release[128] = {};
  if (QueryNvml(nvml.SystemGetDriverVersion, release, unsigned{sizeof release - 1})) part.driver_release = release;
  unsigned count = 0;
  if (const int result = nvml.DeviceGetCount(&count); result != kNvmlSuccess)
    part.problem = {"NVML reports no GPUs: " + nvml.Describe(result), "look at nvidia-smi and the kernel log"};
  for (unsigned i = 0; i < std::min(count, kMaxGpus); ++i) {
    NvmlHandle gpu = nullptr;
    // A GPU that fell off the bus does not hide the others.
    if (const int result = nvml.DeviceGetHandleByIndex(i, &gpu); result == kNvmlSuccess)
      part.gpus.push_back(ReadGpu(nvml, gpu));
    else
      part.problem = {fmt::format("GPU {} cannot be queried: {}", i, nvml.Describe(result)),
                      "look at the kernel log for Xid lines; a GPU that is lost needs a reboot"};
  }
  return part;
}

}  // namespace warpwright::gpu
