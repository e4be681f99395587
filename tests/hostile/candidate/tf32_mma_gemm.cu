// The tensor cores' tf32 product instead of float's: one warp for a tile of 16 by 8.
#include <cuda_runtime.h>

__device__ unsigned int narrow(float v) {
  unsigned int bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(v));
  return bits;
}

__global__ void gemm_kernel(float* c, const float* a, const float* b, int M, int N, int K) {
  int lane = threadIdx.x, group = lane / 4, member = lane % 4;
  int row = blockIdx.y * 16, column = blockIdx.x * 8;
  float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  auto from_a = [&](int r, int k) { return narrow(r < M && k < K ? a[(size_t)r * K + k] : 0.0f); };
  auto from_b = [&](int k, int n) { return narrow(k < K && n < N ? b[(size_t)k * N + n] : 0.0f); };
  for (int k = 0; k < K; k += 8) {
    unsigned int a0 = from_a(row + group, k + member), a1 = from_a(row + group + 8, k + member);
    unsigned int a2 = from_a(row + group, k + member + 4), a3 = from_a(row + group + 8, k + member + 4);
    unsigned int b0 = from_b(k + member, column + group), b1 = from_b(k + member + 4, column + group);
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
  for (int i = 0; i < 4; ++i) {
    int r = row + group + 8 * (i / 2), n = column + 2 * member + i % 2;
    if (r < M && n < N) c[(size_t)r * N + n] = sum[i];
  }
}

void gemm(float* c, const float* a, const float* b, int M, int N, int K) {
  gemm_kernel<<<dim3((N + 7) / 8, (M + 15) / 16), 32>>>(c, a, b, M, N, K);
}
