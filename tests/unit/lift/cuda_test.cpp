// CUDA kernels in the styles that occur: what the expressions of their outputs are, and that they have its values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/lift/trace_kit.h"

namespace warpwright::lift {
namespace {

using core::DType;
using Pointer = TraceKit::Pointer;

double Value(size_t i) { return std::sin(static_cast<double>(i) * 1.7 + 0.3) * 2; }

std::string Text(const Trace& trace, size_t buffer, size_t element) {
  return Describe(trace.graph, trace.buffers[buffer].elements[element]);
}

TEST(LiftCuda, Elementwise) {
  TraceKit kit = TraceKit::FromCuda(R"(
__global__ void scale(const float* in, float* out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * factor + 1.0f;
})",
                                    {"scale"});
  const uint32_t in = kit.Argument("in", DType::kF32, 100, Value), out = kit.Argument("out", DType::kF32, 100);
  kit.request.scalars = {{DType::kF32, 1.2345678, 2}};
  kit.Launch("scale", {2}, {64}, Pointer{in}, Pointer{out}, 1.2345678f, 100);
  const Trace trace = kit.Run();
  ExpectWhole(trace);
  EXPECT_EQ(Text(trace, out, 70), "fma.f32(b0[70], s2, 1:f32)");
  EXPECT_TRUE(trace.buffers[out].written[99]);
  EXPECT_FALSE(trace.buffers[in].written[0]);
  EXPECT_EQ(trace.locations[trace.graph[trace.buffers[out].elements[70]].line].line, 4);
}

TEST(LiftCuda, TiledProduct) {
  TraceKit kit = TraceKit::FromCuda(R"(
__global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float x[8][8], y[8][9];
  int row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 8 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += 8) {
    x[threadIdx.y][threadIdx.x] = k + threadIdx.x < n && row < n ? a[row * n + k + threadIdx.x] : 0;
    y[threadIdx.y][threadIdx.x] = k + threadIdx.y < n && column < n ? b[(k + threadIdx.y) * n + column] : 0;
    __syncthreads();
    for (int j = 0; j < 8; ++j) sum += x[threadIdx.y][j] * y[j][threadIdx.x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
})",
                                    {"product"});
  const uint32_t a = kit.Argument("a", DType::kF32, 121, Value), b = kit.Argument("b", DType::kF32, 121, Value),
                 c = kit.Argument("c", DType::kF32, 121);
  kit.Launch("product", {2, 2}, {8, 8}, Pointer{a}, Pointer{b}, Pointer{c}, 11);
  const Trace trace = kit.Run();
  ExpectWhole(trace);
  EXPECT_EQ(Describe(trace.graph, trace.buffers[c].elements[12 * 5], 2).substr(0, 8), "fma.f32(");
  for (const bool written : trace.buffers[c].written) EXPECT_TRUE(written);
}

TEST(LiftCuda, MathematicalFunctionsStayCalls) {
  TraceKit kit = TraceKit::FromCuda(R"(
#include <cuda_fp16.h>
__global__ void functions(const float* in, float* out, const double* din, double* dout) {
  float x = in[threadIdx.x];
  out[threadIdx.x] = expf(x) + std::exp(x) + exp(x) + ::tanhf(x);
  out[threadIdx.x + 8] = powf(fabsf(x), 2.5f) + erff(x) + std::log(fabsf(x) + 1) + pow(x, 2);
  double y = din[threadIdx.x];
  dout[threadIdx.x] = exp(y) + std::tanh(y) + sin(y);
})",
                                    {"functions"});
  const uint32_t in = kit.Argument("in", DType::kF32, 8, Value), out = kit.Argument("out", DType::kF32, 16),
                 din = kit.Argument("din", DType::kF64, 8, Value), dout = kit.Argument("dout", DType::kF64, 8);
  kit.Launch("functions", {1}, {8}, Pointer{in}, Pointer{out}, Pointer{din}, Pointer{dout});
  const Trace trace = kit.Run(1);
  ExpectWhole(trace);
  EXPECT_EQ(Text(trace, out, 1),
            "add.f32(tanh.f32(b0[1]), add.f32(exp.f32(b0[1]), add.f32(exp.f32(b0[1]), exp.f32(b0[1]))))");
  EXPECT_EQ(Text(trace, out, 9),
            "add.f32(add.f32(add.f32(pow.f32(abs.f32(b0[1]), 2.5:f32), erf.f32(b0[1])), "
            "log.f32(add.f32(abs.f32(b0[1]), 1:f32))), pow.f32(b0[1], 2:f32))");
  EXPECT_EQ(Text(trace, dout, 1), "add.f64(add.f64(exp.f64(b2[1]), tanh.f64(b2[1])), sin.f64(b2[1]))");
}

