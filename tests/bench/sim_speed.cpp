// Speed of the simulator on one core, in thread instructions per second: the executor alone, with counters, with
// counters and checks, and the whole device with counters, checks and the cache model. Time is CPU time, so that other
// load on the machine does not count; for the device wall-clock time is given, too. Prints one JSON object. `bench_sim
// [seconds per figure [part of a kernel's name]]`
#include <time.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "compile/compiler.h"
#include "config/chip_file.h"
#include "sim/sim_device.h"
#include "tests/support/sim_kernels.h"
#include "tests/support/sim_kit.h"

namespace warpwright::sim {
namespace {

constexpr size_t kElements = 1 << 20;  // of each buffer
constexpr uint64_t kPlanInstructions =
    200'000'000;  // enough thread instructions to outweigh setting up a plan's buffers

struct Case {
  const char* name;
  const char* kernel;
  core::Dim3 grid, block;
  int inputs;  // buffers after the output
  std::vector<int> scalars;
};
const Case kCases[] = {{"element-wise add", "add", {4096, 1, 1}, {256, 1, 1}, 2, {1 << 20}},
                       {"naive matmul 256^3, 16x16 blocks", "matmul", {16, 16, 1}, {16, 16, 1}, 2, {256}},
                       {"naive matmul 256^3, 32x8 blocks", "matmul", {8, 32, 1}, {32, 8, 1}, 2, {256}},
                       {"tiled matmul 32^2", "tiled", {8, 8, 1}, {32, 32, 1}, 2, {256}},
                       {"tree reduction", "reduce", {4096, 1, 1}, {256, 1, 1}, 1, {1 << 20}},
                       {"mandelbrot", "mandelbrot", {32, 32, 1}, {16, 16, 1}, 0, {512, 200}},
                       {"row sums, a thread per row of 256", "row_sums", {16, 1, 1}, {256, 1, 1}, 1, {256}}};

[[noreturn]] void Die(const char* what, const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", what, why.c_str());
  std::exit(1);
}
template <typename T>
T Must(Result<T> result) {
  if (!result) Die("bench_sim", result.error().Format());
  return std::move(*result);
}

struct Speed {
  double processor = 0, wall = 0;  // thread instructions per second
};

// Calls `run`, which returns how many thread instructions it executed, until `seconds` of CPU time are spent.
template <typename F>
Speed Measure(double seconds, F run) {
  const auto processor_now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  using Clock = std::chrono::steady_clock;
  const double begin = processor_now();
  const auto wall_begin = Clock::now();
  double instructions = 0, elapsed = 0;
  do {
    instructions += static_cast<double>(run());
    elapsed = processor_now() - begin;
  } while (elapsed < seconds);
  return {instructions / elapsed, instructions / std::chrono::duration<double>(Clock::now() - wall_begin).count()};
}

class Executor {
 public:
  explicit Executor(const std::string& ptx) : kit_(ptx) {
    for (size_t i = 0; i < kElements; ++i) a_[i] = b_[i] = 1.0f;
  }
  uint64_t Run(const Case& c, bool counters, bool checks) {
    RunOptions options;
    options.counters = counters;
    options.checks = checks;
    options.instruction_limit = UINT64_MAX;
    const int first = c.scalars[0], second = c.scalars.back();
    Machine machine = c.inputs == 0   ? kit_.Prepare(c.kernel, c.grid, c.block, 0, options, out_, first, second)
                      : c.inputs == 1 ? kit_.Prepare(c.kernel, c.grid, c.block, 0, options, out_, a_, first)
                                      : kit_.Prepare(c.kernel, c.grid, c.block, 0, options, out_, a_, b_, first);
    const auto outcome = machine.Run(0, c.grid.Count());
    if (const core::Fault* fault = std::get_if<core::Fault>(&outcome)) Die(c.name, fault->message);
    return machine.thread_instructions();
  }

