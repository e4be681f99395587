// Products on tensor cores, and what brings their fragments, as expressions.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/lift/trace_kit.h"

namespace warpwright::lift {
namespace {

using core::DType;
using Pointer = TraceKit::Pointer;

double Small(size_t i) { return static_cast<double>(i * 7 % 13) - 6; }

// All elements are sums of products, which begin with `first`.
void ExpectProduct(const Trace& trace, uint32_t c, const std::string& first) {
  ExpectWhole(trace);
  for (const bool written : trace.buffers[c].written) EXPECT_TRUE(written);
  const std::string text = Describe(trace.graph, trace.buffers[c].elements[0], 40);
  EXPECT_NE(text.find(first), std::string::npos) << text;
}

TEST(LiftMatrix, Wmma) {
  TraceKit kit = TraceKit::FromCuda(R"(
#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;
__global__ void product(const __half* a, const __half* b, float* c, int n) {
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::col_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::load_matrix_sync(fa, a + k * n + blockIdx.y * 16, n);
    wmma::load_matrix_sync(fb, b + blockIdx.x * 16 * n + k, n);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, sum, n, wmma::mem_row_major);
})",
                                    {"product"});
  const uint32_t a = kit.Argument("a", DType::kF16, 1024, Small), b = kit.Argument("b", DType::kF16, 1024, Small),
                 c = kit.Argument("c", DType::kF32, 1024);
  kit.Launch("product", {2, 2}, {32}, Pointer{a}, Pointer{b}, Pointer{c}, 32);
  const Trace trace = kit.Run();
  ExpectProduct(trace, c, "fma.f32~(convert.f32.f16(b0[32]), convert.f32.f16(b1[1]), fma.f32~(convert.f32.f16(b0[0]),");
  const std::string corner = Describe(trace.graph, trace.buffers[c].elements[1023], 80);
  EXPECT_NE(corner.find("b0[1023]"), std::string::npos) << corner;
  EXPECT_NE(corner.find("b1[1023]"), std::string::npos) << corner;
}

TEST(LiftMatrix, CopiesFragmentsAndProducts) {
  TraceKit kit = TraceKit::FromCuda(R"(
#include <cuda_bf16.h>
__device__ unsigned address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void copy16(void* to, const void* from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(address(to)), "l"(from), "r"(inside ? 16 : 0) : "memory");
}
__global__ void product(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int rows) {  // rows by 16, 16 by 8
  __shared__ __align__(16) __nv_bfloat16 x[16][24], y[16][8];
  int lane = threadIdx.x;
  copy16(&x[lane / 2][lane % 2 * 8], a + lane * 8, lane / 2 < rows);
  if (lane < 16) copy16(&y[lane][0], b + lane * 8, true);
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  unsigned f[4], g[2];
  float d[4] = {};
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3]) : "r"(address(&x[lane % 16][lane / 16 * 8])));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
               : "=r"(g[0]), "=r"(g[1]) : "r"(address(&y[lane % 16][0])));
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(f[0]), "r"(f[1]), "r"(f[2]), "r"(f[3]), "r"(g[0]), "r"(g[1]));
  for (int e = 0; e < 4; ++e)
    if (lane / 4 + e / 2 * 8 < rows) c[(lane / 4 + e / 2 * 8) * 8 + lane % 4 * 2 + e % 2] = d[e];
})",
                                    {"product"});
  const uint32_t a = kit.Argument("a", DType::kBF16, 13 * 16, Small), b = kit.Argument("b", DType::kBF16, 128, Small),
                 c = kit.Argument("c", DType::kF32, 13 * 8);
  kit.Launch("product", {1}, {32}, Pointer{a}, Pointer{b}, Pointer{c}, 13);
  const Trace trace = kit.Run();
  ExpectProduct(trace, c,
                "fma.f32~(convert.f32.bf16(b0[1]), convert.f32.bf16(b1[8]), fma.f32~(convert.f32.bf16(b0[0])");
  const std::string last = Describe(trace.graph, trace.buffers[c].elements[13 * 8 - 1], 80);
  EXPECT_NE(last.find("b0[207]"), std::string::npos) << last;
  EXPECT_NE(last.find("b1[127]"), std::string::npos) << last;
}

TEST(LiftMatrix, WhatHasNoExpressionIsTold) {
  TraceKit kit = TraceKit::FromPtx(R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
.reg .b32 %r<4>; .reg .f32 %f<5>; .reg .b64 %rd<6>;
ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
ld.global.b32 %r2, [%rd4];
mov.f32 %f1, 0f00000000;
mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r2,%r2}, {%r2}, {%f1,%f1,%f1,%f1};
st.global.f32 [%rd5], %f1;
ret; })",
                                   {"k"});
  const uint32_t in = kit.Argument("in", DType::kF32, 32, Small), out = kit.Argument("out", DType::kF32, 32);
  kit.Launch("k", {1}, {32}, Pointer{in}, Pointer{out});
  const TraceOutcome outcome = kit.Outcome();
  const Trace* trace = std::get_if<Trace>(&outcome);
  ASSERT_NE(trace, nullptr);
  ASSERT_EQ(trace->lossy.size(), 1u);
  EXPECT_TRUE(trace->lossy[0].starts_with("a product of matrices in tf32"));
}

}  // namespace
}  // namespace warpwright::lift
