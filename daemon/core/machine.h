// What a worker reports about its machine, for `warpwright doctor`. An absent part was not checked, or the worker ended
// before it reached it; an absent value is one that the driver does not report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/chip.h"

namespace warpwright::core {

// Why a part does not work, and what the user can do. Empty: it works.
struct Problem {
  std::string message, remedy;
  explicit operator bool() const { return !message.empty(); }
};

struct GpuProcess {
  int64_t pid = 0;   // on the host, which a container does not see
  std::string name;  // empty: not reported
  std::optional<int64_t> memory_bytes;
};

// The state of a physical GPU, as reported by NVML.
struct GpuState {
  std::string name, uuid;  // "GPU-2c24..."
  std::string pci;         // "00000000:19:00.0"
  std::optional<int64_t> memory_bytes, free_bytes;
  std::optional<bool> ecc, mig, persistence;
  std::optional<int64_t> uncorrected_errors;  // since the driver was loaded
  std::optional<int64_t> lifetime_uncorrected_errors;
  std::string compute_mode;  // "default", "exclusive process", "prohibited"; empty: not reported
  std::optional<double> power_watts, power_limit_watts, default_power_limit_watts;
  std::optional<int> temperature_celsius;
  std::optional<int> sm_mhz, max_sm_mhz, memory_mhz, max_memory_mhz;  // current and maximum
  std::vector<std::string> slowed_by;                // "power cap"; idling and clocks set by a user are not included
  std::optional<std::vector<GpuProcess>> processes;  // before the worker itself used the GPU
};

struct ToolkitPart {
  std::string root;
  bool nvcc = false, compute_sanitizer = false;  // in the toolkit or on PATH
  Problem problem;
};
struct HostCompilerPart {
  std::string version;  // "g++ (Debian 12.2.0-14) 12.2.0"
  Problem problem;
};
struct SandboxPart {
  int landlock = 0;                  // the kernel's Landlock ABI version; 0: none
  std::vector<std::string> missing;  // parts of a sandbox that cannot be enforced
};
struct NvmlPart {
  std::string driver_release;  // "580.159.04"
  std::vector<GpuState> gpus;
  Problem problem;
};
struct DriverPart {
  int version = 0;  // 13000: CUDA 13.0
  int gpus = 0;
  Problem problem;
};
struct DevicePart {  // the requested device
  std::string pci;   // of the physical GPU
  GpuFacts facts;
  Problem problem;  // no context can be created on it
};
struct NvrtcPart {
  std::string version, arch;  // "13.0", "sm_90": a kernel was compiled for it
  Problem problem;
};
struct CuptiPart {
  std::string path;
  uint32_t version = 0;  // 130001
  Problem problem;
};
struct CountersPart {
  std::string chip;  // "GH100": its contexts can read counters
  Problem problem;
};

struct Machine {
  // In the order in which the worker reports them; parts that may end a worker come last.
  std::optional<ToolkitPart> toolkit;
  std::optional<HostCompilerPart> host_compiler;
  std::optional<SandboxPart> sandbox;
  std::optional<NvmlPart> nvml;
  std::optional<DriverPart> driver;
  std::optional<DevicePart> device;
  std::optional<NvrtcPart> nvrtc;
  std::optional<CuptiPart> cupti;
  std::optional<CountersPart> counters;
};

}  // namespace warpwright::core
