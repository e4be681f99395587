#include "worker/machine_json.h"

#include "worker/json_types.h"

namespace warpwright {

using nlohmann::json;

// Values that a worker of another version does not tell keep their defaults.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Trouble, message, remedy)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(GpuProcess, pid, name, memory_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(GpuState, name, uuid, pci, memory_bytes, free_bytes, ecc, mig, persistence, uncorrected_errors,
                                                lifetime_uncorrected_errors, compute_mode, power_watts, power_limit_watts,
                                                default_power_limit_watts, temperature_celsius, sm_mhz, max_sm_mhz, memory_mhz, max_memory_mhz,
                                                slowed_by, processes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(GpuFacts, name, uuid, compute_major, compute_minor, multiprocessors, clock_khz, l2_bytes,
                                                memory_clock_khz, bus_width_bits, memory_bytes, free_bytes, driver_version)

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Machine::ToolkitPart, root, nvcc, compute_sanitizer, trouble)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Machine::HostCompilerPart, version, trouble)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Machine::SandboxPart, landlock, missing)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Machine::NvmlPart, driver_release, gpus, trouble)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Machine::DriverPart, version, gpus, trouble)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Machine::DevicePart, pci, facts, trouble)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Machine::NvrtcPart, version, arch, trouble)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Machine::CuptiPart, path, version, trouble)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Machine::CountersPart, chip, trouble)

namespace {

// Calls `visit` with the name and the member of every part.
template <typename M, typename Visit>
void ForEachPart(M& machine, const Visit& visit) {
  visit("toolkit", machine.toolkit);
  visit("host_compiler", machine.host_compiler);
  visit("sandbox", machine.sandbox);
  visit("nvml", machine.nvml);
  visit("driver", machine.driver);
  visit("device", machine.device);
  visit("nvrtc", machine.nvrtc);
  visit("cupti", machine.cupti);
  visit("counters", machine.counters);
}

}  // namespace

std::string EncodeMachine(const Machine& machine) {
  json j = json::object();
  ForEachPart(machine, [&](const char* name, const auto& part) {
    if (part) j[name] = *part;
  });
  // Names of processes and devices are whatever bytes somebody gave them.
  return j.dump(-1, ' ', false, json::error_handler_t::replace);
}

Status DecodeMachine(std::string_view line, Machine& machine) {
  const json j = json::parse(line, nullptr, false);
  if (!j.is_object()) return Fail(ErrorCode::kCorrupt, "the worker's description of its machine does not decode: no JSON object");
  try {
    ForEachPart(machine, [&](const char* name, auto& part) {
      if (!j.contains(name)) return;
      auto value = typename std::decay_t<decltype(part)>::value_type{};  // clang knows no emplace() of a nested class with initializers
      j.at(name).get_to(value);
      part = std::move(value);
    });
    return {};
  } catch (const json::exception& e) {
    return Fail(ErrorCode::kCorrupt, std::string("the worker's description of its machine does not decode: ") + e.what());
  }
}

}  // namespace warpwright
