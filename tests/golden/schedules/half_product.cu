// Four neighbours, zero from `count` on; with one access where they are aligned.
__device__ __forceinline__ void load_quad(float* to, const __half* __restrict__ from, int count, bool aligned) {
  if (aligned && count >= 4) {
    const uint2 quad = *reinterpret_cast<const uint2*>(from);
    const float2 low = __half22float2(reinterpret_cast<const __half2&>(quad.x));
    const float2 high = __half22float2(reinterpret_cast<const __half2&>(quad.y));
    to[0] = low.x, to[1] = low.y, to[2] = high.x, to[3] = high.y;
  } else {
#pragma unroll
    for (int j = 0; j < 4; ++j) to[j] = j < count ? __half2float(from[j]) : 0.0f;
  }
}

__device__ __forceinline__ void store_quad(__half* to, float a, float b, float c, float d) {
  const __half2 pairs[2] = {__floats2half2_rn(a, b), __floats2half2_rn(c, d)};
  *reinterpret_cast<uint2*>(to) = *reinterpret_cast<const uint2*>(pairs);
}

// C[i0,i1] = sum_{r0<K} A[i0,r0] * B[r0,i1]  for i0<M, i1<N
//
// A block computes 32 x 32 results, 32 terms a step: its parts of both factors stand in
// shared memory, the next ones wait in registers while these are multiplied.
__global__ void __launch_bounds__(64, 8) entry_tiles(const __half* __restrict__ A,
    const __half* __restrict__ B, __half* __restrict__ C, int K, int M, int N) {
  constexpr int kTileM = 32, kTileN = 32, kTileK = 32;
  // Rows are longer by 4, so that a column's elements are in different banks and quads stay aligned.
  __shared__ __align__(16) float A_tile[2][kTileK][kTileM + 4], B_tile[2][kTileK][kTileN + 4];
  const int tiles_across = (N + kTileN - 1) / kTileN;
  const int first_m = blockIdx.x / tiles_across * kTileM, first_n = blockIdx.x % tiles_across * kTileN;
  // A warp's lanes are 4 x 8 squares of 4 x 4 results, and it has several such sets side by side.
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int thread_m = warp * 16 + lane / 8 * 4, thread_n = lane % 8 * 4;
  const int A_k = threadIdx.x % 8 * 4, A_m = threadIdx.x / 8;
  const bool A_aligned = K % 4 == 0 && reinterpret_cast<size_t>(A) % 8 == 0;
  float A_next[16];
  const int B_n = threadIdx.x % 8 * 4, B_k = threadIdx.x / 8;
  const bool B_aligned = N % 4 == 0 && reinterpret_cast<size_t>(B) % 8 == 0;
  float B_next[16];
  auto load_A = [&](int first_k) {
    const int k = first_k + A_k;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int m = first_m + A_m + i * 8;
      load_quad(&A_next[4 * i], A + static_cast<long long>(m) * K + k, m < M ? K - k : 0, A_aligned);
    }
  };
  auto load_B = [&](int first_k) {
    const int n = first_n + B_n;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int k = first_k + B_k + i * 8;
      load_quad(&B_next[4 * i], B + static_cast<long long>(k) * N + n, k < K ? N - n : 0, B_aligned);
    }
  };
  const int steps = (K + kTileK - 1) / kTileK;
  auto load = [&](int step) {
    load_A(step * kTileK);
    load_B(step * kTileK);
  };

  float sums[4][4] = {};
  for (int step = 0; step <= steps; ++step) {
    if (step < steps) load(step);
    if (step > 0) {
      const int stage = (step - 1) % 2;
#pragma unroll
      for (int k = 0; k < kTileK; ++k) {
        float a[4], b[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) a[i] = A_tile[stage][k][thread_m + i];
#pragma unroll
        for (int i = 0; i < 4; ++i) b[i] = B_tile[stage][k][thread_n + i];
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j) sums[i][j] += a[i] * b[j];
      }
    }
    if (step < steps) {
      const int stage = step % 2;
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          A_tile[stage][A_k + j][A_m + i * 8] = A_next[4 * i + j];
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          B_tile[stage][B_k + i * 8][B_n + j] = B_next[4 * i + j];
    }
    __syncthreads();
  }

  const bool C_aligned = N % 4 == 0 && reinterpret_cast<size_t>(C) % 8 == 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int m = first_m + thread_m + i;
    if (m >= M) break;
#pragma unroll
    for (int j = 0; j < 4; j += 4) {
      const int first = first_n + thread_n;
      if (C_aligned && first < N) {
        const int n = first;
        store_quad(&C[static_cast<long long>(m) * N + n], sums[i][j], sums[i][j + 1], sums[i][j + 2],
            sums[i][j + 3]);
      } else {
#pragma unroll
        for (int l = 0; l < 4; ++l) {
          const int n = first + l;
          if (n >= N) break;
          C[static_cast<long long>(m) * N + n] = __float2half(sums[i][j + l]);
        }
      }
    }
  }
}

entry_tiles<<<((N + 31) / 32) * ((M + 31) / 32), 64>>>(A, B, C, K, M, N);
