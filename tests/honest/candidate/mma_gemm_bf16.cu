// Tensor cores, with sums in float: one warp for a tile of 16 by 8.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

__device__ unsigned int pair(__nv_bfloat16 low, __nv_bfloat16 high) {
  return __bfloat16_as_ushort(low) | (unsigned int)__bfloat16_as_ushort(high) << 16;
}

__global__ void gemm_bf16_kernel(__nv_bfloat16* c, const __nv_bfloat16* a, const __nv_bfloat16* b, int M, int N, int K) {
  int lane = threadIdx.x, group = lane / 4, member = lane % 4;
  int row = blockIdx.y * 16, column = blockIdx.x * 8;
  const __nv_bfloat16 zero = __ushort_as_bfloat16(0);
  float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  auto from_a = [&](int r, int k) {
    return pair(r < M && k < K ? a[(size_t)r * K + k] : zero, r < M && k + 1 < K ? a[(size_t)r * K + k + 1] : zero);
  };
  auto from_b = [&](int k, int n) {
    return pair(k < K && n < N ? b[(size_t)k * N + n] : zero, k + 1 < K && n < N ? b[(size_t)(k + 1) * N + n] : zero);
  };
  for (int k = 0; k < K; k += 16) {
    unsigned int a0 = from_a(row + group, k + 2 * member), a1 = from_a(row + group + 8, k + 2 * member);
    unsigned int a2 = from_a(row + group, k + 2 * member + 8), a3 = from_a(row + group + 8, k + 2 * member + 8);
    unsigned int b0 = from_b(k + 2 * member, column + group), b1 = from_b(k + 2 * member + 8, column + group);
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
  for (int i = 0; i < 4; ++i) {
    int r = row + group + 8 * (i / 2), n = column + 2 * member + i % 2;
    if (r < M && n < N) c[(size_t)r * N + n] = __float2bfloat16(sum[i]);
  }
}

void gemm_bf16(__nv_bfloat16* c, const __nv_bfloat16* a, const __nv_bfloat16* b, int M, int N, int K) {
  gemm_bf16_kernel<<<dim3((N + 7) / 8, (M + 15) / 16), 32>>>(c, a, b, M, N, K);
}
