// The rows of a GPU.
#include <algorithm>
#include <charconv>

#include "app/check_rows.h"
#include "config/chip_file.h"
#include "core/device_name.h"

namespace warpwright::app {
namespace {

constexpr double kLowMemoryGib = 8,
                 kNoMemoryGib = 1;  // two sets of buffers, references, the L2 flush
constexpr int kHotCelsius = 85;

// "13.0" and 13000 as 13000; 0: unreadable.
int CudaVersion(const std::string& dotted) {
  int major = 0, minor = 0;
  const char* end = dotted.data() + dotted.size();
  const auto [dot, error] = std::from_chars(dotted.data(), end, major);
  if (error != std::errc() || dot == end || *dot != '.') return 0;
  if (std::from_chars(dot + 1, end, minor).ec != std::errc()) return 0;
  return major * 1000 + minor * 10;
}
std::string Dotted(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

class GpuRows {
 public:
  GpuRows(const core::Machine& machine, const GpuView& gpu, CheckRows& rows)
      : machine_(machine), gpu_(gpu), rows_(rows) {}

  void Run() {
    Driver();
    Nvml();
    Device();
    if (gpu_.there) {
      Memory();
      if (gpu_.state != nullptr) State(*gpu_.state);
    }
    Counters();
  }

 private:
  void Driver() {
    if (!machine_.driver) return rows_.Unknown("driver");
    const auto& driver = *machine_.driver;
    if (driver.problem) return rows_.Add("driver", gpu_.severity, driver.problem.message, driver.problem.remedy);
    const std::string release =
        machine_.nvml && !machine_.nvml->driver_release.empty() ? machine_.nvml->driver_release + ", " : "";
    const std::string message = fmt::format("{}CUDA {}", release, Dotted(driver.version));
    const int toolkit = machine_.nvrtc ? CudaVersion(machine_.nvrtc->version) : 0;
    if (toolkit / 1000 > driver.version / 1000)
      return rows_.Fail(
          "driver",
          fmt::format("{}: older than the toolkit's CUDA {}, whose kernels it does not load", message, Dotted(toolkit)),
          fmt::format("install a driver for CUDA {} (580 or newer for 13.0), or set CUDA_HOME to a toolkit of the "
                      "driver's version",
                      Dotted(toolkit)));
    if (toolkit > driver.version)
      return rows_.Warn(
          "driver", fmt::format("{}: older than the toolkit's CUDA {}", message, Dotted(toolkit)),
          "kernels load as long as the major version is the same; newer features do not: update the driver");
    rows_.Ok("driver", message);
  }

  void Device() {
    if (!machine_.driver) return rows_.Unknown("gpu");
    if (!gpu_.there)
      return rows_.Add("gpu", gpu_.severity, "no GPU: only simulated devices are available",
                       "use --device " + config::SimulatedDevices() + "; in a container, start it with --gpus all");
    const int visible = machine_.driver->gpus;
    if (visible <= 0)
      return rows_.Fail(
          "gpu", "the machine has a GPU, but CUDA reports none",
          "unset CUDA_VISIBLE_DEVICES or set it to a GPU's number; in a container, start it with --gpus all");
    if (!machine_.device) return rows_.Unknown("gpu");
    const auto& device = *machine_.device;
    if (device.problem)
      return rows_.Fail("gpu", device.problem.message,
                        device.problem.remedy.empty() ? "check nvidia-smi and the kernel log" : device.problem.remedy);
    rows_.Ok("gpu", fmt::format("{}, compute {}.{}, {} multiprocessors{}{}", device.facts.name,
                                device.facts.compute_major, device.facts.compute_minor, device.facts.multiprocessors,
                                gpu_.state != nullptr && !gpu_.state->uuid.empty() ? ", " + gpu_.state->uuid : "",
                                visible > 1 ? fmt::format("; one of {}", visible) : ""));
  }

  void Nvml() {
    if (!machine_.nvml) return rows_.Unknown("nvml");
    if (machine_.nvml->problem)
      return rows_.Warn(
          "nvml", machine_.nvml->problem.message + ": clocks, errors and other processes on the GPU remain unknown",
          machine_.nvml->problem.remedy);
    if (gpu_.there && gpu_.state == nullptr)
      return rows_.Warn("nvml", "NVML does not know this GPU: its clocks, errors and other processes remain unknown",
                        "check nvidia-smi -L");
    rows_.Ok("nvml", fmt::format("{} GPU{}", machine_.nvml->gpus.size(), machine_.nvml->gpus.size() == 1 ? "" : "s"));
  }

  void Memory() {
    double free = -1, total = -1;
    if (machine_.device && !machine_.device->problem &&
        machine_.device->facts.memory_bytes > 0) {  // for a MIG instance, its share
      free = static_cast<double>(machine_.device->facts.free_bytes);
      total = static_cast<double>(machine_.device->facts.memory_bytes);
    } else if (gpu_.state != nullptr && gpu_.state->free_bytes && gpu_.state->memory_bytes) {
      free = static_cast<double>(*gpu_.state->free_bytes);
      total = static_cast<double>(*gpu_.state->memory_bytes);
    } else {
      return;
    }
    const std::string message = fmt::format("{} of {} free", FormatGib(free), FormatGib(total));
    const char* remedy = "stop other programs on the GPU (row `processes`), or choose another with --device cuda:1";
    if (free < kNoMemoryGib * kGib) return rows_.Fail("memory", message, remedy);
    if (free < kLowMemoryGib * kGib) return rows_.Warn("memory", message + ": large cases will not fit", remedy);
    rows_.Ok("memory", message);
  }

  void State(const core::GpuState& gpu) {
    Ecc(gpu);
    if (gpu.mig.value_or(false))
      rows_.Warn("mig", "MIG is on: times apply to this instance with its neighbours, counters may be missing",
                 "for numbers of the whole GPU: nvidia-smi -mig 0 (as root, with the GPU idle)");
    else rows_.Ok("mig", gpu.mig ? "off" : "not available");
    ComputeMode(gpu);
    if (gpu.persistence) {
      if (*gpu.persistence) rows_.Ok("persistence", "on");
      else
        rows_.Warn("persistence", "persistence mode is off: every fresh worker waits for the driver",
                   "nvidia-smi -pm 1, or run nvidia-persistenced");
    }
    Power(gpu);
    Clocks(gpu);
    Processes(gpu);
  }

  void Ecc(const core::GpuState& gpu) {
    const int64_t now = gpu.uncorrected_errors.value_or(0), ever = gpu.lifetime_uncorrected_errors.value_or(0);
    if (now > 0)
      return rows_.Fail(
          "ecc",
          fmt::format("{} uncorrected memory error{} since the driver was loaded: results and times cannot be trusted",
                      now, now == 1 ? "" : "s"),
          "reset the GPU (nvidia-smi --gpu-reset, as root, with the GPU idle) or reboot; if the errors return, have it "
          "replaced");
    if (!gpu.ecc) return rows_.Ok("ecc", "not available");
    if (!*gpu.ecc)
      return rows_.Warn("ecc", "ECC is off: a flipped bit looks like an incorrect kernel",
                        "nvidia-smi -e 1 (as root), then reset the GPU");
    rows_.Ok("ecc", ever > 0 ? fmt::format("on, no uncorrected error since the driver was loaded, {} before", ever)
                             : "on, no uncorrected error");
  }

  void ComputeMode(const core::GpuState& gpu) {
    if (gpu.compute_mode.empty() || gpu.compute_mode == "default")
      return rows_.Ok("compute_mode", gpu.compute_mode.empty() ? "not reported" : "default");
    rows_.Fail(
        "compute_mode",
        fmt::format("the compute mode is '{}': the original and the candidates run in two processes", gpu.compute_mode),
        "nvidia-smi -c DEFAULT (as root)");
  }

  void Power(const core::GpuState& gpu) {
    if (!gpu.power_watts && !gpu.temperature_celsius) return;
    std::vector<std::string> parts;
    if (gpu.power_watts)
      parts.push_back(gpu.power_limit_watts
                          ? fmt::format("{:.0f} W of {:.0f} W", *gpu.power_watts, *gpu.power_limit_watts)
                          : fmt::format("{:.0f} W", *gpu.power_watts));
    if (gpu.temperature_celsius) parts.push_back(fmt::format("{} °C", *gpu.temperature_celsius));
    const std::string message = fmt::format("{}", fmt::join(parts, ", "));
    if (gpu.temperature_celsius.value_or(0) >= kHotCelsius)
      return rows_.Warn("power", message + ": hot, clocks will drop",
                        "check its cooling, or wait until other programs have finished");
    if (gpu.power_limit_watts && gpu.default_power_limit_watts &&
        *gpu.power_limit_watts < *gpu.default_power_limit_watts - 1)
      return rows_.Warn(
          "power",
          fmt::format("{}; its default limit is {:.0f} W: times are not comparable with those of other GPUs", message,
                      *gpu.default_power_limit_watts),
          fmt::format("nvidia-smi -pl {:.0f} (as root), unless the limit is intentional",
                      *gpu.default_power_limit_watts));
    rows_.Ok("power", message);
  }

  void Clocks(const core::GpuState& gpu) {
    const auto clock = [](const char* name, const std::optional<int>& now, const std::optional<int>& most) {
      return fmt::format("{} {} of {} MHz", name, now ? std::to_string(*now) : "?", most ? std::to_string(*most) : "?");
    };
    const std::string message =
        clock("SM", gpu.sm_mhz, gpu.max_sm_mhz) + ", " + clock("memory", gpu.memory_mhz, gpu.max_memory_mhz);
    if (!gpu.slowed_by.empty())
      return rows_.Warn("clocks", fmt::format("{}, slowed by {}", message, fmt::join(gpu.slowed_by, ", ")),
                        "times will scatter and pairs be discarded: stop other programs, check cooling and power; "
                        "nvidia-smi -q -d PERFORMANCE has the details");
    rows_.Ok("clocks", message);
  }

  void Processes(const core::GpuState& gpu) {
    if (!gpu.processes) return rows_.Ok("processes", "the driver does not list them here");
    if (gpu.processes->empty()) return rows_.Ok("processes", "no other process uses the GPU");
    std::vector<std::string> names;
    for (const auto& process : *gpu.processes)
      names.push_back(
          fmt::format("{} ({}{})", process.pid, process.name.empty() ? "name not reported" : process.name,
                      process.memory_bytes ? ", " + FormatGib(static_cast<double>(*process.memory_bytes)) : ""));
    const size_t count = names.size();
    if (names.size() > 5) names.resize(5);
    rows_.Warn("processes",
               fmt::format("{} other process{} on the GPU: {}{}", count, count == 1 ? "" : "es", fmt::join(names, ", "),
                           count > 5 ? ", ..." : ""),
               "times will scatter: stop them, wait, or choose another GPU with --device cuda:1");
  }

  // Without a GPU nothing is missing.
  void Counters() {
    const CheckStatus missing = gpu_.there ? CheckStatus::kWarning : CheckStatus::kOk;
    if (!machine_.cupti) return rows_.Unknown("cupti");
    if (machine_.cupti->problem)
      rows_.Add("cupti", missing, machine_.cupti->problem.message, machine_.cupti->problem.remedy);
    else rows_.Ok("cupti", fmt::format("CUPTI {}, {}", machine_.cupti->version, machine_.cupti->path));
    if (!gpu_.there || machine_.cupti->problem || !machine_.device || machine_.device->problem) return;
    if (!machine_.counters) return rows_.Unknown("counters");
    if (machine_.counters->problem)
      return rows_.Warn("counters", machine_.counters->problem.message, machine_.counters->problem.remedy);
    rows_.Ok("counters", "permitted on " + machine_.counters->chip);
  }

  const core::Machine& machine_;
  const GpuView& gpu_;
  CheckRows& rows_;
};

const core::GpuState* FindState(const core::Machine& machine) {
  if (!machine.nvml) return nullptr;
  const auto& gpus = machine.nvml->gpus;
  const std::string pci = machine.device ? machine.device->pci : "";
  const auto found =
      std::find_if(gpus.begin(), gpus.end(), [&](const core::GpuState& gpu) { return !pci.empty() && gpu.pci == pci; });
  if (found != gpus.end()) return &*found;
  return gpus.size() == 1 ? &gpus.front() : nullptr;
}

}  // namespace

GpuView ViewGpu(const DoctorFacts& facts) {
  const core::Machine& machine = facts.machine;
  GpuView gpu;
  const auto device = core::DeviceName::Parse(facts.device);
  gpu.simulated_only = device && device->kind == core::DeviceKind::kSim;
  const bool nvml_sees = machine.nvml && !machine.nvml->gpus.empty();
  gpu.there = !gpu.simulated_only && (nvml_sees || (machine.driver && machine.driver->gpus > 0));
  if ((device && device->kind == core::DeviceKind::kCuda) || gpu.there) gpu.severity = CheckStatus::kError;
  if (gpu.there) gpu.state = FindState(machine);
  return gpu;
}

void AddGpuRows(const core::Machine& machine, const GpuView& gpu, CheckRows& rows) {
  GpuRows(machine, gpu, rows).Run();
}

}  // namespace warpwright::app
