// mma.sync fed by ldmatrix from tiles that cp.async brings three stages ahead, where rows are whole 16 bytes; other
// shapes take the plain kernel. Four warps for a tile of 64 by 64.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

constexpr int kRows = 64, kColumns = 64, kDepth = 32, kStages = 3, kPad = 8;

struct Tiles {
  __nv_bfloat16 a[kStages][kRows][kDepth + kPad];
  __nv_bfloat16 b[kStages][kDepth][kColumns + kPad];
};

__device__ unsigned int shared_address(const void* p) { return (unsigned int)__cvta_generic_to_shared(p); }

__device__ void copy16(void* to, const void* from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(inside ? 16 : 0)
               : "memory");
}

__device__ void load_tiles(Tiles& t, int stage, const __nv_bfloat16* a, const __nv_bfloat16* b, int row, int column,
                           int k, int M, int N, int K) {
  for (int i = threadIdx.x; i < kRows * kDepth / 8; i += blockDim.x) {
    int r = i / (kDepth / 8), d = i % (kDepth / 8) * 8;
    bool inside = row + r < M && k + d < K;
    copy16(&t.a[stage][r][d], inside ? a + (size_t)(row + r) * K + k + d : a, inside);
  }
  for (int i = threadIdx.x; i < kDepth * kColumns / 8; i += blockDim.x) {
    int d = i / (kColumns / 8), n = i % (kColumns / 8) * 8;
    bool inside = k + d < K && column + n < N;
    copy16(&t.b[stage][d][n], inside ? b + (size_t)(k + d) * N + column + n : b, inside);
  }
}

__global__ void __launch_bounds__(128)
    pipelined_kernel(__nv_bfloat16* c, const __nv_bfloat16* a, const __nv_bfloat16* b, int M, int N, int K) {
  __shared__ __align__(128) Tiles t;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = blockIdx.y * kRows, column = blockIdx.x * kColumns;
  const int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;
  const int tiles = (K + kDepth - 1) / kDepth;
  float sum[2][4][4] = {};
  for (int s = 0; s < kStages - 1; ++s) {
    if (s < tiles) load_tiles(t, s, a, b, row, column, s * kDepth, M, N, K);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  for (int s = 0; s < tiles; ++s) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
    __syncthreads();
    if (s + kStages - 1 < tiles)
      load_tiles(t, (s + kStages - 1) % kStages, a, b, row, column, (s + kStages - 1) * kDepth, M, N, K);
    asm volatile("cp.async.commit_group;" ::: "memory");
    const int stage = s % kStages;
    for (int k = 0; k < kDepth; k += 16) {
      unsigned int fa[2][4], fb[4][2];
      for (int i = 0; i < 2; ++i) {
        unsigned int from = shared_address(&t.a[stage][warp_row + 16 * i + lane % 16][k + lane / 16 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(fa[i][0]), "=r"(fa[i][1]), "=r"(fa[i][2]), "=r"(fa[i][3])
                     : "r"(from));
      }
      for (int j = 0; j < 4; ++j) {
        unsigned int from = shared_address(&t.b[stage][k + lane % 16][warp_column + 8 * j]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                     : "=r"(fb[j][0]), "=r"(fb[j][1])
                     : "r"(from));
      }
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j)
          asm volatile(
              "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
              : "+f"(sum[i][j][0]), "+f"(sum[i][j][1]), "+f"(sum[i][j][2]), "+f"(sum[i][j][3])
              : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j][0]), "r"(fb[j][1]));
    }
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      for (int e = 0; e < 4; ++e) {
        int r = row + warp_row + 16 * i + lane / 4 + e / 2 * 8, n = column + warp_column + 8 * j + lane % 4 * 2 + e % 2;
        if (r < M && n < N) c[(size_t)r * N + n] = __float2bfloat16(sum[i][j][e]);
      }
}

__global__ void plain_kernel(__nv_bfloat16* c, const __nv_bfloat16* a, const __nv_bfloat16* b, int M, int N, int K) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || column >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k)
    sum += __bfloat162float(a[(size_t)row * K + k]) * __bfloat162float(b[(size_t)k * N + column]);
  c[(size_t)row * N + column] = __float2bfloat16(sum);
}

void gemm_bf16(__nv_bfloat16* c, const __nv_bfloat16* a, const __nv_bfloat16* b, int M, int N, int K) {
  bool whole = K % 8 == 0 && N % 8 == 0 && (size_t)a % 16 == 0 && (size_t)b % 16 == 0;
  if (whole)
    pipelined_kernel<<<dim3((N + kColumns - 1) / kColumns, (M + kRows - 1) / kRows), 128>>>(c, a, b, M, N, K);
  else plain_kernel<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(c, a, b, M, N, K);
}