TEST(LiftCuda, ReductionByShufflesAndAtomics) {
  TraceKit kit = TraceKit::FromCuda(R"(
__global__ void sum(const float* in, float* out, int n) {
  __shared__ float part[4];
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s += in[i];
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(0xffffffff, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x == 0) out[0] = part[0] + part[1] + part[2] + part[3];
  if (threadIdx.x % 32 == 0) atomicAdd(out + 1, s);
})",
                                    {"sum"});
  const uint32_t in = kit.Argument("in", DType::kF32, 300, Value), out = kit.Argument("out", DType::kF32, 2, Value);
  kit.Launch("sum", {1}, {128}, Pointer{in}, Pointer{out}, 300);
  const Trace trace = kit.Run();
  ExpectWhole(trace);
  EXPECT_EQ(Describe(trace.graph, trace.buffers[out].elements[1], 1).substr(0, 12), "add.f32~z(..");
}

TEST(LiftCuda, AdditionByCompareAndSwap) {
  TraceKit kit = TraceKit::FromCuda(R"(
__device__ void add(float* to, float v) {
  int* p = (int*)to;
  int old = *p, assumed;
  do {
    assumed = old;
    old = atomicCAS(p, assumed, __float_as_int(v + __int_as_float(assumed)));
  } while (assumed != old);
}
__global__ void sum(const float* in, float* out) { add(out, in[threadIdx.x]); }
)",
                                    {"sum"});
  const uint32_t in = kit.Argument("in", DType::kF32, 40, Value),
                 out = kit.Argument("out", DType::kF32, 1, [](size_t) { return 0.5; });
  kit.Launch("sum", {1}, {40}, Pointer{in}, Pointer{out});
  const Trace trace = kit.Run();
  ExpectWhole(trace);
  int terms = 0;
  for (ExprId id = trace.buffers[out].elements[0]; trace.graph[id].op == ExprOp::kAdd; id = trace.graph[id].args[1])
    ++terms;
  EXPECT_EQ(terms, 40);
}

TEST(LiftCuda, PackedHalves) {
  TraceKit kit = TraceKit::FromCuda(R"(
#include <cuda_fp16.h>
__global__ void axpy(const __half2* x, const __half2* y, __half2* out, __half* low) {
  int i = threadIdx.x;
  __half2 v = __hfma2(x[i], y[i], __floats2half2_rn(0.5f, -2.f));
  out[i] = __habs2(__hneg2(v));
  low[i] = __hadd(__high2half(v), __low2half(x[i]));
}
__global__ void wide(const float4* x, float4* out) {  // eight halves at once
  float4 v = x[threadIdx.x];
  __half2* h = (__half2*)&v;
  for (int k = 0; k < 4; ++k) h[k] = __hmul2(h[k], h[(k + 1) & 3]);
  out[threadIdx.x] = v;
})",
                                    {"axpy", "wide"});
  const uint32_t x = kit.Argument("x", DType::kF16, 64, Value), y = kit.Argument("y", DType::kF16, 64, Value),
                 out = kit.Argument("out", DType::kF16, 64), low = kit.Argument("low", DType::kF16, 32),
                 w = kit.Argument("w", DType::kF16, 64);
  kit.Launch("axpy", {1}, {32}, Pointer{x}, Pointer{y}, Pointer{out}, Pointer{low});
  kit.Launch("wide", {1}, {8}, Pointer{x}, Pointer{w});
  const Trace trace = kit.Run();
  ExpectWhole(trace);
  EXPECT_EQ(Text(trace, out, 3), "abs.f16(neg.f16(fma.f16(b0[3], b1[3], -2:f16)))");
  EXPECT_EQ(Text(trace, low, 1), "add.f16(fma.f16(b0[3], b1[3], -2:f16), b0[2])");
  EXPECT_EQ(Text(trace, w, 8 * 2 + 1), "mul.f16(b0[17], b0[19])");
}