 private:
  SimKit kit_;
  Buffer<float> a_ = kit_.Make<float>("a", kElements, true, true), b_ = kit_.Make<float>("b", kElements, true, true),
                out_ = kit_.Make<float>("out", kElements, false);
};

core::KernelParameter Scalar(int value) {
  core::KernelParameter parameter;
  parameter.bytes.resize(sizeof value);
  std::memcpy(parameter.bytes.data(), &value, sizeof value);
  return parameter;
}
core::KernelParameter Pointer(uint32_t buffer) {
  core::KernelParameter parameter;
  parameter.bytes.resize(8);
  parameter.pointers[0] = {buffer, 0};
  return parameter;
}

// What the worker runs: a plan on the simulated device, here with one thread. A plan launches short kernels several
// times.
class WholeDevice {
 public:
  explicit WholeDevice(const core::CompiledModule& module)
      : module_(module), device_(sim::MakeSimDevice(Must(config::LoadChip("h200")), 1)) {
    for (const char* name : {"out", "a", "b"}) {
      const bool output = buffers_.empty();
      plan_.buffers.push_back({core::PlanBuffer::Kind::kArgument, name, kElements * 4});
      buffers_.push_back({name, std::vector<std::byte>(kElements * 4), output, !output, 0});
    }
  }
  uint64_t Run(const Case& c, uint64_t instructions_of_a_launch) {
    core::KernelLaunch launch;
    launch.kernel = c.kernel;
    launch.grid = c.grid;
    launch.block = c.block;
    for (int i = 0; i <= c.inputs; ++i) launch.parameters.push_back(Pointer(static_cast<uint32_t>(i)));
    for (const int value : c.scalars) launch.parameters.push_back(Scalar(value));
    plan_.ops.assign(1 + kPlanInstructions / instructions_of_a_launch, launch);
    core::ExecuteOptions options;
    options.counters = true;
    options.keep_outputs = false;
    options.instruction_limit = UINT64_MAX;
    const core::DeviceOutcome outcome = Must(device_->Run({&module_, &plan_, &buffers_, options}));
    if (const core::Fault* fault = std::get_if<core::Fault>(&outcome)) Die(c.name, fault->message);
    uint64_t instructions = 0;
    for (const core::LaunchReport& report : std::get<core::DeviceRun>(outcome).launches)
      instructions += report.counters.thread_instructions;
    return instructions;
  }

 private:
  const core::CompiledModule& module_;
  std::unique_ptr<core::Device> device_;
  core::LaunchPlan plan_;
  std::vector<core::BufferContent> buffers_;
};

core::CompiledModule Compile() {
  std::vector<std::string> names;
  for (const Case& c : kCases) names.push_back(c.kernel);
  const compile::Compiler compiler = Must(compile::Compiler::Create({}));
  auto outcome = Must(compiler.Compile({"kernel.cu", kKernels, {}, names, "sm_90"}));
  if (const auto* failed = std::get_if<core::CompileFailed>(&outcome)) Die("NVRTC", failed->log);
  return std::move(std::get<core::CompiledModule>(outcome));
}

int Main(double seconds, std::string_view wanted) {
  const core::CompiledModule module = Compile();
  Executor executor(module.ptx);
  WholeDevice device(module);
  nlohmann::json table = nlohmann::json::array();
  for (const Case& c : kCases) {
    if (std::string_view(c.name).find(wanted) == std::string_view::npos) continue;
    const uint64_t instructions = executor.Run(c, false, false);
    const auto executed = [&](bool counters, bool checks) {
      return Measure(seconds, [&] { return executor.Run(c, counters, checks); }).processor;
    };
    const Speed whole = Measure(seconds, [&] { return device.Run(c, instructions); });
    table.push_back({{"kernel", c.name},
                     {"bare", executed(false, false)},
                     {"counters", executed(true, false)},
                     {"counters_and_checks", executed(true, true)},
                     {"device", whole.processor},
                     {"device_by_wall_clock", whole.wall}});
  }
  std::printf("%s\n",
              nlohmann::json{{"unit", "thread instructions per second, one core"}, {"kernels", table}}.dump(2).c_str());
  return 0;
}

}  // namespace
}  // namespace warpwright::sim

int main(int argc, char** argv) {
  return warpwright::sim::Main(argc > 1 ? std::atof(argv[1]) : 0.3, argc > 2 ? argv[2] : "");
}
