#include "cli/doctor_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "config/chip_file.h"

namespace warpwright {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;
constexpr double kLowDiskGib = 5, kFullDiskGib = 0.25;       // compiled modules and recorders
constexpr double kLowMemoryGib = 8, kNoMemoryGib = 1;        // buffers twice, their references and what flushes the L2
constexpr double kSlowStartSeconds = 5;
constexpr int kHotCelsius = 85;

std::string Gib(double bytes) { return fmt::format("{:.1f} GiB", bytes / kGib); }

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

class Doctor {
 public:
  explicit Doctor(const DoctorFacts& facts) : facts_(facts), machine_(facts.machine) {
    asked_for_gpu_ = facts.device.starts_with("cuda");
    simulated_only_ = facts.device.starts_with("sim");
    const bool nvml_sees = machine_.nvml && !machine_.nvml->gpus.empty();
    has_gpu_ = !simulated_only_ && (nvml_sees || (machine_.driver && machine_.driver->gpus > 0));
    gpu_severity_ = asked_for_gpu_ || has_gpu_ ? CheckStatus::kError : CheckStatus::kWarning;
    if (has_gpu_) state_ = FindState();
  }

  std::vector<Check> Run() {
    Worker();
    Sandbox();
    Toolkit();
    HostTools();
    Kernels();
    if (!simulated_only_) Gpu();
    Disk();
    Git();
    return std::move(checks_);
  }

 private:
  void Add(const char* name, CheckStatus status, std::string message, std::string remedy = {}) {
    if (status == CheckStatus::kOk) remedy.clear();
    else if (remedy.empty()) remedy = "see what the worker says by hand: warpwright-worker --cache DIR --doctor cuda";
    checks_.push_back({name, status, std::move(message), std::move(remedy)});
  }
  void Ok(const char* name, std::string message) { Add(name, CheckStatus::kOk, std::move(message)); }
  void Warn(const char* name, std::string message, std::string remedy) { Add(name, CheckStatus::kWarning, std::move(message), std::move(remedy)); }
  void Fail(const char* name, std::string message, std::string remedy) { Add(name, CheckStatus::kError, std::move(message), std::move(remedy)); }
  // The row of a part that the worker did not come to, whose trouble is a row of its own; that row is enough where it came to nothing.
  void Unknown(const char* name) {
    if (machine_.toolkit) Warn(name, "not known: the worker ended before it came to this", "see the row `worker`");
  }

  // The physical GPU of the device; the only one, where the device itself is not known.
  const GpuState* FindState() const {
    if (!machine_.nvml) return nullptr;
    const auto& gpus = machine_.nvml->gpus;
    const std::string pci = machine_.device ? machine_.device->pci : "";
    const auto found = std::find_if(gpus.begin(), gpus.end(), [&](const GpuState& gpu) { return !pci.empty() && gpu.pci == pci; });
    if (found != gpus.end()) return &*found;
    return gpus.size() == 1 ? &gpus.front() : nullptr;
  }

  void Worker() {
    if (facts_.worker) Fail("worker", facts_.worker.message, facts_.worker.remedy);
    else Ok("worker", "it looked at everything");
    if (!facts_.start) return;
    if (facts_.start->trouble) return Fail("start", facts_.start->trouble.message, facts_.start->trouble.remedy);
    const std::string message = fmt::format("a fresh worker answers in {:.2f} s", facts_.start->seconds);
    if (facts_.start->seconds > kSlowStartSeconds)
      Warn("start", message, "every candidate that faults costs as much: keep the worker and its cache on a local disk, and on a GPU switch persistence mode on");
    else
      Ok("start", message);
  }

  void Sandbox() {
    std::vector<std::string> missing = facts_.sandbox_notes;
    if (machine_.sandbox)
      for (const auto& note : machine_.sandbox->missing)
        if (std::find(missing.begin(), missing.end(), note) == missing.end()) missing.push_back(note);
    if (!machine_.sandbox && missing.empty()) return Unknown("sandbox");
    if (missing.empty()) return Ok("sandbox", fmt::format("Landlock {} and seccomp", machine_.sandbox->landlock));
    Warn("sandbox", fmt::format("{}", fmt::join(missing, "; ")),
         "candidates' code is less confined: use a kernel with Landlock (lsm=landlock,...) and seccomp, allow both in the container's profile, or run in a "
         "container of its own");
  }