TEST(LiftCuda, Bfloat16ByShifts) {
  TraceKit kit = TraceKit::FromCuda(R"(
#include <cuda_bf16.h>
__global__ void k(const unsigned* packed, const __nv_bfloat16* one, __nv_bfloat16* out, float* sum) {
  int i = threadIdx.x;
  float low = __uint_as_float(packed[i] << 16), high = __uint_as_float(packed[i] & 0xffff0000u);
  sum[i] = low * high + __bfloat162float(one[i]);
  out[i] = __float2bfloat16(low - high);
})",
                                    {"k"});
  const uint32_t packed = kit.Argument("packed", DType::kBF16, 64, Value),
                 one = kit.Argument("one", DType::kBF16, 32, Value), out = kit.Argument("out", DType::kBF16, 32),
                 sum = kit.Argument("sum", DType::kF32, 32);
  kit.Launch("k", {1}, {32}, Pointer{packed}, Pointer{one}, Pointer{out}, Pointer{sum});
  const Trace trace = kit.Run();
  ExpectWhole(trace);
  EXPECT_EQ(Text(trace, sum, 3), "fma.f32(convert.f32.bf16(b0[6]), convert.f32.bf16(b0[7]), convert.f32.bf16(b1[3]))");
  EXPECT_EQ(Text(trace, out, 0), "convert.bf16.f32(sub.f32(convert.f32.bf16(b0[0]), convert.f32.bf16(b0[1])))");
}

TEST(LiftCuda, FloatBits) {
  TraceKit kit = TraceKit::FromCuda(R"(
__global__ void k(const float* x, const double* y, float* out, double* dout) {
  int i = threadIdx.x;
  int bits = __float_as_int(x[i]);
  out[i] = __int_as_float(bits & 0x7fffffff) - __int_as_float(bits ^ 0x80000000);
  out[i + 8] = copysignf(x[i], x[i + 1]);
  out[i + 16] = fmaxf(x[i], 0.f) + fminf(x[i], x[i + 1]) + floorf(x[i]) + rsqrtf(fabsf(x[i])) + sqrtf(fabsf(x[i]));
  out[i + 24] = __int_as_float(((bits >> 23) + 1) << 23);
  dout[i] = copysign(y[i], -y[i + 1]) + fabs(y[i]) + __hiloint2double(__double2hiint(y[i]), __double2loint(y[i]));
})",
                                    {"k"});
  const uint32_t x = kit.Argument("x", DType::kF32, 9, Value), y = kit.Argument("y", DType::kF64, 9, Value),
                 out = kit.Argument("out", DType::kF32, 32), dout = kit.Argument("dout", DType::kF64, 8);
  kit.Launch("k", {1}, {8}, Pointer{x}, Pointer{y}, Pointer{out}, Pointer{dout});
  const Trace trace = kit.Run(1);
  ExpectWhole(trace);
  EXPECT_EQ(Text(trace, out, 2), "sub.f32(abs.f32(b0[2]), neg.f32(b0[2]))");
  EXPECT_EQ(Text(trace, out, 8), "copysign.f32(b0[1], b0[0])");
}

TEST(LiftCuda, GatherAndTableAndScatter) {
  TraceKit kit = TraceKit::FromCuda(R"(
__global__ void embed(const long long* ids, const float* table, float* out, int width) {
  int row = blockIdx.x, c = threadIdx.x;
  out[row * width + c] = table[ids[row] * width + c] * 2;
}
__global__ void lookup(const unsigned char* codes, float* out) {
  __shared__ float levels[16];
  if (threadIdx.x < 16) levels[threadIdx.x] = threadIdx.x * 0.25f - 1;
  __syncthreads();
  out[threadIdx.x] = levels[codes[threadIdx.x] & 15];
}
__global__ void scatter(const int* to, const float* v, float* out) { out[to[threadIdx.x]] = v[threadIdx.x]; }
)",
                                    {"embed", "lookup", "scatter"});
  const uint32_t ids = kit.Argument("ids", DType::kI64, 5, [](size_t i) { return static_cast<double>(i * 7 % 6); }),
                 table = kit.Argument("table", DType::kF32, 24, Value), out = kit.Argument("out", DType::kF32, 20),
                 codes =
                     kit.Argument("codes", DType::kU8, 32, [](size_t i) { return static_cast<double>(i * 37 % 250); }),
                 levels = kit.Argument("levels", DType::kF32, 32),
                 to = kit.Argument("to", DType::kI32, 6, [](size_t i) { return static_cast<double>(i * 5 % 7); }),
                 scattered = kit.Argument("scattered", DType::kF32, 8, Value);
  kit.Launch("embed", {5}, {4}, Pointer{ids}, Pointer{table}, Pointer{out}, 4);
  kit.Launch("lookup", {1}, {32}, Pointer{codes}, Pointer{levels});
  kit.Launch("scatter", {1}, {6}, Pointer{to}, Pointer{table}, Pointer{scattered});
  const Trace trace = kit.Run();
  ExpectWhole(trace);
  EXPECT_EQ(
      Text(trace, out, 7),
      "add.f32(b1[int_add.s64(int_mul.s64(b0[1], 4:s64), 3:s64)], b1[int_add.s64(int_mul.s64(b0[1], 4:s64), 3:s64)])");
  EXPECT_EQ(trace.graph[trace.buffers[scattered].elements[7]].op, ExprOp::kSelect);
  EXPECT_EQ(trace.graph[trace.buffers[levels].elements[7]].op, ExprOp::kSelect);
}

