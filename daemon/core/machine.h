// What a worker sees of the machine that it runs on, for `warpwright doctor`. A part that is absent was not looked at,
// or the worker ended before it came to it; a value that is absent is one that the driver does not tell.
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
  int64_t pid = 0;   // of the host, which a container does not know
  std::string name;  // empty: not told
  std::optional<int64_t> memory_bytes;
};

// The state of a physical GPU, as NVML tells it.
struct GpuState {
  std::string name, uuid;  // "GPU-2c24..."
  std::string pci;         // "00000000:19:00.0"
  std::optional<int64_t> memory_bytes, free_bytes;
  std::optional<bool> ecc, mig, persistence;
  std::optional<int64_t> uncorrected_errors;  // since the driver was loaded
  std::optional<int64_t> lifetime_uncorrected_errors;
  std::string compute_mode;  // "default", "exclusive process", "prohibited"; empty: not told
  std::optional<double> power_watts, power_limit_watts, default_power_limit_watts;
  std::optional<int> temperature_celsius;
  std::optional<int> sm_mhz, max_sm_mhz, memory_mhz, max_memory_mhz;  // now, and at most
  std::vector<std::string> slowed_by;                // "power cap"; being idle and clocks that somebody set are none
  std::optional<std::vector<GpuProcess>> processes;  // before the worker itself used it
};

struct Machine {
  struct ToolkitPart {
    std::string root;
    bool nvcc = false, compute_sanitizer = false;  // there or on PATH
    Problem problem;
  };
  struct HostCompilerPart {
    std::string version;  // "g++ (Debian 12.2.0-14) 12.2.0"
    Problem problem;
  };
  struct SandboxPart {
    int landlock = 0;                  // its version in the kernel; 0: none
    std::vector<std::string> missing;  // what of a sandbox cannot be enforced
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
  struct DevicePart {  // the one that was asked for
    std::string pci;   // of the physical GPU
    GpuFacts facts;
    Problem problem;  // no context can be made on it
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
    std::string chip;  // "GH100": a context of it may count
    Problem problem;
  };

  // In the order in which the worker tells them; what may end a worker comes last.
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
