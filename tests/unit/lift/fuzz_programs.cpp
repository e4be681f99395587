// Traces random kernels, and compares what their expressions are worth with what the simulator computes: for the inputs
// of the trace, and for others.
//
//   fuzz_lift_programs SECONDS [SEED]
#include <fmt/format.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "base/random.h"
#include "lift/describe.h"
#include "lift/evaluate.h"
#include "lift/trace.h"
#include "sim/machine.h"
#include "sim/plan_memory.h"
#include "tests/unit/lift/random_program.h"

namespace warpwright::lift {
namespace {

using core::DType;

constexpr DType kTypes[kProgramBuffers] = {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI32,
                                           DType::kI64, DType::kU8,  DType::kF32, DType::kF64,  DType::kF16,
                                           DType::kU32, DType::kI64, DType::kF32, DType::kI32};

uint64_t RandomFloat(const base::CounterRandom& random, uint64_t index, DType type) {
  constexpr double kSpecial[] = {0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 1e-40, 65504, 1e-7, 3e38, 2};
  const uint64_t kind = random.Below(3 * index, 20);
  double v = (random.Uniform(3 * index + 1) - 0.5) * 8;
  if (kind == 0) v = kSpecial[random.Below(3 * index + 2, std::size(kSpecial))];
  if (kind == 1) v = std::ldexp(v, static_cast<int>(random.Below(3 * index + 2, 60)) - 30);
  if (type == DType::kF64) return std::bit_cast<uint64_t>(v);
  if (type == DType::kF32) return v != v ? 0x7fffffff : std::bit_cast<uint32_t>(static_cast<float>(v));
  if (v != v) return 0x7fff;
  return type == DType::kF16 ? core::DoubleToHalf(v) : core::FloatToBFloat16(static_cast<float>(v));
}

std::vector<core::BufferContent> Contents(const core::LaunchPlan& plan, uint64_t seed) {
  std::vector<core::BufferContent> contents;
  for (size_t b = 0; b < plan.buffers.size(); ++b) {
    const base::CounterRandom random(seed, b);
    const size_t size = core::SizeOf(kTypes[b]);
    std::vector<std::byte> bytes(plan.buffers[b].bytes);
    for (size_t i = 0; i < bytes.size() / size; ++i) {
      uint64_t bits = core::IsFloat(kTypes[b]) ? RandomFloat(random, i, kTypes[b]) : random.Bits(2 * i);
      if (!core::IsFloat(kTypes[b]) && random.Below(2 * i + 1, 2) == 0) bits %= 100;
      std::memcpy(bytes.data() + i * size, &bits, size);
    }
    contents.push_back({.name = plan.buffers[b].name, .bytes = std::move(bytes)});
  }
  return contents;
}

bool Same(DType type, uint64_t a, uint64_t b) {
  if (a == b) return true;
  if (type == DType::kF64) return std::isnan(std::bit_cast<double>(a)) && std::isnan(std::bit_cast<double>(b));
  return false;
}

struct Fuzzer {
  uint64_t programs = 0, nodes = 0, branching = 0, lossy = 0;
  std::map<std::string, uint64_t> not_traced;

