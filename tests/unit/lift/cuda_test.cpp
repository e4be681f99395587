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
            "add.f32(call19.f32(b0[1]), add.f32(call3.f32(b0[1]), add.f32(call3.f32(b0[1]), call3.f32(b0[1]))))");
  EXPECT_EQ(Text(trace, out, 9),
            "add.f32(add.f32(add.f32(call36.f32(abs.f32(b0[1]), 2.5:f32), call23.f32(b0[1])), "
            "call7.f32(add.f32(abs.f32(b0[1]), 1:f32))), call36.f32(b0[1], 2:f32))");
  EXPECT_EQ(Text(trace, dout, 1), "add.f64(add.f64(call3.f64(b2[1]), call19.f64(b2[1])), call11.f64(b2[1]))");
}

}  // namespace
}  // namespace warpwright::lift