TEST(LiftCuda, TableThatWasCopiedFromAnArgument) {
  TraceKit kit = TraceKit::FromCuda(R"(
__global__ void lookup(const unsigned char* codes, const float* table, float* out) {
  __shared__ float copy[256];
  for (int i = threadIdx.x; i < 256; i += 32) copy[i] = table[2 * i + 1];
  __syncthreads();
  out[threadIdx.x] = copy[codes[threadIdx.x]];
})",
                                    {"lookup"});
  const uint32_t codes =
                     kit.Argument("codes", DType::kU8, 32, [](size_t i) { return static_cast<double>(i * 37 % 250); }),
                 table = kit.Argument("table", DType::kF32, 512, Value), out = kit.Argument("out", DType::kF32, 32);
  kit.Launch("lookup", {1}, {32}, Pointer{codes}, Pointer{table}, Pointer{out});
  const Trace trace = kit.Run();
  ExpectWhole(trace);
  EXPECT_EQ(trace.graph[trace.buffers[out].elements[7]].op, ExprOp::kGather);
  EXPECT_LT(trace.graph.size(), 2000u);
}

TEST(LiftCuda, Histograms) {
  TraceKit kit = TraceKit::FromCuda(R"(
__global__ void shared(const int* in, int* bins, int n) {
  __shared__ int part[8];
  if (threadIdx.x < 8) part[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += 32) atomicAdd(&part[in[i] & 7], 1);
  __syncthreads();
  if (threadIdx.x < 8) atomicAdd(&bins[threadIdx.x], part[threadIdx.x]);
}
__global__ void weighted(const int* in, const float* w, float* bins, int n) {
  int i = blockIdx.x * 16 + threadIdx.x;
  if (i < n) atomicAdd(&bins[in[i]], w[i]);
})",
                                    {"shared", "weighted"});
  auto index = [](size_t i) { return static_cast<double>(i * i % 8); };
  const uint32_t in = kit.Argument("in", DType::kI32, 40, index), w = kit.Argument("w", DType::kF32, 40, Value),
                 counts = kit.Argument("counts", DType::kI32, 8, [](size_t) { return 0.0; }),
                 bins = kit.Argument("bins", DType::kF32, 8, [](size_t) { return 0.0; });
  kit.Launch("shared", {1}, {32}, Pointer{in}, Pointer{counts}, 40);
  kit.Launch("weighted", {3}, {16}, Pointer{in}, Pointer{w}, Pointer{bins}, 40);
  const Trace trace = kit.Run();
  ExpectWhole(trace);
  EXPECT_NE(trace.buffers[counts].elements[3], kConcrete);
  EXPECT_EQ(trace.graph[trace.buffers[bins].elements[3]].op, ExprOp::kSelect);
}

