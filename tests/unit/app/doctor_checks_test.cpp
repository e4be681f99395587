// How doctor rates machines that are fine, slow, misconfigured or broken.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "app/doctor_checks.h"
#include "worker/machine_json.h"

namespace warpwright {
namespace {

constexpr uint64_t kGib = 1ull << 30;

core::GpuState HealthyGpu() {
  core::GpuState gpu;
  gpu.name = "NVIDIA H200";
  gpu.uuid = "GPU-1";
  gpu.pci = "00000000:19:00.0";
  gpu.memory_bytes = 140 * kGib;
  gpu.free_bytes = 139 * kGib;
  gpu.ecc = gpu.persistence = true;
  gpu.mig = false;
  gpu.uncorrected_errors = gpu.lifetime_uncorrected_errors = 0;
  gpu.compute_mode = "default";
  gpu.power_watts = 76;
  gpu.power_limit_watts = gpu.default_power_limit_watts = 700;
  gpu.temperature_celsius = 31;
  gpu.sm_mhz = 345;
  gpu.max_sm_mhz = 1980;
  gpu.memory_mhz = gpu.max_memory_mhz = 3201;
  gpu.processes.emplace();
  return gpu;
}

// A machine without a GPU on which everything else is present.
app::DoctorFacts Laptop() {
  app::DoctorFacts facts;
  core::Machine& m = facts.machine;
  m.toolkit = {"/usr/local/cuda", true, true, {}};
  m.host_compiler = {"g++ 12.2.0", {}};
  m.sandbox = {4, {}};
  m.nvml.emplace().problem = {"no NVML", "install it"};
  m.driver.emplace().problem = {"no NVIDIA driver", "install the driver"};
  m.nvrtc = {"13.0", "sm_90", {}};
  m.cupti = {"/usr/local/cuda/lib64/libcupti.so.13", 130001, {}};
  facts.start = facts.parsed = facts.simulated = app::Probe{0.1};
  facts.cache = "/home/me/.cache/warpwright";
  facts.free_disk_bytes = 100 * kGib;
  facts.has_repository = true;
  facts.author = "warpwright <warpwright@localhost>";
  return facts;
}

app::DoctorFacts GpuNode() {
  app::DoctorFacts facts = Laptop();
  core::Machine& m = facts.machine;
  m.nvml = {"580.159.04", {HealthyGpu()}, {}};
  m.driver = {13000, 1, {}};
  m.device.emplace().pci = "00000000:19:00.0";
  m.device->facts.name = "NVIDIA H200";
  m.device->facts.memory_bytes = 140 * kGib;
  m.device->facts.free_bytes = 139 * kGib;
  m.counters = {"GH100", {}};
  facts.ran = app::Probe{0.5};
  return facts;
}

const app::Check* Find(const std::vector<app::Check>& checks, const std::string& name) {
  for (const app::Check& check : checks)
    if (check.name == name) return &check;
  return nullptr;
}
size_t Count(const std::vector<app::Check>& checks, app::CheckStatus status) {
  return static_cast<size_t>(
      std::count_if(checks.begin(), checks.end(), [&](const app::Check& check) { return check.status == status; }));
}

TEST(DoctorChecks, AHealthyGpuNodeHasEveryRowAndNoComplaint) {
  const auto checks = app::MakeChecks(GpuNode());
  std::set<std::string> names;
  for (const app::Check& check : checks) {
    EXPECT_EQ(check.status, app::CheckStatus::kOk) << check.name << ": " << check.message;
    EXPECT_TRUE(check.remedy.empty()) << check.name;
    EXPECT_FALSE(check.message.empty()) << check.name;
    EXPECT_TRUE(names.insert(check.name).second) << check.name << " twice";
  }
  EXPECT_EQ(names, (std::set<std::string>{
                       "worker",      "start",         "sandbox",     "toolkit",   "nvcc",       "compute_sanitizer",
                       "nvrtc",       "host_compiler", "libclang",    "simulator", "gpu_kernel", "driver",
                       "gpu",         "nvml",          "memory",      "ecc",       "mig",        "compute_mode",
                       "persistence", "power",         "clocks",      "processes", "cupti",      "counters",
                       "cache",       "disk",          "git_identity"}));
}

TEST(DoctorChecks, WithoutAGpuOnlyItsAbsenceIsAWarning) {
  const auto checks = app::MakeChecks(Laptop());
  EXPECT_EQ(Count(checks, app::CheckStatus::kError), 0u);
  EXPECT_EQ(Count(checks, app::CheckStatus::kWarning), 3u);
  for (const char* name : {"driver", "nvml", "gpu"}) {
    ASSERT_NE(Find(checks, name), nullptr) << name;
    EXPECT_EQ(Find(checks, name)->status, app::CheckStatus::kWarning) << name;
  }
  for (const char* name : {"memory", "ecc", "clocks", "counters"}) EXPECT_EQ(Find(checks, name), nullptr) << name;
}

TEST(DoctorChecks, ASimulatedDeviceAsksForNoGpu) {
  app::DoctorFacts facts = GpuNode();
  facts.device = "sim:a100";
  const auto checks = app::MakeChecks(facts);
  for (const char* name : {"driver", "gpu", "gpu_kernel", "cupti"}) EXPECT_EQ(Find(checks, name), nullptr) << name;
  EXPECT_EQ(Count(checks, app::CheckStatus::kOk), checks.size());
}

TEST(DoctorChecks, AWorkerThatToldNothingIsOneError) {
  app::DoctorFacts facts;
  facts.worker = {"no such program", "build it"};
  facts.has_repository = true;
  const auto checks = app::MakeChecks(facts);
  EXPECT_EQ(Count(checks, app::CheckStatus::kError), 1u);
  EXPECT_EQ(Find(checks, "worker")->remedy, "build it");
  for (const char* name : {"nvrtc", "driver", "gpu"}) EXPECT_EQ(Find(checks, name), nullptr) << name;
}

struct Row {
  const char* name;
  std::function<void(app::DoctorFacts&)> change;  // of a healthy GPU node
  const char* check;
  app::CheckStatus status;
  const char* message;  // part of it
  const char* remedy;
};
std::ostream& operator<<(std::ostream& out, const Row& row) { return out << row.name; }
core::GpuState& Gpu(app::DoctorFacts& f) { return f.machine.nvml->gpus.front(); }
constexpr auto kOk = app::CheckStatus::kOk, kWarning = app::CheckStatus::kWarning, kError = app::CheckStatus::kError;

const Row kRows[] = {
    {"worker_ended",
     [](auto& f) {
       f.worker = {"ended with 139; the last part was: device", "run it directly"};
       f.machine.counters.reset();
     },
     "worker", kError, "139", "directly"},
    {"part_not_told",
     [](auto& f) {
       f.worker = {"ended", "x"};
       f.machine.counters.reset();
     },
     "counters", kWarning, "unknown", "worker"},
    {"worker_ended_in_the_driver",
     [](auto& f) {
       f.worker = {"ended", "x"};
       f.machine.driver.reset();
       f.machine.device.reset();
     },
     "gpu", kWarning, "unknown", "worker"},
    {"trouble_without_remedy", [](auto& f) { f.machine.counters->problem = {"CUPTI_ERROR_UNKNOWN", ""}; }, "counters",
     kWarning, "UNKNOWN", "--doctor cuda"},
    {"worker_does_not_start", [](auto& f) { f.start->problem = {"the worker failed to start", "run it"}; }, "start",
     kError, "failed to start", "run it"},
    {"slow_start", [](auto& f) { f.start->seconds = 9; }, "start", kWarning, "9.00 s", "persistence"},
    {"no_landlock", [](auto& f) { f.machine.sandbox = {0, {"Landlock is not available"}}; }, "sandbox", kWarning,
     "Landlock is not", "lsm=landlock"},
    {"notes_of_the_running_worker", [](auto& f) { f.sandbox_notes = {"seccomp is not available"}; }, "sandbox",
     kWarning, "seccomp is not", "seccomp"},
    {"sandbox", [](auto&) {}, "sandbox", kOk, "Landlock 4", ""},
    {"no_toolkit", [](auto& f) { f.machine.toolkit->problem = {"no CUDA toolkit", "set CUDA_HOME"}; }, "toolkit",
     kError, "no CUDA", "CUDA_HOME"},
    {"no_nvcc", [](auto& f) { f.machine.toolkit->nvcc = false; }, "nvcc", kWarning, "no nvcc", "cuda-nvcc"},
    {"no_compute_sanitizer", [](auto& f) { f.machine.toolkit->compute_sanitizer = false; }, "compute_sanitizer",
     kWarning, "no compute-sanitizer", "cuda-sanitizer"},
    {"nvrtc_fails", [](auto& f) { f.machine.nvrtc->problem = {"NVRTC cannot compile", "install"}; }, "nvrtc", kError,
     "cannot compile", "install"},
    {"nvrtc", [](auto&) {}, "nvrtc", kOk, "NVRTC 13.0 compiles for sm_90", ""},
    {"no_host_compiler", [](auto& f) { f.machine.host_compiler->problem = {"no host compiler", "install g++"}; },
     "host_compiler", kError, "no host", "g++"},
    {"no_libclang", [](auto& f) { f.parsed->problem = {"libclang sees nothing", "install libclang-19"}; }, "libclang",
     kError, "sees nothing", "libclang-19"},
    {"simulation_fails", [](auto& f) { f.simulated->problem = {"wrong result", "report it"}; }, "simulator", kError,
     "wrong", "report"},
    {"gpu_kernel_fails", [](auto& f) { f.ran->problem = {"faults", "look"}; }, "gpu_kernel", kError, "faults", "look"},
    {"gpu_kernel_counts_only_outside", [](auto& f) { f.ran->notes = {"no counters"}; }, "gpu_kernel", kWarning,
     "no counters", "sandbox"},
    {"old_driver", [](auto& f) { f.machine.driver->version = 12080; }, "driver", kError,
     "CUDA 12.8: older than the toolkit's CUDA 13.0", "580"},
    {"slightly_old_driver", [](auto& f) { f.machine.nvrtc->version = "13.2"; }, "driver", kWarning,
     "toolkit's CUDA 13.2", "update the driver"},
    {"new_driver", [](auto& f) { f.machine.driver->version = 13020; }, "driver", kOk, "580.159.04, CUDA 13.2", ""},
    {"broken_driver", [](auto& f) { f.machine.driver = {0, 0, {"does not start", "nvidia-smi"}}; }, "driver", kError,
     "does not start", "nvidia-smi"},
    {"hidden_gpu",
     [](auto& f) {
       f.machine.driver->gpus = 0;
       f.machine.device.reset();
     },
     "gpu", kError, "CUDA reports none", "CUDA_VISIBLE_DEVICES"},
    {"no_such_gpu", [](auto& f) { f.machine.device->problem = {"there is no GPU 3", ""}; }, "gpu", kError, "no GPU 3",
     "nvidia-smi"},
    {"no_nvml", [](auto& f) { f.machine.nvml = core::NvmlPart{"", {}, {"no NVML", "utility"}}; }, "nvml", kWarning,
     "remain unknown", "utility"},
    {"another_gpu_of_nvml",
     [](auto& f) {
       Gpu(f).pci = "x";
       f.machine.nvml->gpus.push_back(Gpu(f));
     },
     "nvml", kWarning, "does not know this GPU", "nvidia-smi -L"},
    {"low_memory", [](auto& f) { f.machine.device->facts.free_bytes = 5 * kGib; }, "memory", kWarning,
     "5.0 GiB of 140.0 GiB", "--device cuda:1"},
    {"no_memory", [](auto& f) { f.machine.device->facts.free_bytes = kGib / 2; }, "memory", kError, "0.5 GiB",
     "stop other programs"},
    {"memory_by_nvml",
     [](auto& f) {
       f.machine.device->problem = {"out of memory", ""};
       Gpu(f).free_bytes = 0;
     },
     "memory", kError, "0.0 GiB", "stop other"},
    {"ecc_errors", [](auto& f) { Gpu(f).uncorrected_errors = 3; }, "ecc", kError, "3 uncorrected memory errors",
     "--gpu-reset"},
    {"old_ecc_errors", [](auto& f) { Gpu(f).lifetime_uncorrected_errors = 2; }, "ecc", kOk, "2 before", ""},
    {"ecc_off", [](auto& f) { Gpu(f).ecc = false; }, "ecc", kWarning, "ECC is off", "-e 1"},
    {"no_ecc", [](auto& f) { Gpu(f).ecc.reset(); }, "ecc", kOk, "not available", ""},
    {"mig", [](auto& f) { Gpu(f).mig = true; }, "mig", kWarning, "MIG is on", "-mig 0"},
    {"exclusive", [](auto& f) { Gpu(f).compute_mode = "exclusive process"; }, "compute_mode", kError, "two processes",
     "-c DEFAULT"},
    {"prohibited", [](auto& f) { Gpu(f).compute_mode = "prohibited"; }, "compute_mode", kError, "prohibited",
     "-c DEFAULT"},
    {"no_persistence", [](auto& f) { Gpu(f).persistence = false; }, "persistence", kWarning, "off", "-pm 1"},
    {"hot", [](auto& f) { Gpu(f).temperature_celsius = 90; }, "power", kWarning, "90 °C", "cooling"},
    {"power_limit", [](auto& f) { Gpu(f).power_limit_watts = 400; }, "power", kWarning, "default limit is 700 W",
     "-pl 700"},
    {"throttled", [](auto& f) { Gpu(f).slowed_by = {"power cap", "power brake"}; }, "clocks", kWarning,
     "slowed by power cap, power brake", "PERFORMANCE"},
    {"clocks", [](auto&) {}, "clocks", kOk, "SM 345 of 1980 MHz, memory 3201 of 3201 MHz", ""},
    {"clocks_not_told", [](auto& f) { Gpu(f).sm_mhz.reset(); }, "clocks", kOk, "SM ? of 1980", ""},
    {"another_process", [](auto& f) { Gpu(f).processes->push_back({4711, "python", int64_t{2 * kGib}}); }, "processes",
     kWarning, "4711 (python, 2.0 GiB)", "scatter"},
    {"processes_not_told", [](auto& f) { Gpu(f).processes.reset(); }, "processes", kOk, "does not list", ""},
    {"no_cupti",
     [](auto& f) {
       f.machine.cupti->problem = {"CUPTI does not load", "cuda-cupti"};
       f.machine.counters.reset();
     },
     "cupti", kWarning, "does not load", "cuda-cupti"},
    {"no_permission",
     [](auto& f) { f.machine.counters->problem = {"no permission", "NVreg_RestrictProfilingToAdminUsers=0"}; },
     "counters", kWarning, "no permission", "NVreg"},
    {"read_only_cache", [](auto& f) { f.cache_problem = {"Read-only file system", "--cache"}; }, "cache", kError,
     "Read-only", "--cache"},
    {"disk_full", [](auto& f) { f.free_disk_bytes = 0; }, "disk", kError, "0.0 GiB", "free some space"},
    {"little_disk", [](auto& f) { f.free_disk_bytes = 4 * kGib; }, "disk", kWarning, "4.0 GiB", "free some space"},
    {"no_repository",
     [](auto& f) {
       f.has_repository = false;
       f.repository = {"no git repository", "--repo"};
     },
     "git_identity", kWarning, "no git", "--repo"},
    {"bad_author", [](auto& f) { f.repository = {"'me' is not an author", "git config"}; }, "git_identity", kError,
     "not an author", "git config"},
};

class DoctorRows : public testing::TestWithParam<Row> {};
TEST_P(DoctorRows, SaysItWithItsRemedy) {
  const Row& row = GetParam();
  app::DoctorFacts facts = GpuNode();
  row.change(facts);
  const auto checks = app::MakeChecks(facts);
  const app::Check* check = Find(checks, row.check);
  ASSERT_NE(check, nullptr);
  EXPECT_STREQ(app::Name(check->status), app::Name(row.status)) << check->message;
  EXPECT_NE(check->message.find(row.message), std::string::npos) << check->message;
  EXPECT_NE(check->remedy.find(row.remedy), std::string::npos) << check->remedy;
  for (const app::Check& other : checks) EXPECT_EQ(other.status == kOk, other.remedy.empty()) << other.name;
}
INSTANTIATE_TEST_SUITE_P(All, DoctorRows, testing::ValuesIn(kRows), [](const auto& row) { return row.param.name; });

// What is only mentioned on a laptop is an error if a GPU was requested.
TEST(DoctorChecks, AskedForAGpuItsAbsenceIsAnError) {
  app::DoctorFacts facts = Laptop();
  facts.device = "cuda";
  const auto checks = app::MakeChecks(facts);
  EXPECT_EQ(Find(checks, "driver")->status, kError);
  EXPECT_EQ(Find(checks, "gpu")->status, kError);
}

TEST(MachineJson, PartsComeBackLineByLine) {
  const core::Machine sent = GpuNode().machine;
  core::Machine first, rest = sent;
  first.nvml = sent.nvml;
  rest.nvml.reset();
  core::Machine received;
  for (const core::Machine& part : {first, rest}) {
    const std::string line = worker::EncodeMachine(part);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    ASSERT_TRUE(worker::DecodeMachine(line, received));
  }
  EXPECT_EQ(worker::EncodeMachine(received), worker::EncodeMachine(sent));
  EXPECT_EQ(received.nvml->gpus.front().max_sm_mhz, 1980);
  EXPECT_EQ(received.nvml->gpus.front().processes->size(), 0u);
}

TEST(MachineJson, WhatIsNotToldStaysUnknownAndNonsenseIsRefused) {
  core::Machine machine;
  ASSERT_TRUE(worker::DecodeMachine(R"({"nvml": {"gpus": [{"name": "X", "ecc": null}]}, "later": 1})", machine));
  EXPECT_FALSE(machine.nvml->gpus.front().ecc.has_value());
  EXPECT_FALSE(machine.driver.has_value());
  for (const char* line : {"", "[]", "{", R"({"driver": 5})", R"({"nvml": {"gpus": "many"}})"}) {
    const Status decoded = worker::DecodeMachine(line, machine);
    ASSERT_FALSE(decoded) << line;
    EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt);
  }
}

TEST(MachineJson, NamesThatAreNoTextDoNotEndTheWorker) {
  core::Machine machine = GpuNode().machine;
  machine.nvml->gpus.front().processes->push_back({1, "\xff\xfe", {}});
  core::Machine received;
  EXPECT_TRUE(worker::DecodeMachine(worker::EncodeMachine(machine), received));
}

}  // namespace
}  // namespace warpwright
