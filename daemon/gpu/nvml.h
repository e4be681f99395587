// libnvidia-ml, opened at run time like the driver (driver.h): a GPU's clocks, errors, modes and processes.
//
// The declarations are here because the toolkit packages that we build with need not contain nvml.h. They are the part
// of NVML's ABI that we call, which the library keeps stable by giving changed functions a new suffix.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "core/machine.h"

namespace warpwright::gpu {

extern "C" {
using NvmlHandle = struct nvmlDevice_st*;
struct NvmlMemory {
  unsigned long long total, free, used;
};
struct NvmlPci {
  char legacy_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char id[32];
};
struct NvmlProcess {  // of _v3
  unsigned pid;
  unsigned long long memory;  // all ones: not reported
  unsigned gpu_instance, compute_instance;
};
}
static_assert(sizeof(NvmlMemory) == 24 && sizeof(NvmlPci) == 68 && sizeof(NvmlProcess) == 24);

enum NvmlResult : int {
  kNvmlSuccess = 0,
  kNvmlNotSupported = 3,
  kNvmlInsufficientSize = 7,
  kNvmlDriverNotLoaded = 9,
  kNvmlVersionMismatch = 18
};
enum NvmlClock : int { kNvmlSm = 1, kNvmlMemoryClock = 2 };

// Name, symbol, arguments. Only the first three are required: a function that a driver lacks is a value that is not
// reported.
#define WW_NVML_FUNCTIONS(X)                                                                           \
  X(Init, nvmlInit_v2, ())                                                                             \
  X(DeviceGetCount, nvmlDeviceGetCount_v2, (unsigned*))                                                \
  X(DeviceGetHandleByIndex, nvmlDeviceGetHandleByIndex_v2, (unsigned, NvmlHandle*))                    \
  X(SystemGetDriverVersion, nvmlSystemGetDriverVersion, (char*, unsigned))                             \
  X(SystemGetProcessName, nvmlSystemGetProcessName, (unsigned, char*, unsigned))                       \
  X(DeviceGetName, nvmlDeviceGetName, (NvmlHandle, char*, unsigned))                                   \
  X(DeviceGetUuid, nvmlDeviceGetUUID, (NvmlHandle, char*, unsigned))                                   \
  X(DeviceGetPciInfo, nvmlDeviceGetPciInfo_v3, (NvmlHandle, NvmlPci*))                                 \
  X(DeviceGetMemoryInfo, nvmlDeviceGetMemoryInfo, (NvmlHandle, NvmlMemory*))                           \
  X(DeviceGetEccMode, nvmlDeviceGetEccMode, (NvmlHandle, int*, int*))                                  \
  X(DeviceGetTotalEccErrors, nvmlDeviceGetTotalEccErrors, (NvmlHandle, int, int, unsigned long long*)) \
  X(DeviceGetMigMode, nvmlDeviceGetMigMode, (NvmlHandle, unsigned*, unsigned*))                        \
  X(DeviceGetComputeMode, nvmlDeviceGetComputeMode, (NvmlHandle, int*))                                \
  X(DeviceGetPersistenceMode, nvmlDeviceGetPersistenceMode, (NvmlHandle, int*))                        \
  X(DeviceGetPowerUsage, nvmlDeviceGetPowerUsage, (NvmlHandle, unsigned*))                             \
  X(DeviceGetPowerLimit, nvmlDeviceGetEnforcedPowerLimit, (NvmlHandle, unsigned*))                     \
  X(DeviceGetDefaultPowerLimit, nvmlDeviceGetPowerManagementDefaultLimit, (NvmlHandle, unsigned*))     \
  X(DeviceGetTemperature, nvmlDeviceGetTemperature, (NvmlHandle, int, unsigned*))                      \
  X(DeviceGetClockInfo, nvmlDeviceGetClockInfo, (NvmlHandle, int, unsigned*))                          \
  X(DeviceGetMaxClockInfo, nvmlDeviceGetMaxClockInfo, (NvmlHandle, int, unsigned*))                    \
  X(DeviceGetSlowdown, nvmlDeviceGetCurrentClocksThrottleReasons, (NvmlHandle, unsigned long long*))   \
  X(DeviceGetProcesses, nvmlDeviceGetComputeRunningProcesses_v3, (NvmlHandle, unsigned*, NvmlProcess*))

struct Nvml {
#define WW_DECLARE(name, symbol, arguments) int(*name) arguments = nullptr;
  WW_NVML_FUNCTIONS(WW_DECLARE)
#undef WW_DECLARE
  const char* (*ErrorString)(int) = nullptr;

  std::string Describe(int result) const;  // "Driver/library version mismatch (18)"
};

// kEnvironment, with a remedy, if there is no NVML or it fails to start. Initialized; never closed.
Result<Nvml> LoadNvml();

// Every GPU of the machine. `nvml` may lack any function except those that count GPUs.
core::NvmlPart ReadNvml(const Nvml& nvml);

}  // namespace warpwright::gpu