  // False: a difference, which has been printed.
  bool Try(uint64_t seed);
};

core::LaunchPlan PlanOf(const RandomProgram& program) {
  core::LaunchPlan plan;
  core::KernelLaunch launch{.kernel = "k", .grid = {program.blocks}, .block = {program.threads}};
  for (uint32_t b = 0; b < kProgramBuffers; ++b) {
    const uint64_t count = b + 2 >= kProgramBuffers ? kShared : uint64_t{kPerThread} * program.threads * program.blocks;
    plan.buffers.push_back({core::PlanBuffer::Kind::kArgument, fmt::format("b{}", b), count * core::SizeOf(kTypes[b])});
    core::KernelParameter parameter;
    parameter.bytes.resize(8);
    parameter.pointers[0] = {b, 0};
    launch.parameters.push_back(std::move(parameter));
  }
  plan.ops.emplace_back(std::move(launch));
  return plan;
}

// What the simulator computes without a shadow, by buffer; nothing after a fault.
std::vector<std::vector<std::byte>> Simulate(const core::CompiledModule& module, const core::LaunchPlan& plan,
                                             const std::vector<core::BufferContent>& contents) {
  auto program = sim::DecodePtx(module.ptx);
  auto memory = sim::PlanMemory::Create(plan, contents, *program, {});
  const auto& launch = std::get<core::KernelLaunch>(plan.ops[0]);
  auto parameters = memory->Parameters(launch, *program->Find("k"));
  sim::RunOptions options;
  options.counters = false;
  auto machine = sim::Machine::Create(
      *program, memory->memory(),
      {.kernel = "k", .grid = launch.grid, .block = launch.block, .parameters = *parameters}, options);
  auto outcome = machine->Run(0, launch.grid.Count());
  std::vector<std::vector<std::byte>> result;
  if (std::holds_alternative<core::Fault>(outcome)) return result;
  for (const auto& buffer : memory->buffers()) {
    const auto bytes = memory->memory().Bytes(buffer.address, buffer.bytes);
    result.emplace_back(bytes.begin(), bytes.end());
  }
  return result;
}

// The expressions over `contents` against the simulator's result for them.
bool Agrees(const Trace& trace, const std::vector<core::BufferContent>& contents,
            const std::vector<std::vector<std::byte>>& expected, const char* which) {
  LeafValues leaves;
  leaves.load = [&](uint16_t buffer, uint64_t element) {
    uint64_t bits = 0;
    const size_t size = core::SizeOf(kTypes[buffer]);
    std::memcpy(&bits, contents[buffer].bytes.data() + element * size, size);
    return bits;
  };
  Evaluation evaluate(trace.graph, leaves);
  for (size_t b = 0; b < trace.buffers.size(); ++b) {
    const TracedBuffer& buffer = trace.buffers[b];
    const size_t size = core::SizeOf(kTypes[b]);
    for (size_t e = 0; e < buffer.elements.size(); ++e) {
      if (!buffer.written[e]) continue;
      uint64_t want = 0;
      std::memcpy(&want, expected[b].data() + e * size, size);
      const ExprId id = buffer.elements[e];
      const uint64_t got = id == kConcrete ? buffer.bits[e] : evaluate(id);
      if (Same(kTypes[b], got, want)) continue;
      fmt::print("{}: b{}[{}] = {}\n  is {:x}, the simulator has {:x}\n", which, b, e, Describe(trace.graph, id, 6),
                 got, want);
      return false;
    }
  }
  return true;
}

bool Fuzzer::Try(uint64_t seed) {
  const RandomProgram program = MakeRandomProgram(seed);
  core::CompiledModule module;
  module.ptx = program.ptx;
  module.kernels.push_back({.kernel = "k", .symbol = "k"});
  const core::LaunchPlan plan = PlanOf(program);
  const std::vector<core::BufferContent> contents = Contents(plan, seed);
  TraceRequest request;
  request.module = &module;
  request.plan = &plan;
  request.buffers = &contents;
  request.dtypes.assign(std::begin(kTypes), std::end(kTypes));
  request.node_limit = 2'000'000;
  auto outcome = TracePlan(request);
  ++programs;
  if (seed % 8 == 0) {  // the limit may be reached in the middle of anything
    request.node_limit = 100 + static_cast<uint32_t>(seed * 7919 % 20'000);
    const auto limited = TracePlan(request);
    if (!limited ||
        (std::holds_alternative<NotTraced>(*limited) && std::get<NotTraced>(*limited).blocker != "node limit" &&
         std::holds_alternative<Trace>(*outcome))) {
      fmt::print("with few expressions another outcome\n");
      return false;
    }
  }
  if (!outcome) {
    fmt::print("{}\n", outcome.error().Format());
    return false;
  }
  if (const auto* none = std::get_if<NotTraced>(&*outcome)) {
    ++not_traced[none->blocker == "node limit" ? none->blocker : none->message];
    return true;
  }
  if (const auto* fault = std::get_if<core::Fault>(&*outcome)) {
    ++not_traced[fault->message];
    return true;
  }
  const Trace& trace = std::get<Trace>(*outcome);
  nodes += trace.graph.size();
  const auto expected = Simulate(module, plan, contents);
  if (expected.empty() || !Agrees(trace, contents, expected, "the inputs of the trace")) return false;
  if (!trace.branches.empty() || !trace.lossy.empty()) {
    branching += !trace.branches.empty();
    lossy += !trace.lossy.empty();
    return true;
  }
  const std::vector<core::BufferContent> others = Contents(plan, ~seed);
  return Agrees(trace, others, Simulate(module, plan, others), "other inputs");
}

}  // namespace
}  // namespace warpwright::lift

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 5;
  uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const bool one = seconds == 0;  // only this seed
  warpwright::lift::Fuzzer fuzzer;
  const auto begin = std::chrono::steady_clock::now();
  auto spent = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  do {
    if (fuzzer.Try(seed)) continue;
    fmt::print("seed {}:\n{}", seed, warpwright::lift::MakeRandomProgram(seed).ptx);
    return 1;
  } while (++seed, !one && spent() < seconds);
  fmt::print("{} programs, {} expressions, {} with branches on data, {} lossy, {:.1f} s\n", fuzzer.programs,
             fuzzer.nodes, fuzzer.branching, fuzzer.lossy, spent());
  uint64_t failed = 0;
  for (const auto& [why, count] : fuzzer.not_traced) {
    fmt::print("  {} x {}\n", count, why);
    failed += count;
  }
  return failed * 10 > fuzzer.programs ? 1 : 0;
}
