// What timing on a real GPU decides and what faults cost, through the real worker. Prints one JSON object.
//
//   bench_gpu WORKER CACHE aa [REPEATS]   identical copies, a copy that does 3 % less, and one that does 3 % more:
//                                         decisions by the looks of core/timing.h
//   bench_gpu WORKER CACHE faults         50 kernels that trap, hang or leave their memory, between good ones
//   bench_gpu WORKER CACHE soak [N]       N evaluations of one kernel; memory of the worker and of the GPU before and
//                                         after
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/random.h"
#include "core/timing.h"
#include "worker/worker_evaluator.h"

namespace warpwright {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// Dependent multiply-adds: time is proportional to their number, so the difference is known by construction. The result
// does not matter here.
std::string Chain(int steps) {
  return fmt::format(R"(__global__ void scale(float* out, const float* in, const float* pad, int n, int m) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  for (int k = 0; k < {}; ++k) x = fmaf(x, 0.999f, 0.001f);
  out[i] = x;
}}
void scale_all(float* out, const float* in, const float* pad, int n, int m) {{
  scale<<<(n + 255) / 256, 256>>>(out, in, pad, n, m);
}}
)",
                     steps);
}

std::string Bad(int kind) {
  static constexpr const char* kBodies[] = {
      "asm volatile(\"trap;\");",
      "out[(long long)i * 1000003 * 4096] = 1.0f;",
      "*(float4*)(out + 1) = make_float4(0, 0, 0, 0);",
      "for (volatile int k = 0; k >= 0; k = 1) {}",
      "((void (*)())(size_t)(16 + i))();",
  };
  return fmt::format(R"(__global__ void scale(float* out, const float* in, const float* pad, int n, int m) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  {}
}}
void scale_all(float* out, const float* in, const float* pad, int n, int m) {{
  scale<<<(n + 255) / 256, 256>>>(out, in, pad, n, m);
}}
)",
                     kBodies[kind]);
}

core::BufferContent Floats(const std::string& name, size_t count, bool out) {
  core::BufferContent buffer;
  buffer.name = name;
  std::vector<std::byte> values(count * sizeof(float));
  const base::CounterRandom random(7, count);
  for (size_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(random.Uniform(i) - 0.5);
    std::memcpy(values.data() + i * sizeof value, &value, sizeof value);
  }
  buffer.bytes = std::move(values);
  buffer.uninitialized = out;
  buffer.read_only = !out;
  return buffer;
}

struct Setting {
  core::KernelSpec spec;
  std::map<std::string, core::ScalarValue> scalars;
  std::vector<core::BufferContent> buffers;
};
Setting MakeSetting(int64_t n, int64_t m) {
  Setting s;
  s.spec.name = s.spec.entry = "scale_all";
  s.spec.file = "scale.cu";
  for (const char* name : {"out", "in", "pad"}) {
    core::BufferArgument buffer;
    buffer.role = std::string_view(name) == "out" ? core::Role::kOut : core::Role::kIn;
    s.spec.args.push_back({name, buffer, 0});
  }
  for (const char* name : {"n", "m"}) s.spec.args.push_back({name, core::ScalarArgument{}, 0});
  s.scalars = {{"n", n}, {"m", m}};
  s.buffers = {Floats("out", static_cast<size_t>(n), true), Floats("in", static_cast<size_t>(n), false),
               Floats("pad", static_cast<size_t>(m), false)};
  return s;
}

std::string g_root;  // set by main: an empty folder: the kernels include nothing
core::SourceRef Source(std::string text) { return {g_root, "scale.cu", std::move(text)}; }

struct Decided {
  core::TimingSummary summary;
  int looks = 0;
};
Result<Decided> Decide(core::Evaluator& evaluator, const Setting& setting, const std::string& original,
                       const std::string& candidate, uint64_t seed) {
  Decided decided;
  std::vector<core::TimedPair> pairs;
  int launches = 0, blocks = 0;
  for (const core::TimingLook& look : core::TimingLooks()) {
    core::TimeRequest request{Source(original), Source(candidate), setting.spec, "bench",
                              setting.scalars,  setting.buffers,   "cuda",       {}};
    request.options.seed = seed;
    request.options.first_block = blocks;
    request.options.blocks = look.blocks - blocks;
    request.options.pairs_per_block = 4;
    request.options.launches_per_sample = launches;
    request.options.kept_pairs = 0;
    WW_ASSIGN(core::TimeOutcome outcome, evaluator.Time(request));
    const auto* timed = std::get_if<core::Timed>(&outcome);
    if (timed == nullptr) return Fail(ErrorCode::kUnsupported, "the kernel was not timed");
    pairs.insert(pairs.end(), timed->pairs.begin(), timed->pairs.end());
    launches = timed->launches_per_sample;
    blocks = look.blocks;
    decided.summary = core::Summarize(pairs, core::TimingRules{}, look.alpha);
    ++decided.looks;
    if (decided.summary.decision != core::TimingDecision::kInconclusive) break;
  }
  return decided;
}

