// x0[i0,i1] = sum_{r0<K} x[i0,r0] * wx[i1,r0]
// h0[i0,i1] = sum_{r0<H} h[i0,r0] * wh[i1,r0]
// gates[i0,i1] = x0[i0,i1] + h0[i0,i1]  for i0<B, i1<2*H
//
// A block computes 32 x 32 results, 32 terms a step: its parts of both factors stand in
// shared memory, the next ones wait in registers while these are multiplied.
__global__ void __launch_bounds__(64, 8) entry_tiles(const float* __restrict__ x,
    const float* __restrict__ h, const float* __restrict__ wx, const float* __restrict__ wh,
    float* __restrict__ gates, int B, int H, int K) {
  constexpr int kTileM = 32, kTileN = 32, kTileK = 32;
  const int i1_count = 2 * H;
  const int tiles_across = (i1_count + kTileN - 1) / kTileN;
  const int first_b = blockIdx.x / tiles_across * kTileM, first_i1 = blockIdx.x % tiles_across * kTileN;
  // A warp's lanes are 4 x 8 squares of 4 x 4 results, and it has several such sets side by side.
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int thread_m = warp * 16 + lane / 8 * 4, thread_n = lane % 8 * 4;
  float sums[4][4] = {};
  float wh_sums[4][4] = {};
  {
    // Rows are longer by 4, so that a column's elements are in different banks and quads stay aligned.
    __shared__ __align__(16) float x_tile[2][kTileK][kTileM + 4], wx_tile[2][kTileK][kTileN + 4];
    const int x_k = threadIdx.x % 8 * 4, x_b = threadIdx.x / 8;
    const bool x_aligned = K % 4 == 0 && reinterpret_cast<size_t>(x) % 16 == 0;
    float x_next[16];
    const int wx_k = threadIdx.x % 8 * 4, wx_i1 = threadIdx.x / 8;
    const bool wx_aligned = K % 4 == 0 && reinterpret_cast<size_t>(wx) % 16 == 0;
    float wx_next[16];
    auto load_x = [&](int first_k) {
      const int k = first_k + x_k;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int b = first_b + x_b + i * 8;
        load_quad(&x_next[4 * i], x + static_cast<long long>(b) * K + k, b < B ? K - k : 0, x_aligned);
      }
    };
    auto load_wx = [&](int first_k) {
      const int k = first_k + wx_k;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int i1 = first_i1 + wx_i1 + i * 8;
        load_quad(&wx_next[4 * i], wx + static_cast<long long>(i1) * K + k, i1 < i1_count ? K - k : 0,
            wx_aligned);
      }
    };
    const int steps = (K + kTileK - 1) / kTileK;
    auto load = [&](int step) {
      load_x(step * kTileK);
      load_wx(step * kTileK);
    };

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
          for (int i = 0; i < 4; ++i) b[i] = wx_tile[stage][k][thread_n + i];
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
            x_tile[stage][x_k + j][x_b + i * 8] = x_next[4 * i + j];
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j)
            wx_tile[stage][wx_k + j][wx_i1 + i * 8] = wx_next[4 * i + j];
      }
      __syncthreads();
    }
  }
  __syncthreads();  // others still multiply what the next factors will overwrite
  {
    // Rows are longer by 4, so that a column's elements are in different banks and quads stay aligned.
    __shared__ __align__(16) float h_tile[2][kTileK][kTileM + 4], wh_tile[2][kTileK][kTileN + 4];
    const int h_r0 = threadIdx.x % 8 * 4, h_b = threadIdx.x / 8;
    const bool h_aligned = H % 4 == 0 && reinterpret_cast<size_t>(h) % 16 == 0;
    float h_next[16];
    const int wh_r0 = threadIdx.x % 8 * 4, wh_i1 = threadIdx.x / 8;
    const bool wh_aligned = H % 4 == 0 && reinterpret_cast<size_t>(wh) % 16 == 0;
    float wh_next[16];
    auto load_h = [&](int first_r0) {
      const int r0 = first_r0 + h_r0;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int b = first_b + h_b + i * 8;
        load_quad(&h_next[4 * i], h + static_cast<long long>(b) * H + r0, b < B ? H - r0 : 0, h_aligned);
      }
    };
    auto load_wh = [&](int first_r0) {
      const int r0 = first_r0 + wh_r0;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int i1 = first_i1 + wh_i1 + i * 8;
        load_quad(&wh_next[4 * i], wh + static_cast<long long>(i1) * H + r0, i1 < i1_count ? H - r0 : 0,
            wh_aligned);
      }
    };
    const int steps = (H + kTileK - 1) / kTileK;
    auto load = [&](int step) {
      load_h(step * kTileK);
      load_wh(step * kTileK);
    };

    for (int step = 0; step <= steps; ++step) {
      if (step < steps) load(step);
      if (step > 0) {
        const int stage = (step - 1) % 2;
#pragma unroll
        for (int k = 0; k < kTileK; ++k) {
          float a[4], b[4];
#pragma unroll
          for (int i = 0; i < 4; ++i) a[i] = h_tile[stage][k][thread_m + i];
#pragma unroll
          for (int i = 0; i < 4; ++i) b[i] = wh_tile[stage][k][thread_n + i];
#pragma unroll
          for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int j = 0; j < 4; ++j) wh_sums[i][j] += a[i] * b[j];
        }
      }
      if (step < steps) {
        const int stage = step % 2;
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j)
            h_tile[stage][h_r0 + j][h_b + i * 8] = h_next[4 * i + j];
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j)
            wh_tile[stage][wh_r0 + j][wh_i1 + i * 8] = wh_next[4 * i + j];
      }
      __syncthreads();
    }
  }

  auto gates_of = [&](float sum, float sum_2, int b, int i1) {
    return sum + sum_2;
  };
  const bool gates_aligned = (2 * H) % 4 == 0 && reinterpret_cast<size_t>(gates) % 16 == 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int b = first_b + thread_m + i;
    if (b >= B) break;