  void Toolkit() {
    if (!machine_.toolkit) {
      Unknown("toolkit");
    } else {
      const auto& part = *machine_.toolkit;
      if (part.trouble) Fail("toolkit", part.trouble.message, part.trouble.remedy);
      else Ok("toolkit", part.root);
      OptionalTool("nvcc", part.nvcc, "nvcc", "NVRTC compiles the kernels; nvcc is for your own build: install cuda-nvcc, or put it on PATH");
      OptionalTool("compute_sanitizer", part.compute_sanitizer, "compute-sanitizer",
                   "the simulator and guarded memory check the kernels; to look into a finding by hand, install cuda-sanitizer, or put it on PATH");
    }
    if (!machine_.nvrtc) return Unknown("nvrtc");
    const auto& nvrtc = *machine_.nvrtc;
    if (nvrtc.trouble) Fail("nvrtc", nvrtc.trouble.message, nvrtc.trouble.remedy);
    else Ok("nvrtc", fmt::format("NVRTC {} compiles for {}", nvrtc.version, nvrtc.arch));
  }

  // Only a machine with a GPU may have a use for it.
  void OptionalTool(const char* name, bool present, const char* program, const char* remedy) {
    if (present) return Ok(name, fmt::format("{} is there", program));
    Add(name, has_gpu_ ? CheckStatus::kWarning : CheckStatus::kOk, fmt::format("no {}: warpwright needs none", program), remedy);
  }

  void HostTools() {
    if (!machine_.host_compiler) Unknown("host_compiler");
    else if (machine_.host_compiler->trouble) Fail("host_compiler", machine_.host_compiler->trouble.message, machine_.host_compiler->trouble.remedy);
    else Ok("host_compiler", machine_.host_compiler->version);
    Tried("libclang", facts_.parsed, "a CUDA file was parsed");
  }
  void Kernels() {
    Tried("simulator", facts_.simulated, "a kernel was sliced, recorded, compiled and simulated");
    if (simulated_only_ || !facts_.ran) return;
    const bool permitted = machine_.counters && !machine_.counters->trouble;  // outside of the sandbox, where the part was looked at
    if (facts_.ran->trouble || facts_.ran->notes.empty() || !permitted) return Tried("gpu_kernel", facts_.ran, "the same kernel ran on the GPU");
    Warn("gpu_kernel", fmt::format("the same kernel ran on the GPU, in a worker's sandbox: {}", fmt::join(facts_.ran->notes, "; ")),
         "outside of the sandbox it can be measured: allow the driver's devices and files in the container's profile");
  }
  void Tried(const char* name, const std::optional<Attempt>& attempt, const char* what) {
    if (!attempt) return;
    if (attempt->trouble) return Fail(name, attempt->trouble.message, attempt->trouble.remedy);
    Ok(name, fmt::format("{} in {:.2f} s", what, attempt->seconds));
  }

  void Gpu() {
    Driver();
    Nvml();
    Device();
    if (has_gpu_) {
      Memory();
      if (state_ != nullptr) State(*state_);
    }
    Counters();
  }

  void Driver() {
    if (!machine_.driver) return Unknown("driver");
    const auto& driver = *machine_.driver;
    if (driver.trouble) return Add("driver", gpu_severity_, driver.trouble.message, driver.trouble.remedy);
    const std::string release = machine_.nvml && !machine_.nvml->driver_release.empty() ? machine_.nvml->driver_release + ", " : "";
    const std::string message = fmt::format("{}CUDA {}", release, Dotted(driver.version));
    const int toolkit = machine_.nvrtc ? CudaVersion(machine_.nvrtc->version) : 0;
    if (toolkit / 1000 > driver.version / 1000)
      return Fail("driver", fmt::format("{}: older than the toolkit's CUDA {}, whose kernels it does not load", message, Dotted(toolkit)),
                  fmt::format("install a driver for CUDA {} (580 or newer for 13.0), or set CUDA_HOME to a toolkit of the driver's version", Dotted(toolkit)));
    if (toolkit > driver.version)
      return Warn("driver", fmt::format("{}: older than the toolkit's CUDA {}", message, Dotted(toolkit)),
                  "kernels load as long as the major version is the same; newer features do not: update the driver");
    Ok("driver", message);
  }

  void Device() {
    if (!machine_.driver) return Unknown("gpu");
    if (!has_gpu_)
      return Add("gpu", gpu_severity_, "no GPU: only simulated devices are available", "use --device " + SimulatedDevices() + "; in a container, start it with --gpus all");
    const int visible = machine_.driver->gpus;
    if (visible <= 0)
      return Fail("gpu", "the machine has a GPU, CUDA sees none", "unset CUDA_VISIBLE_DEVICES or give it a GPU's number; in a container, start it with --gpus all");
    if (!machine_.device) return Unknown("gpu");
    const auto& device = *machine_.device;
    if (device.trouble) return Fail("gpu", device.trouble.message, device.trouble.remedy.empty() ? "look at nvidia-smi and the kernel log" : device.trouble.remedy);
    Ok("gpu", fmt::format("{}, compute {}.{}, {} multiprocessors{}{}", device.facts.name, device.facts.compute_major, device.facts.compute_minor,
                          device.facts.multiprocessors, state_ != nullptr && !state_->uuid.empty() ? ", " + state_->uuid : "",
                          visible > 1 ? fmt::format("; one of {}", visible) : ""));
  }