TEST(LiftCuda, BranchesOnDataAreRecorded) {
  TraceKit kit = TraceKit::FromCuda(R"(
__global__ void k(const float* in, float* out, float* rare) {
  int i = threadIdx.x;
  float v = in[i];
  out[i] = v > 0 ? v : 0;
  if (v < -1.5f) atomicAdd(rare, v);
  if (__any_sync(0xffffffff, v > 1.9f)) out[i] += 1;
})",
                                    {"k"});
  const uint32_t in = kit.Argument("in", DType::kF32, 32, Value), out = kit.Argument("out", DType::kF32, 32),
                 rare = kit.Argument("rare", DType::kF32, 1, [](size_t) { return 0.0; });
  kit.Launch("k", {1}, {32}, Pointer{in}, Pointer{out}, Pointer{rare});
  const Trace trace = kit.Run();
  EXPECT_TRUE(trace.lossy.empty());
  ASSERT_EQ(trace.branches.size(), 64u);
  int taken = 0, at_six = 0;
  for (const DataBranch& branch : trace.branches) {
    EXPECT_EQ(branch.file, "kernel.cu");
    EXPECT_EQ(branch.taken ? 1u : 0u, trace.graph[branch.predicate].concrete);
    at_six += branch.line == 6;
    taken += branch.line == 6 && Value(branch.thread) < -1.5;
  }
  EXPECT_EQ(at_six, 32);
  EXPECT_GT(taken, 0);
}

TEST(LiftCuda, WorkspaceMemsetCopyAndTwoRuns) {
  TraceKit kit = TraceKit::FromCuda(R"(
__global__ void rows(const float* in, float* sums, int n) {
  for (int i = 0; i < n; ++i) atomicAdd(&sums[blockIdx.x], in[blockIdx.x * n + i]);
}
__global__ void divide(float* data, const float* sums, int n) { data[blockIdx.x * n + threadIdx.x] /= sums[blockIdx.x]; }
)",
                                    {"rows", "divide"});
  const uint32_t in = kit.Argument("in", DType::kF32, 12, Value), out = kit.Argument("out", DType::kF32, 12),
                 sums = kit.Workspace(16);
  kit.plan.ops.emplace_back(core::MemsetOp{.destination = {sums, 0}, .value = 0, .unit = 4, .bytes = 16});
  kit.plan.ops.emplace_back(core::CopyOp{.destination = {out, 0}, .source = {in, 0}, .bytes = 48});
  kit.Launch("rows", {4}, {1}, Pointer{in}, Pointer{sums}, 3);
  kit.Launch("divide", {4}, {3}, Pointer{out}, Pointer{sums}, 3);
  Trace trace = kit.Run();
  ExpectWhole(trace);
  EXPECT_EQ(Text(trace, out, 4), "div.f32(b0[4], add.f32~z(add.f32~z(add.f32~z(0:f32, b0[3]), b0[4]), b0[5]))");
  kit.request.earlier_call = &kit.buffers;
  trace = kit.Run();  // everything is initialised again
  EXPECT_EQ(Text(trace, out, 4), "div.f32(b0[4], add.f32~z(add.f32~z(add.f32~z(0:f32, b0[3]), b0[4]), b0[5]))");
  kit.request.block_order = 2;
  kit.request.earlier_call = nullptr;
  trace = kit.Run();
  EXPECT_EQ(Text(trace, out, 4), "div.f32(b0[4], add.f32~z(add.f32~z(add.f32~z(0:f32, b0[3]), b0[4]), b0[5]))");
}

TEST(LiftCuda, CopiesBetweenBuffersAndVariables) {
  TraceKit kit = TraceKit::FromCuda(R"(
__constant__ float weights[4];
namespace ns { __device__ float scale[2]; }
__global__ void filter(float* out, const float* in) {
  int i = threadIdx.x;
  out[i] = weights[i] * in[i] + weights[3] * ns::scale[0];
  if (i == 0) ns::scale[1] = in[2];
})",
                                    {"filter"});
  const uint32_t in = kit.Argument("in", DType::kF32, 4, Value), w = kit.Argument("w", DType::kF32, 8, Value),
                 out = kit.Argument("out", DType::kF32, 8);
  kit.plan.ops.emplace_back(core::SymbolCopyOp{"weights", 0, {w, 4}, 16, 0, true});
  kit.plan.ops.emplace_back(core::SymbolCopyOp{"weights", 12, {w, 0}, 4, 0, true});
  kit.plan.ops.emplace_back(core::SymbolCopyOp{"ns::scale", 0, {w, 28}, 4, 0, true});
  kit.plan.ops.emplace_back(core::SymbolCopyOp{"dropped", 0, {w, 0}, 4, 0, true});
  kit.Launch("filter", {1}, {4}, Pointer{out}, Pointer{in});
  kit.plan.ops.emplace_back(core::SymbolCopyOp{"ns::scale", 4, {out, 16}, 4, 0, false});
  kit.plan.ops.emplace_back(core::SymbolCopyOp{"weights", 4, {out, 20}, 8, 0, false});
  const auto expect = [&](const Trace& trace) {
    ExpectWhole(trace);
    EXPECT_EQ(Text(trace, out, 1), "fma.f32(b1[2], b0[1], mul.f32(b1[0], b1[7]))");
    EXPECT_EQ(Text(trace, out, 4), "b0[2]");
    EXPECT_EQ(Text(trace, out, 6), "b1[3]");
  };
  Trace trace = kit.Run();
  expect(trace);
  kit.request.earlier_call = &kit.buffers;
  expect(kit.Run());  // everything is copied again
  kit.plan.ops.emplace_back(core::SymbolCopyOp{"dropped", 0, {out, 28}, 4, 0, false});
  EXPECT_TRUE(std::holds_alternative<NotTraced>(kit.Outcome()));
}

