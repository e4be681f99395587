#include "app/doctor_checks.h"

#include <algorithm>

#include "app/check_rows.h"

namespace warpwright::app {
namespace {

constexpr double kLowDiskGib = 5, kFullDiskGib = 0.25;  // compiled modules and recorders
constexpr double kSlowStartSeconds = 5;

class Doctor {
 public:
  explicit Doctor(const DoctorFacts& facts)
      : facts_(facts), machine_(facts.machine), gpu_(ViewGpu(facts)), rows_(facts.machine) {}

  std::vector<Check> Run() {
    Worker();
    Sandbox();
    Toolkit();
    HostTools();
    Kernels();
    if (!gpu_.simulated_only) AddGpuRows(machine_, gpu_, rows_);
    Disk();
    Git();
    return rows_.Take();
  }

 private:
  void Worker() {
    if (facts_.worker) rows_.Fail("worker", facts_.worker.message, facts_.worker.remedy);
    else rows_.Ok("worker", "it looked at everything");
    if (!facts_.start) return;
    if (facts_.start->problem) return rows_.Fail("start", facts_.start->problem.message, facts_.start->problem.remedy);
    const std::string message = fmt::format("a fresh worker answers in {:.2f} s", facts_.start->seconds);
    if (facts_.start->seconds > kSlowStartSeconds)
      rows_.Warn("start", message,
                 "every candidate that faults costs as much: keep the worker and its cache on a local disk, and on a "
                 "GPU switch persistence mode on");
    else rows_.Ok("start", message);
  }

  void Sandbox() {
    std::vector<std::string> missing = facts_.sandbox_notes;
    if (machine_.sandbox)
      for (const auto& note : machine_.sandbox->missing)
        if (std::find(missing.begin(), missing.end(), note) == missing.end()) missing.push_back(note);
    if (!machine_.sandbox && missing.empty()) return rows_.Unknown("sandbox");
    if (missing.empty()) return rows_.Ok("sandbox", fmt::format("Landlock {} and seccomp", machine_.sandbox->landlock));
    rows_.Warn("sandbox", fmt::format("{}", fmt::join(missing, "; ")),
               "candidates' code is less confined: use a kernel with Landlock (lsm=landlock,...) and seccomp, allow "
               "both in the container's profile, or run in a "
               "container of its own");
  }

  void Toolkit() {
    if (!machine_.toolkit) {
      rows_.Unknown("toolkit");
    } else {
      const auto& part = *machine_.toolkit;
      if (part.problem) rows_.Fail("toolkit", part.problem.message, part.problem.remedy);
      else rows_.Ok("toolkit", part.root);
      OptionalTool("nvcc", part.nvcc, "nvcc",
                   "NVRTC compiles the kernels; nvcc is for your own build: install cuda-nvcc, or put it on PATH");
      OptionalTool("compute_sanitizer", part.compute_sanitizer, "compute-sanitizer",
                   "the simulator and guarded memory check the kernels; to look into a finding by hand, install "
                   "cuda-sanitizer, or put it on PATH");
    }
    if (!machine_.nvrtc) return rows_.Unknown("nvrtc");
    const auto& nvrtc = *machine_.nvrtc;
    if (nvrtc.problem) rows_.Fail("nvrtc", nvrtc.problem.message, nvrtc.problem.remedy);
    else rows_.Ok("nvrtc", fmt::format("NVRTC {} compiles for {}", nvrtc.version, nvrtc.arch));
  }

  // Only a machine with a GPU may have a use for it.
  void OptionalTool(const char* name, bool present, const char* program, const char* remedy) {
    if (present) return rows_.Ok(name, fmt::format("{} is there", program));
    rows_.Add(name, gpu_.there ? CheckStatus::kWarning : CheckStatus::kOk,
              fmt::format("no {}: warpwright needs none", program), remedy);
  }

  void HostTools() {
    if (!machine_.host_compiler) rows_.Unknown("host_compiler");
    else if (machine_.host_compiler->problem)
      rows_.Fail("host_compiler", machine_.host_compiler->problem.message, machine_.host_compiler->problem.remedy);
    else rows_.Ok("host_compiler", machine_.host_compiler->version);
    Tried("libclang", facts_.parsed, "a CUDA file was parsed");
  }
  void Kernels() {
    Tried("simulator", facts_.simulated, "a kernel was sliced, recorded, compiled and simulated");
    if (gpu_.simulated_only || !facts_.ran) return;
    const bool permitted =
        machine_.counters && !machine_.counters->problem;  // outside of the sandbox, where the part was looked at
    if (facts_.ran->problem || facts_.ran->notes.empty() || !permitted)
      return Tried("gpu_kernel", facts_.ran, "the same kernel ran on the GPU");
    rows_.Warn(
        "gpu_kernel",
        fmt::format("the same kernel ran on the GPU, in a worker's sandbox: {}", fmt::join(facts_.ran->notes, "; ")),
        "outside of the sandbox it can be measured: allow the driver's devices and files in the container's profile");
  }
  void Tried(const char* name, const std::optional<Probe>& probe, const char* what) {
    if (!probe) return;
    if (probe->problem) return rows_.Fail(name, probe->problem.message, probe->problem.remedy);
    rows_.Ok(name, fmt::format("{} in {:.2f} s", what, probe->seconds));
  }

  void Disk() {
    if (facts_.cache_problem) return rows_.Fail("cache", facts_.cache_problem.message, facts_.cache_problem.remedy);
    rows_.Ok("cache", facts_.cache + " can be written");
    if (!facts_.free_disk_bytes) return;
    const double free = static_cast<double>(*facts_.free_disk_bytes);
    const std::string message = fmt::format("{} free for the cache", FormatGib(free));
    const char* remedy = "make room, or name a folder on another disk with --cache";
    if (free < kFullDiskGib * kGib) return rows_.Fail("disk", message, remedy);
    if (free < kLowDiskGib * kGib) return rows_.Warn("disk", message, remedy);
    rows_.Ok("disk", message);
  }

  void Git() {
    if (!facts_.has_repository) return rows_.Warn("git_identity", facts_.repository.message, facts_.repository.remedy);
    if (facts_.repository) return rows_.Fail("git_identity", facts_.repository.message, facts_.repository.remedy);
    rows_.Ok("git_identity", "commits will be by " + facts_.author);
  }

  const DoctorFacts& facts_;
  const core::Machine& machine_;
  const GpuView gpu_;
  CheckRows rows_;
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

}  // namespace warpwright::app