  void Nvml() {
    if (!machine_.nvml) return Unknown("nvml");
    if (machine_.nvml->trouble) return Warn("nvml", machine_.nvml->trouble.message + ": clocks, errors and other users of the GPU stay unknown", machine_.nvml->trouble.remedy);
    if (has_gpu_ && state_ == nullptr) return Warn("nvml", "NVML does not know this GPU: clocks, errors and other users of it stay unknown", "look at nvidia-smi -L");
    Ok("nvml", fmt::format("{} GPU{}", machine_.nvml->gpus.size(), machine_.nvml->gpus.size() == 1 ? "" : "s"));
  }

  void Memory() {
    double free = -1, total = -1;
    if (machine_.device && !machine_.device->trouble && machine_.device->facts.memory_bytes > 0) {  // of a MIG instance, what it has
      free = static_cast<double>(machine_.device->facts.free_bytes);
      total = static_cast<double>(machine_.device->facts.memory_bytes);
    } else if (state_ != nullptr && state_->free_bytes && state_->memory_bytes) {
      free = static_cast<double>(*state_->free_bytes);
      total = static_cast<double>(*state_->memory_bytes);
    } else {
      return;
    }
    const std::string message = fmt::format("{} of {} free", Gib(free), Gib(total));
    const char* remedy = "end other programs on the GPU (row `processes`), or choose another with --device cuda:1";
    if (free < kNoMemoryGib * kGib) return Fail("memory", message, remedy);
    if (free < kLowMemoryGib * kGib) return Warn("memory", message + ": large cases will not fit", remedy);
    Ok("memory", message);
  }

  void State(const GpuState& gpu) {
    Ecc(gpu);
    if (gpu.mig.value_or(false))
      Warn("mig", "MIG is on: times hold for this instance and its neighbours, counters may be missing", "for numbers of the whole GPU: nvidia-smi -mig 0 (as root, with the GPU idle)");
    else
      Ok("mig", gpu.mig ? "off" : "not there");
    ComputeMode(gpu);
    if (gpu.persistence) {
      if (*gpu.persistence) Ok("persistence", "on");
      else Warn("persistence", "persistence mode is off: every fresh worker waits for the driver", "nvidia-smi -pm 1, or run nvidia-persistenced");
    }
    Power(gpu);
    Clocks(gpu);
    Processes(gpu);
  }

  void Ecc(const GpuState& gpu) {
    const int64_t now = gpu.uncorrected_errors.value_or(0), ever = gpu.lifetime_uncorrected_errors.value_or(0);
    if (now > 0)
      return Fail("ecc", fmt::format("{} uncorrected memory error{} since the driver was loaded: results and times cannot be trusted", now, now == 1 ? "" : "s"),
                  "reset the GPU (nvidia-smi --gpu-reset, as root, with the GPU idle) or reboot; if they come back, have it replaced");
    if (!gpu.ecc) return Ok("ecc", "not there");
    if (!*gpu.ecc) return Warn("ecc", "ECC is off: a flipped bit looks like a wrong kernel", "nvidia-smi -e 1 (as root), then reset the GPU");
    Ok("ecc", ever > 0 ? fmt::format("on, no uncorrected error since the driver was loaded, {} before", ever) : "on, no uncorrected error");
  }

  void ComputeMode(const GpuState& gpu) {
    if (gpu.compute_mode.empty() || gpu.compute_mode == "default") return Ok("compute_mode", gpu.compute_mode.empty() ? "not told" : "default");
    Fail("compute_mode", fmt::format("the compute mode is '{}': the original and the candidates run in two processes", gpu.compute_mode), "nvidia-smi -c DEFAULT (as root)");
  }

  void Power(const GpuState& gpu) {
    if (!gpu.power_watts && !gpu.temperature_celsius) return;
    std::vector<std::string> parts;
    if (gpu.power_watts) parts.push_back(gpu.power_limit_watts ? fmt::format("{:.0f} W of {:.0f} W", *gpu.power_watts, *gpu.power_limit_watts) : fmt::format("{:.0f} W", *gpu.power_watts));
    if (gpu.temperature_celsius) parts.push_back(fmt::format("{} °C", *gpu.temperature_celsius));
    const std::string message = fmt::format("{}", fmt::join(parts, ", "));
    if (gpu.temperature_celsius.value_or(0) >= kHotCelsius) return Warn("power", message + ": hot, clocks will fall", "look after its cooling, or wait until others are done");
    if (gpu.power_limit_watts && gpu.default_power_limit_watts && *gpu.power_limit_watts < *gpu.default_power_limit_watts - 1)
      return Warn("power", fmt::format("{}; its default limit is {:.0f} W: times are not comparable with those of others", message, *gpu.default_power_limit_watts),
                  fmt::format("nvidia-smi -pl {:.0f} (as root), if the limit is not there for a reason", *gpu.default_power_limit_watts));
    Ok("power", message);
  }

