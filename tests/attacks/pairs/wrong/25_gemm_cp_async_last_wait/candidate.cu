#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// c (M, N) = a (M, K) @ b (K, N), row-major floats. The next tiles are copied asynchronously while the current ones are
// multiplied.
constexpr int TILE = 16;

__device__ inline void copy_async(float* to, const float* from, bool valid) {
  unsigned at = (unsigned)__cvta_generic_to_shared(to);
  int bytes = valid ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;\n" ::"r"(at), "l"(from), "r"(bytes) : "memory");
}
__device__ inline void commit() { asm volatile("cp.async.commit_group;\n" ::: "memory"); }
template <int PENDING>
__device__ inline void wait() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(PENDING) : "memory");
}

__global__ void __launch_bounds__(256) sgemm_kernel(float* c, const float* a, const float* b, int M, int N, int K) {
  __shared__ float sa[2][TILE][TILE], sb[2][TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  int tiles = (K + TILE - 1) / TILE;
  auto load = [&](int t) {
    int ka = t * TILE + tx, kb = t * TILE + ty;
    bool va = row < M && ka < K, vb = col < N && kb < K;
    copy_async(&sa[t % 2][ty][tx], va ? a + (size_t)row * K + ka : a, va);
    copy_async(&sb[t % 2][ty][tx], vb ? b + (size_t)kb * N + col : b, vb);
    commit();
  };
  if (tiles > 0) load(0);
  float acc = 0.0f;
  for (int t = 0; t < tiles; ++t) {
    if (t + 1 < tiles) load(t + 1);
    wait<1>();
    __syncthreads();
    for (int k = 0; k < TILE; ++k) acc = fmaf(sa[t % 2][ty][k], sb[t % 2][k][tx], acc);
    __syncthreads();
  }
  if (row < M && col < N) c[(size_t)row * N + col] = acc;
}

void sgemm(float* c, const float* a, const float* b, int M, int N, int K) {
  dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  sgemm_kernel<<<grid, dim3(TILE, TILE)>>>(c, a, b, M, N, K);
}