TEST(LiftCuda, InPlaceKeepsVersionsApart) {
  TraceKit kit = TraceKit::FromCuda(R"(
__global__ void twice(float* x) {
  float v = x[threadIdx.x];
  __syncthreads();
  x[(threadIdx.x + 1) % 8] = v * v;
})",
                                    {"twice"});
  const uint32_t x = kit.Argument("x", DType::kF32, 8, Value);
  kit.Launch("twice", {1}, {8}, Pointer{x});
  kit.Launch("twice", {1}, {8}, Pointer{x});
  const Trace trace = kit.Run();
  ExpectWhole(trace);
  EXPECT_EQ(Text(trace, x, 0), "mul.f32(mul.f32(b0[6], b0[6]), mul.f32(b0[6], b0[6]))");
}

// What a call leaves in the module's memory shows in the next one, whose inputs are others.
TEST(LiftCuda, EarlierCallLeavesItsSymbols) {
  TraceKit kit = TraceKit::FromCuda(R"(
__device__ float kept;
__device__ int called;
__global__ void remembers(const float* in, float* out, float* sum) {
  if (called == 0) kept = in[0];
  called = 1;
  out[0] = kept;
  sum[0] = sum[0] + in[1];
})",
                                    {"remembers"});
  const uint32_t in = kit.Argument("in", DType::kF32, 2, Value), out = kit.Argument("out", DType::kF32, 1),
                 sum = kit.Argument("sum", DType::kF32, 1, Value);
  kit.Launch("remembers", {1}, {1}, Pointer{in}, Pointer{out}, Pointer{sum});
  EXPECT_EQ(Text(kit.Run(), out, 0), "b0[0]");
  kit.request.earlier_call = &kit.buffers;
  TraceOutcome outcome = kit.Outcome();
  ASSERT_TRUE(std::holds_alternative<Trace>(outcome));
  const Trace& trace = std::get<Trace>(outcome);
  EXPECT_EQ(Text(trace, out, 0), "b3[0]");
  EXPECT_EQ(Text(trace, sum, 0), "add.f32(b2[0], b0[1])");  // the argument is given anew
}

TEST(LiftCuda, Outcomes) {
  TraceKit kit = TraceKit::FromCuda(R"(
__global__ void k(const float* in, float* out, int n) { for (int i = 0; i < n; ++i) out[i] = in[i] * out[i]; }
)",
                                    {"k"});
  const uint32_t in = kit.Argument("in", DType::kF32, 100, Value), out = kit.Argument("out", DType::kF32, 100, Value);
  kit.Launch("k", {1}, {1}, Pointer{in}, Pointer{out}, 100);
  kit.request.node_limit = 50;
  TraceOutcome outcome = kit.Outcome();
  ASSERT_TRUE(std::holds_alternative<NotTraced>(outcome));
  EXPECT_EQ(std::get<NotTraced>(outcome).blocker, "node limit");
  kit.request.node_limit = 5000;
  kit.request.instruction_limit = 100;
  outcome = kit.Outcome();
  ASSERT_TRUE(std::holds_alternative<NotTraced>(outcome));
  EXPECT_EQ(std::get<NotTraced>(outcome).blocker, "instruction limit");
  kit.request.instruction_limit = 100'000;
  std::memcpy(std::get<core::KernelLaunch>(kit.plan.ops[0]).parameters[2].bytes.data(), "\x65\0\0\0", 4);
  outcome = kit.Outcome();
  ASSERT_TRUE(std::holds_alternative<core::Fault>(outcome));
  EXPECT_EQ(std::get<core::Fault>(outcome).kind, core::Fault::Kind::kOutOfBounds);
}

}  // namespace
}  // namespace warpwright::lift
