// Branches on data of which both sides run: the expressions hold for other inputs than those of the run.
#include <gtest/gtest.h>

#include <random>

#include "sim/instruction.h"
#include "tests/support/branchy_kernel.h"
#include "tests/unit/lift/trace_kit.h"

namespace warpwright::lift {
namespace {

using core::DType;
using Pointer = TraceKit::Pointer;

// Converts what depends on data until nothing does, or nothing more can be converted.
Trace RunConverted(TraceKit& kit) {
  for (;;) {
    Trace trace = kit.Run();
    bool added = false;
    for (const DataBranch& branch : trace.branches)
      if (branch.branch != sim::kNoBranch)
        added |= kit.request.decode.converted[trace.kernels[branch.launch]].insert(branch.branch).second;
    if (!added) return trace;
  }
}

// The expressions of one run have the values of others.
void ExpectValuesForOtherInputs(TraceKit& kit, Trace& trace, size_t buffer,
                                const std::function<double(size_t input, size_t element)>& value) {
  for (size_t input = 1; input <= 3; ++input) {
    SCOPED_TRACE(input);
    std::vector<std::byte> bytes(kit.buffers[buffer].bytes.size());
    for (size_t i = 0; i < bytes.size() / 4; ++i) {
      const auto v = static_cast<float>(value(input, i));
      std::memcpy(bytes.data() + 4 * i, &v, 4);
    }
    kit.buffers[buffer].bytes = std::move(bytes);
    const Trace other = kit.Run();
    for (size_t b = 0; b < trace.buffers.size(); ++b) {
      trace.buffers[b].bits = other.buffers[b].bits;
      EXPECT_EQ(trace.buffers[b].written, other.buffers[b].written);
    }
    ExpectValues(trace, kit.buffers, kit.request.dtypes, kit.request.scalars, 0);
  }
}

TEST(LiftBranches, StylesOfSelection) {
  TraceKit kit = TraceKit::FromCuda(R"(
__global__ void styles(const float* in, float* leaky, float* clamped, int* best, int* positive, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  if (x > 0.0f) atomicAdd(positive, 1);
  if (x > 0.0f) leaky[i] = x;
  else leaky[i] = 0.01f * x;
  if (x < -0.5f) clamped[i] = -0.5f;
  else if (x > 0.5f) clamped[i] = 0.5f;
  else clamped[i] = x;
  if (i == 0) {
    float v = -1e30f;
    int arg = 0;
#pragma unroll 1
    for (int k = 0; k < n; ++k)
      if (in[k] > v) { v = in[k]; arg = k; best[1] = k; }
    best[0] = arg;
  }
})",
                                    {"styles"});
  const auto value = [](size_t input, size_t i) { return std::sin(static_cast<double>((input + 2) * (i + 1) * 3)); };
  const uint32_t in = kit.Argument("in", DType::kF32, 6, [&](size_t i) { return value(0, i); }),
                 leaky = kit.Argument("leaky", DType::kF32, 6), clamped = kit.Argument("clamped", DType::kF32, 6),
                 best = kit.Argument("best", DType::kI32, 2),
                 positive = kit.Argument("positive", DType::kI32, 1, [](size_t) { return 0; });
  kit.Launch("styles", {1}, {32}, Pointer{in}, Pointer{leaky}, Pointer{clamped}, Pointer{best}, Pointer{positive}, 6);
  Trace trace = RunConverted(kit);
  ExpectWhole(trace);
  EXPECT_EQ(Describe(trace.graph, trace.buffers[leaky].elements[3]),
            "select.f32(gt.f32(b0[3], 0:f32), b0[3], mul.f32(b0[3], 0.01:f32))");
  ExpectValuesForOtherInputs(kit, trace, in, value);
}

// Where no other thread's access says what a table is, nothing is claimed of it.
TEST(LiftBranches, AddressesByDataUnderConditions) {
  for (const bool known : {true, false}) {
    SCOPED_TRACE(known);
    TraceKit kit = TraceKit::FromCuda(R"(
__global__ void letters(const float* text, const float* weights, int* counts, float* out) {
  __shared__ int before[8], part[6], after[8];
  int i = threadIdx.x;
  if (i < 8) before[i] = after[i] = -1;
  if (i < 6) part[i] = 0;
  __syncthreads();
  int letter = (int)text[i];
  float weight = 0;
  if (letter >= 0 && letter < 6) {
    atomicAdd(&part[letter], 1);
    weight = weights[letter];
  }
  out[i] = weight;
  __syncthreads();
  if (i < 6) counts[i] = part[i] + before[i] + after[i];
})",
                                      {"letters"});
    const auto letter = [](size_t input, size_t i) {
      return static_cast<double>((i * i + 3 * i * input + input) % 11) - 3;  // some of them in the tables beside
    };
    const uint32_t text =
                       kit.Argument("text", DType::kF32, 40,
                                    [&](size_t i) { return known ? letter(0, i) : -2 - static_cast<double>(i % 3); }),
                   weights =
                       kit.Argument("weights", DType::kF32, 6, [](size_t i) { return 0.5 + static_cast<double>(i); }),
                   counts = kit.Argument("counts", DType::kI32, 6), out = kit.Argument("out", DType::kF32, 40);
    kit.Launch("letters", {1}, {40}, Pointer{text}, Pointer{weights}, Pointer{counts}, Pointer{out});
    Trace trace = RunConverted(kit);
    EXPECT_TRUE(trace.branches.empty());
    EXPECT_EQ(trace.lossy.empty(), false);  // weights[-1] is not there
    if (!known) continue;
    trace.buffers[out].elements.assign(40, kConcrete);
    ExpectValuesForOtherInputs(kit, trace, text, letter);
  }
}

