// How a worker's report about its machine is encoded (base/fields.h). Values that a worker of another version does not
// report keep their defaults.
#pragma once

#include "base/fields.h"
#include "core/machine.h"

namespace warpwright::core {

template <typename V>
void Describe(V& field, const Problem*) {
  using T = Problem;
  field.Optional("message", &T::message);
  field.Optional("remedy", &T::remedy);
}
template <typename V>
void Describe(V& field, const GpuProcess*) {
  using T = GpuProcess;
  field.Optional("pid", &T::pid);
  field.Optional("name", &T::name);
  field.Optional("memory_bytes", &T::memory_bytes);
}
template <typename V>
void Describe(V& field, const GpuState*) {
  using T = GpuState;
  field.Optional("name", &T::name);
  field.Optional("uuid", &T::uuid);
  field.Optional("pci", &T::pci);
  field.Optional("memory_bytes", &T::memory_bytes);
  field.Optional("free_bytes", &T::free_bytes);
  field.Optional("ecc", &T::ecc);
  field.Optional("mig", &T::mig);
  field.Optional("persistence", &T::persistence);
  field.Optional("uncorrected_errors", &T::uncorrected_errors);
  field.Optional("lifetime_uncorrected_errors", &T::lifetime_uncorrected_errors);
  field.Optional("compute_mode", &T::compute_mode);
  field.Optional("power_watts", &T::power_watts);
  field.Optional("power_limit_watts", &T::power_limit_watts);
  field.Optional("default_power_limit_watts", &T::default_power_limit_watts);
  field.Optional("temperature_celsius", &T::temperature_celsius);
  field.Optional("sm_mhz", &T::sm_mhz);
  field.Optional("max_sm_mhz", &T::max_sm_mhz);
  field.Optional("memory_mhz", &T::memory_mhz);
  field.Optional("max_memory_mhz", &T::max_memory_mhz);
  field.Optional("slowed_by", &T::slowed_by);
  field.Optional("processes", &T::processes);
}
template <typename V>
void Describe(V& field, const GpuFacts*) {
  using T = GpuFacts;
  field("name", &T::name);
  field("uuid", &T::uuid);
  field("compute_major", &T::compute_major);
  field("compute_minor", &T::compute_minor);
  field("multiprocessors", &T::multiprocessors);
  field("clock_khz", &T::clock_khz);
  field("l2_bytes", &T::l2_bytes);
  field("memory_clock_khz", &T::memory_clock_khz);
  field("bus_width_bits", &T::bus_width_bits);
  field("memory_bytes", &T::memory_bytes);
  field("free_bytes", &T::free_bytes);
  field("driver_version", &T::driver_version);
}
template <typename V>
void Describe(V& field, const ToolkitPart*) {
  using T = ToolkitPart;
  field.Optional("root", &T::root);
  field.Optional("nvcc", &T::nvcc);
  field.Optional("compute_sanitizer", &T::compute_sanitizer);
  field.Optional("trouble", &T::problem);
}
template <typename V>
void Describe(V& field, const HostCompilerPart*) {
  using T = HostCompilerPart;
  field.Optional("version", &T::version);
  field.Optional("trouble", &T::problem);
}
template <typename V>
void Describe(V& field, const SandboxPart*) {
  using T = SandboxPart;
  field.Optional("landlock", &T::landlock);
  field.Optional("missing", &T::missing);
}
template <typename V>
void Describe(V& field, const NvmlPart*) {
  using T = NvmlPart;
  field.Optional("driver_release", &T::driver_release);
  field.Optional("gpus", &T::gpus);
  field.Optional("trouble", &T::problem);
}
template <typename V>
void Describe(V& field, const DriverPart*) {
  using T = DriverPart;
  field.Optional("version", &T::version);
  field.Optional("gpus", &T::gpus);
  field.Optional("trouble", &T::problem);
}
template <typename V>
void Describe(V& field, const DevicePart*) {
  using T = DevicePart;
  field.Optional("pci", &T::pci);
  field.Optional("facts", &T::facts);
  field.Optional("trouble", &T::problem);
}
template <typename V>
void Describe(V& field, const NvrtcPart*) {
  using T = NvrtcPart;
  field.Optional("version", &T::version);
  field.Optional("arch", &T::arch);
  field.Optional("trouble", &T::problem);
}
template <typename V>
void Describe(V& field, const CuptiPart*) {
  using T = CuptiPart;
  field.Optional("path", &T::path);
  field.Optional("version", &T::version);
  field.Optional("trouble", &T::problem);
}
template <typename V>
void Describe(V& field, const CountersPart*) {
  using T = CountersPart;
  field.Optional("chip", &T::chip);
  field.Optional("trouble", &T::problem);
}
template <typename V>
void Describe(V& field, const Machine*) {
  using T = Machine;
  field.Sparse("toolkit", &T::toolkit);
  field.Sparse("host_compiler", &T::host_compiler);
  field.Sparse("sandbox", &T::sandbox);
  field.Sparse("nvml", &T::nvml);
  field.Sparse("driver", &T::driver);
  field.Sparse("device", &T::device);
  field.Sparse("nvrtc", &T::nvrtc);
  field.Sparse("cupti", &T::cupti);
  field.Sparse("counters", &T::counters);
}

}  // namespace warpwright::core
