// s[i0,i1] = sum_{r0<K} x[i0,r0] * w[i1,r0]  for i0<M, i1<N
//
// A block computes 32 x 32 results, 32 terms a step: its parts of both factors stand in
// shared memory, the next ones wait in registers while these are multiplied.
__global__ void __launch_bounds__(64, 8) entry_tiles(const float* __restrict__ x,
    const float* __restrict__ w, float* __restrict__ s, int K, int M, int N) {
  constexpr int kTileM = 32, kTileN = 32, kTileK = 32;
  // Rows are longer by 4, so that a column's elements are in different banks and quads stay aligned.
  __shared__ __align__(16) float x_tile[2][kTileK][kTileM + 4], w_tile[2][kTileK][kTileN + 4];
  const int tiles_across = (N + kTileN - 1) / kTileN;
  const int first_m = blockIdx.x / tiles_across * kTileM, first_n = blockIdx.x % tiles_across * kTileN;
  // A warp's lanes are 4 x 8 squares of 4 x 4 results, and it has several such sets side by side.
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int thread_m = warp * 16 + lane / 8 * 4, thread_n = lane % 8 * 4;
  const int x_k = threadIdx.x % 8 * 4, x_m = threadIdx.x / 8;
  const bool x_aligned = K % 4 == 0 && reinterpret_cast<size_t>(x) % 16 == 0;
  float x_next[16];
  const int w_k = threadIdx.x % 8 * 4, w_n = threadIdx.x / 8;
  const bool w_aligned = K % 4 == 0 && reinterpret_cast<size_t>(w) % 16 == 0;
  float w_next[16];
  auto load_x = [&](int first_k) {
    const int k = first_k + x_k;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int m = first_m + x_m + i * 8;
      load_quad(&x_next[4 * i], x + static_cast<long long>(m) * K + k, m < M ? K - k : 0, x_aligned);
    }
  };
  auto load_w = [&](int first_k) {
    const int k = first_k + w_k;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int n = first_n + w_n + i * 8;
      load_quad(&w_next[4 * i], w + static_cast<long long>(n) * K + k, n < N ? K - k : 0, w_aligned);
    }
  };
  const int steps = (K + kTileK - 1) / kTileK;
  auto load = [&](int step) {
    load_x(step * kTileK);
    load_w(step * kTileK);
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
        for (int i = 0; i < 4; ++i) a[i] = x_tile[stage][k][thread_m + i];
#pragma unroll
        for (int i = 0; i < 4; ++i) b[i] = w_tile[stage][k][thread_n + i];
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
          x_tile[stage][x_k + j][x_m + i * 8] = x_next[4 * i + j];
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          w_tile[stage][w_k + j][w_n + i * 8] = w_next[4 * i + j];
    }
    __syncthreads();
  }

  const bool s_aligned = N % 4 == 0 && reinterpret_cast<size_t>(s) % 16 == 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int m = first_m + thread_m + i;
    if (m >= M) break;
#pragma unroll
    for (int j = 0; j < 4; j += 4) {
      const int first = first_n + thread_n;
      if (s_aligned && first < N) {
        const int n = first;
        store_quad(&s[static_cast<long long>(m) * N + n], sums[i][j], sums[i][j + 1], sums[i][j + 2],
            sums[i][j + 3]);
      } else {
#pragma unroll
        for (int l = 0; l < 4; ++l) {
          const int n = first + l;
          if (n >= N) break;
          s[static_cast<long long>(m) * N + n] = sums[i][j + l];
        }
      }
    }
  }
}

// sum[i0,i1] = sum_{r0<N/G} s[i0,N/G*i1+r0]
// y[i0,N/G*i1+i2] = s[i0,N/G*i1+i2] - sum[i0,i1] / (N/G)  for i0<M, i1<G, i2<N/G
template <int kWidth>
__global__ void __launch_bounds__(64) entry_rows(const float* __restrict__ s,
    float* __restrict__ y, int G, int M, int N) {
  const int row = blockIdx.x;
  const int g = row % G;
  const int m = row / G;
  float sum = 0.0f;
  for (int col = threadIdx.x * kWidth; col < N / G; col += blockDim.x * kWidth) {
    const auto s_pack = load_packed<kWidth>(s + static_cast<long long>(m) * N +
        static_cast<long long>(g) * (N / G) + col);
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      sum += s_pack.at[k];
    }
  }
  sum = block_sum(sum);
  const float mean = sum / (N / G);
  for (int col = threadIdx.x * kWidth; col < N / G; col += blockDim.x * kWidth) {
    const auto s_pack = load_packed<kWidth>(s + static_cast<long long>(m) * N +
        static_cast<long long>(g) * (N / G) + col);
    Packed<float, kWidth> y_pack;
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      y_pack.at[k] = s_pack.at[k] - mean;
    }
    store_packed(y + static_cast<long long>(m) * N + static_cast<long long>(g) * (N / G) + col, y_pack);
  }
}

entry_tiles<<<((N + 31) / 32) * ((M + 31) / 32), 64>>>(x, w, s, K, M, N);
if (is_aligned(s, 16) && is_aligned(y, 16) && (N / G) % 4 == 0 && N % 4 == 0) {
  entry_rows<4><<<M * G, 64>>>(s, y, G, M, N);
} else {
  entry_rows<1><<<M * G, 64>>>(s, y, G, M, N);
}
