// C = A B in f32 with cp.async in three stages: A [M][K], B [K][N], C [M][N], row by row. sm_80 and later.
// Launch: dim3((N + 63) / 64, (M + 63) / 64), 256 threads of 4 x 4 results; template argument: K, N and both addresses are
// multiples of four elements.

constexpr int kTile = 64, kDepth = 16, kStages = 3, kThreads = 256;

// Bytes that are not `valid` become zeros, and are not read.
template <int kBytes>
__device__ void CopyAsync(float* to, const float* from, bool valid) {
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
  const int bytes = valid ? kBytes : 0;
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(bytes) : "memory");
  else asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(bytes) : "memory");
}

template <bool kWhole>
__global__ void __launch_bounds__(kThreads) async_copy_pipeline(const float* __restrict__ a, const float* __restrict__ b,
                                                                float* __restrict__ c, int M, int N, int K) {
  __shared__ __align__(16) float as[kStages][kTile][kDepth + 4], bs[kStages][kDepth][kTile];
  constexpr int kWidth = kWhole ? 4 : 1;
  const int row0 = blockIdx.y * kTile, column0 = blockIdx.x * kTile, tiles = (K + kDepth - 1) / kDepth;
  const auto load = [&](int stage, int tile) {
    for (int i = threadIdx.x * kWidth; i < kTile * kDepth; i += kThreads * kWidth) {
      const int ra = i / kDepth, ka = i % kDepth, rb = i / kTile, nb = i % kTile, k0 = tile * kDepth;
      const bool in_a = row0 + ra < M && k0 + ka < K, in_b = k0 + rb < K && column0 + nb < N;
      // An address must be one of the buffer even where nothing is read.
      CopyAsync<4 * kWidth>(&as[stage][ra][ka], in_a ? a + static_cast<size_t>(row0 + ra) * K + k0 + ka : a, in_a);
      CopyAsync<4 * kWidth>(&bs[stage][rb][nb], in_b ? b + static_cast<size_t>(k0 + rb) * N + column0 + nb : b, in_b);
    }
  };
  for (int s = 0; s < kStages - 1; ++s) {
    if (s < tiles) load(s, s);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float sums[4][4] = {};
  for (int t = 0; t < tiles; ++t) {
    // All groups but the youngest kStages - 2 have arrived: this thread's part of tile t; the barrier adds the others',
    // and says that everybody is done with the stage that is filled next.
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
    __syncthreads();
    if (t + kStages - 1 < tiles) load((t + kStages - 1) % kStages, t + kStages - 1);
    asm volatile("cp.async.commit_group;" ::: "memory");  // an empty one too: the wait counts groups
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      float x[4], y[4];
      for (int i = 0; i < 4; ++i) x[i] = as[t % kStages][ty * 4 + i][k];
      for (int i = 0; i < 4; ++i) y[i] = bs[t % kStages][k][tx + i * 16];
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sums[i][j] += x[i] * y[j];
    }
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int row = row0 + ty * 4 + i, column = column0 + tx + j * 16;
      if (row < M && column < N) c[static_cast<size_t>(row) * N + column] = sums[i][j];
    }
}

template __global__ void async_copy_pipeline<true>(const float*, const float*, float*, int, int, int);
template __global__ void async_copy_pipeline<false>(const float*, const float*, float*, int, int, int);