// 3 % fewer and 3 % more than 4,000 steps in each thread, one wave of blocks on every multiprocessor.
Result<json> AgainstItself(core::Evaluator& evaluator, int repeats) {
  const Setting setting = MakeSetting(132 * 2048, 64);
  constexpr int kSteps = 4000, kFewer = 3880, kMore = 4120;
  struct Row {
    const char* name;
    int original, candidate, repeats;
  };
  json rows = json::array();
  for (const Row& row : {Row{"identical", kSteps, kSteps, repeats}, Row{"3 % fewer steps", kSteps, kFewer, repeats / 5},
                         Row{"3 % more steps", kSteps, kMore, repeats / 5}}) {
    std::map<std::string, int> decisions;
    std::vector<double> ratios, widths;
    const auto begin = Clock::now();
    for (int i = 0; i < row.repeats; ++i) {
      WW_ASSIGN(const Decided decided,
                Decide(evaluator, setting, Chain(row.original), Chain(row.candidate), 1000 + static_cast<uint64_t>(i)));
      ++decisions[std::string(core::Name(decided.summary.decision))];
      ratios.push_back(std::exp(decided.summary.log_ratio));
      widths.push_back(decided.summary.upper - decided.summary.lower);
    }
    std::sort(ratios.begin(), ratios.end());
    std::sort(widths.begin(), widths.end());
    rows.push_back({{"pair", row.name},
                    {"repeats", row.repeats},
                    {"decisions", decisions},
                    {"ratio_min", ratios.front()},
                    {"ratio_median", ratios[ratios.size() / 2]},
                    {"ratio_max", ratios.back()},
                    {"interval_width_median", widths[widths.size() / 2]},
                    {"seconds", SecondsSince(begin)}});
  }
  return json{{"aa", rows}};
}

Result<base::Bytes> RunGood(core::Evaluator& evaluator, const Setting& setting) {
  core::ExecuteRequest request{Source(Chain(10)), setting.spec, "bench", setting.scalars, setting.buffers, "cuda", {}};
  request.options.guard_bytes = 64u << 10;
  WW_ASSIGN(core::ExecuteOutcome outcome, evaluator.Execute(request));
  auto* run = std::get_if<core::Executed>(&outcome);
  if (run == nullptr || !run->guards.empty()) return Fail(ErrorCode::kUnsupported, "a good kernel failed");
  return std::move(run->buffers[0]);
}

Result<json> Faults(worker::WorkerEvaluator& evaluator) {
  const Setting setting = MakeSetting(1 << 16, 64);
  WW_ASSIGN(const auto expected, RunGood(evaluator, setting));
  std::map<std::string, int> outcomes;
  std::vector<double> recovery;
  int affected = 0;
  for (int i = 0; i < 50; ++i) {
    const int kind = i < 2 ? 3 : (i % 4 == 3 ? 4 : i % 4);  // two hang: each takes the whole deadline
    core::ExecuteRequest request{Source(Bad(kind)), setting.spec, "bench", setting.scalars,
                                 setting.buffers,   "cuda",       {}};
    request.options.guard_bytes = 64u << 10;
    WW_ASSIGN(const core::ExecuteOutcome outcome, evaluator.Execute(request));
    const auto* fault = std::get_if<core::Faulted>(&outcome);
    ++outcomes[fault != nullptr ? std::string(core::Name(fault->fault.kind)) : "no fault"];
    const auto begin = Clock::now();
    const auto good = RunGood(evaluator, setting);
    recovery.push_back(SecondsSince(begin));
    affected += !good || *good != expected;
  }
  std::sort(recovery.begin(), recovery.end());
  return json{{"faults",
               {{"bad_kernels", 50},
                {"outcomes", outcomes},
                {"good_ones_affected", affected},
                {"workers_started", evaluator.supervisor().starts()},
                {"seconds_to_next_good_result", {{"median", recovery[25]}, {"max", recovery.back()}}}}}};
}

int64_t ResidentKiB(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6));
  return 0;
}

Result<json> Soak(worker::WorkerEvaluator& evaluator, int count) {
  const Setting setting = MakeSetting(1 << 16, 64);
  const auto begin = Clock::now();
  int64_t early = 0;
  double seconds_run = 0;
  for (int i = 0; i < count; ++i) {
    core::ExecuteRequest request{Source(Chain(10 + i % 2)), setting.spec, "bench", setting.scalars,
                                 setting.buffers,           "cuda",       {}};
    request.options.runs = 2;
    request.options.counters = i % 50 == 0;
    WW_ASSIGN(const core::ExecuteOutcome outcome, evaluator.Execute(request));
    const auto* run = std::get_if<core::Executed>(&outcome);
    if (run == nullptr) return Fail(ErrorCode::kUnsupported, "an evaluation failed");
    seconds_run += run->seconds.at("run");
    if (i == count / 10) early = ResidentKiB(*evaluator.supervisor().pid());
  }
  return json{{"soak",
               {{"evaluations", count},
                {"seconds", SecondsSince(begin)},
                {"seconds_on_the_device", seconds_run},
                {"worker_resident_kib_after_a_tenth", early},
                {"worker_resident_kib", ResidentKiB(*evaluator.supervisor().pid())},
                {"workers_started", evaluator.supervisor().starts()}}}};
}

}  // namespace
}  // namespace warpwright

int main(int argc, char** argv) {
  using namespace warpwright;
  if (argc < 4) {
    std::fputs("usage: bench_gpu WORKER CACHE aa|faults|soak [COUNT]\n", stderr);
    return 2;
  }
  worker::WorkerCommand command;
  g_root = std::string(argv[2]) + "/empty";
  std::filesystem::create_directories(g_root);
  command.argv = {argv[1], "--cache", argv[2], "--readable", g_root, "--gpu"};
  worker::WorkerEvaluator evaluator(command);
  const std::string mode = argv[3];
  const int count = argc > 4 ? std::atoi(argv[4]) : 0;
  const Result<json> result = mode == "aa"       ? AgainstItself(evaluator, count > 0 ? count : 100)
                              : mode == "faults" ? Faults(evaluator)
                                                 : Soak(evaluator, count > 0 ? count : 1000);
  if (!result) {
    std::fprintf(stderr, "bench_gpu: %s\n", result.error().Format().c_str());
    return 3;
  }
  std::puts(result->dump(2).c_str());
  return 0;
}