  void Clocks(const GpuState& gpu) {
    const auto clock = [](const char* name, const std::optional<int>& now, const std::optional<int>& most) {
      return fmt::format("{} {} of {} MHz", name, now ? std::to_string(*now) : "?", most ? std::to_string(*most) : "?");
    };
    const std::string message = clock("SM", gpu.sm_mhz, gpu.max_sm_mhz) + ", " + clock("memory", gpu.memory_mhz, gpu.max_memory_mhz);
    if (!gpu.slowed_by.empty())
      return Warn("clocks", fmt::format("{}, slowed by {}", message, fmt::join(gpu.slowed_by, ", ")),
                  "times will scatter and pairs be discarded: end other programs, look after cooling and power; nvidia-smi -q -d PERFORMANCE says more");
    Ok("clocks", message);
  }

  void Processes(const GpuState& gpu) {
    if (!gpu.processes) return Ok("processes", "the driver does not list them here");
    if (gpu.processes->empty()) return Ok("processes", "nobody else uses the GPU");
    std::vector<std::string> names;
    for (const auto& process : *gpu.processes)
      names.push_back(fmt::format("{} ({}{})", process.pid, process.name.empty() ? "name not told" : process.name,
                                  process.memory_bytes ? ", " + Gib(static_cast<double>(*process.memory_bytes)) : ""));
    const size_t count = names.size();
    if (names.size() > 5) names.resize(5);
    Warn("processes", fmt::format("{} other process{} on the GPU: {}{}", count, count == 1 ? "" : "es", fmt::join(names, ", "), count > 5 ? ", ..." : ""),
         "times will scatter: end them, wait, or choose another GPU with --device cuda:1");
  }

  // Without a GPU nothing is missed.
  void Counters() {
    const CheckStatus missing = has_gpu_ ? CheckStatus::kWarning : CheckStatus::kOk;
    if (!machine_.cupti) return Unknown("cupti");
    if (machine_.cupti->trouble)
      Add("cupti", missing, machine_.cupti->trouble.message, machine_.cupti->trouble.remedy);
    else
      Ok("cupti", fmt::format("CUPTI {}, {}", machine_.cupti->version, machine_.cupti->path));
    if (!has_gpu_ || machine_.cupti->trouble || !machine_.device || machine_.device->trouble) return;
    if (!machine_.counters) return Unknown("counters");
    if (machine_.counters->trouble) return Warn("counters", machine_.counters->trouble.message, machine_.counters->trouble.remedy);
    Ok("counters", "permitted on " + machine_.counters->chip);
  }

  void Disk() {
    if (facts_.cache_trouble) return Fail("cache", facts_.cache_trouble.message, facts_.cache_trouble.remedy);
    Ok("cache", facts_.cache + " can be written");
    if (!facts_.free_disk_bytes) return;
    const double free = static_cast<double>(*facts_.free_disk_bytes);
    const std::string message = fmt::format("{} free for the cache", Gib(free));
    const char* remedy = "make room, or name a folder on another disk with --cache";
    if (free < kFullDiskGib * kGib) return Fail("disk", message, remedy);
    if (free < kLowDiskGib * kGib) return Warn("disk", message, remedy);
    Ok("disk", message);
  }

  void Git() {
    if (!facts_.has_repository) return Warn("git_identity", facts_.repository.message, facts_.repository.remedy);
    if (facts_.repository) return Fail("git_identity", facts_.repository.message, facts_.repository.remedy);
    Ok("git_identity", "commits will be by " + facts_.author);
  }

  const DoctorFacts& facts_;
  const Machine& machine_;
  bool asked_for_gpu_ = false, simulated_only_ = false, has_gpu_ = false;
  CheckStatus gpu_severity_ = CheckStatus::kWarning;
  const GpuState* state_ = nullptr;
  std::vector<Check> checks_;
};

}  // namespace

const char* Name(CheckStatus status) {
  switch (status) {
    case CheckStatus::kOk: return "ok";
    case CheckStatus::kWarning: return "warning";
    case CheckStatus::kError: return "error";
  }
  return "error";
}

std::vector<Check> MakeChecks(const DoctorFacts& facts) { return Doctor(facts).Run(); }

}  // namespace warpwright