// Neither side can run where the other one shall: there are barriers, shuffles and loops in them.
TEST(LiftBranches, LaunchesAlongEveryPath) {
  TraceKit kit = TraceKit::FromCuda(R"(
__global__ void rows(const float* scale, const float* in, float* out, int n) {
  __shared__ float row[64];
  int r = blockIdx.x, t = threadIdx.x;
  float k = scale[r];
  if (k == 0.0f) {
    if (t < n) out[r * n + t] = 1.0f;
    return;
  }
  row[t] = t < n ? in[r * n + t] : 0.0f;
  __syncthreads();
  if (t < n) out[r * n + t] = k * (row[t] + row[n - 1 - t]);
}
__global__ void normal(const float* in, float* out) {
  float v = in[blockIdx.x * 32 + threadIdx.x], s = v;
  for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
  if (s > 0.0f) {
    for (int o = 16; o; o >>= 1) v = fmaxf(v, __shfl_xor_sync(~0u, v, o));
  }
  out[blockIdx.x * 32 + threadIdx.x] = v;
}
__global__ void chosen(const float* in, float* out, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = 0.25f;
  if (in[i] > 0.5f) {
#pragma unroll 1
    for (int j = 0; j < k; ++j) s += in[(i + j) % n] * j;
  }
  if (s < 0.0f) {
#pragma unroll 1
    for (int j = 1; j < k; ++j) s *= in[(i + j) % n];
  }
  out[i] = s;
})",
                                    {"rows", "normal", "chosen"});
  const auto value = [](size_t input, size_t i) {
    const double v = std::sin(static_cast<double>((input + 2) * (i + 1) * 3));
    return (i + input) % 3 == 0 ? 0 : v;
  };
  const uint32_t in = kit.Argument("in", DType::kF32, 96, [&](size_t i) { return value(0, i); }),
                 rows = kit.Argument("rows", DType::kF32, 15), normal = kit.Argument("normal", DType::kF32, 96),
                 chosen = kit.Argument("chosen", DType::kF32, 40);
  kit.Launch("rows", {3}, {64}, Pointer{in}, Pointer{in}, Pointer{rows}, 5);
  kit.Launch("normal", {3}, {32}, Pointer{in}, Pointer{normal});
  kit.Launch("chosen", {2}, {32}, Pointer{in}, Pointer{chosen}, 40, 7);
  const Trace concrete = RunConverted(kit);
  EXPECT_FALSE(concrete.branches.empty());
  kit.request.forked.insert(concrete.kernels.begin(), concrete.kernels.end());
  Trace trace = RunConverted(kit);
  ExpectWhole(trace);
  ExpectValuesForOtherInputs(kit, trace, in, value);
}