#pragma unroll
    for (int j = 0; j < 4; j += 4) {
      const int first = first_i1 + thread_n;
      if (gates_aligned && first < i1_count) {
        const int i1 = first;
        store_quad(&gates[static_cast<long long>(b) * (2 * H) + i1], gates_of(sums[i][j], wh_sums[i][j], b,
            i1), gates_of(sums[i][j + 1], wh_sums[i][j + 1], b, i1 + 1), gates_of(sums[i][j + 2],
            wh_sums[i][j + 2], b, i1 + 2), gates_of(sums[i][j + 3], wh_sums[i][j + 3], b, i1 + 3));
      } else {
#pragma unroll
        for (int l = 0; l < 4; ++l) {
          const int i1 = first + l;
          if (i1 >= i1_count) break;
          gates[static_cast<long long>(b) * (2 * H) + i1] = gates_of(sums[i][j + l], wh_sums[i][j + l], b,
              i1);
        }
      }
    }
  }
}

// y[i0,i1] = tanh(gates[i0,i1] + bias[i1]) / (1 + exp(gates[i0,i1+H]))  for i0<B, i1<H
template <int kWidth>
__global__ void entry_elements(const float* __restrict__ bias, const float* __restrict__ gates,
    float* __restrict__ y, int B, int H) {
  const int index = (blockIdx.x * blockDim.x + threadIdx.x) * kWidth;
  if (index >= B * H) return;
  const int col = index % H;
  const int b = index / H;
  const auto gates_pack = load_packed<kWidth>(gates + static_cast<long long>(b) * 2 * H + col + H);
  const auto gates_values = load_packed<kWidth>(gates + static_cast<long long>(b) * 2 * H + col);
  const auto bias_pack = load_packed<kWidth>(bias + col);
  Packed<float, kWidth> y_new;
#pragma unroll
  for (int k = 0; k < kWidth; ++k) {
    y_new.at[k] = tanhf(gates_values.at[k] + bias_pack.at[k]) / (1.0f + expf(gates_pack.at[k]));
  }
  store_packed(y + index, y_new);
}

entry_tiles<<<((2 * H + 31) / 32) * ((B + 31) / 32), 64>>>(x, h, wx, wh, gates, B, H, K);
if (is_aligned(gates, 16) && is_aligned(bias, 16) && is_aligned(y, 16) && H % 4 == 0) {
  entry_elements<4><<<(B * H / 4 + 255) / 256, 256>>>(bias, gates, y, B, H);
} else {
  entry_elements<1><<<(B * H + 255) / 256, 256>>>(bias, gates, y, B, H);
}