// Votes, ballots and reductions over a barrier are values like others, also where a branch follows them.
TEST(LiftBranches, Votes) {
  TraceKit kit = TraceKit::FromCuda(R"(
__global__ void votes(const float* in, int* out, int n) {
  int t = threadIdx.x, lane = t & 31;
  bool below = t < n && in[t] < 0.0f;
  int any = __syncthreads_or(below), all = __syncthreads_and(t >= n || in[t] < 0.5f), count = __syncthreads_count(below);
  unsigned ballot = __ballot_sync(~0u, below);
  int before = __popc(ballot & ((1u << lane) - 1));
  int* at = out + 6 * t;
  at[0] = any ? 1 : 0;
  at[1] = all ? 1 : 0;
  at[2] = count;
  at[3] = __popc(ballot);
  at[4] = below ? before : -1;
  at[5] = 7;
  if (__any_sync(~0u, in[t % n] > 0.9f)) {
    __syncwarp();
    at[5] = __all_sync(~0u, in[t % n] > -0.9f) ? 2 : 3;
  }
})",
                                    {"votes"});
  const auto value = [](size_t input, size_t i) {
    if (input == 1) return 0.25;
    return (input == 2 ? 0.4 : 1.0) * std::sin(static_cast<double>((input + 2) * (i + 1) * 3));
  };
  const uint32_t in = kit.Argument("in", DType::kF32, 45, [&](size_t i) { return value(0, i); }),
                 out = kit.Argument("out", DType::kI32, 6 * 64);
  kit.Launch("votes", {1}, {64}, Pointer{in}, Pointer{out}, 45);
  const Trace concrete = RunConverted(kit);
  kit.request.forked.insert(concrete.kernels.begin(), concrete.kernels.end());
  Trace trace = RunConverted(kit);
  ExpectWhole(trace);
  ExpectValuesForOtherInputs(kit, trace, in, value);
}

// Where the way of one block shows in what another one reads, or there are too many ways, branches stay branches.
TEST(LiftBranches, PathsThatCannotBeToldApart) {
  for (const char* body :
       {"if (in[b] > 0.0f) { __syncthreads(); atomicAdd(out, in[b + 2]); }", "while (v > 1.0f) v *= in[0]; out[b] = v;",
        "if (in[threadIdx.x] > 0.0f) __syncthreads(); out[b] = v;"}) {
    SCOPED_TRACE(body);
    TraceKit kit = TraceKit::FromCuda(
        std::string("__global__ void k(const float* in, float* out) { int b = blockIdx.x; float v = in[b]; ") + body +
            " }",
        {"k"});
    const uint32_t in = kit.Argument("in", DType::kF32, 70, [](size_t i) { return 0.5 + static_cast<double>(i); }),
                   out = kit.Argument("out", DType::kF32, 2, [](size_t) { return 0; });
    kit.Launch("k", {2}, {64}, Pointer{in}, Pointer{out});
    const Trace concrete = RunConverted(kit);
    kit.request.forked.insert(concrete.kernels.begin(), concrete.kernels.end());
    EXPECT_FALSE(RunConverted(kit).branches.empty());
  }
}

// What other data lead to is a read or a store outside of everything: no form.
TEST(LiftBranches, AccessesThatCannotBeMadeAreSaid) {
  for (const char* access : {"out[i] = x > 3.0f ? in[i + 1000] : x", "if (x > 3.0f) out[i + 1000] = x; out[i] = x",
                             "if (x > 3.0f) atomicAdd(out + i + 1000, x); out[i] = x"}) {
    SCOPED_TRACE(access);
    TraceKit kit = TraceKit::FromCuda(
        std::string("__global__ void k(const float* in, float* out) { int i = threadIdx.x; float x = in[i]; ") +
            access + "; }",
        {"k"});
    const uint32_t in = kit.Argument("in", DType::kF32, 32, [](size_t i) { return static_cast<double>(i) / 32; }),
                   out = kit.Argument("out", DType::kF32, 32);
    kit.Launch("k", {1}, {32}, Pointer{in}, Pointer{out});
    const Trace trace = RunConverted(kit);
    EXPECT_TRUE(trace.branches.empty());
    EXPECT_EQ(trace.lossy.size(), 1u);
  }
}

TEST(LiftBranches, RandomKernels) {
  constexpr uint32_t kThreads = 40;  // a warp that is not full
  int whole = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    TraceKit kit = TraceKit::FromPtx(sim::BranchyKernel(seed).Ptx(), {"k"});
    std::mt19937 random(seed);
    const auto value = [&](size_t, size_t) { return (static_cast<int>(random() % 9) - 4) * 0.75; };
    const size_t count = kThreads * sim::BranchyKernel::kPerThread;
    const uint32_t in = kit.Argument("in", DType::kF32, count, [&](size_t i) { return value(0, i); }),
                   out = kit.Argument("out", DType::kF32, count, [](size_t i) { return static_cast<double>(i); }),
                   counts = kit.Argument("count", DType::kI32, sim::BranchyKernel::kCounts, [](size_t) { return 0; });
    kit.Launch("k", {1}, {kThreads}, Pointer{in}, Pointer{out}, Pointer{counts});
    Trace trace = RunConverted(kit);
    for (const std::string& lossy : trace.lossy) ADD_FAILURE() << lossy;
    if (!trace.branches.empty()) continue;
    ++whole;
    ExpectValuesForOtherInputs(kit, trace, in, value);
    if (HasFailure()) break;
  }
  EXPECT_GT(whole, 95);
}

}  // namespace
}  // namespace warpwright::lift
