// t0[i0,i1,i2] = sum_{r0<C, r1<3 where 0 <= i2+r1-1 < L} x[i0,r0,i2+r1-1] * w[i1,r0,r1]  for i0<B, i1<O, i2<L
// largest[i0,i1] = max_{r0<O} (t0[i0,r0,i1] + bias[r0])  for i0<B, i1<L
// sum[i0,i1] = sum_{r0<O} exp((t0[i0,r0,i1] + bias[r0]) - largest[i0,i1])  for i0<B, i1<L
// y[i0,i1,i2] = log(sum[i0,i2]) + largest[i0,i2]  for i0<B, i1<1, i2<L
//
// A block computes 32 x 128 results on tensor cores, 32 terms a step, each warp 16 x 128 of them.
// The next step's elements wait in registers while this one's are multiplied.
__global__ void __launch_bounds__(64, 4) entry_tensor_rows(const __half* __restrict__ x,
    const __half* __restrict__ w, const float* __restrict__ bias, float* __restrict__ y,
    int* __restrict__ at, int B, int C, int L, int O) {
  constexpr int kTileM = 32, kTileN = 128, kTileK = 32;
  constexpr int kStages = 2;
  extern __shared__ __align__(128) unsigned char shared[];
  auto x_tile = reinterpret_cast<__half(*)[kTileK * kTileM]>(shared);
  auto w_tile = reinterpret_cast<__half(*)[kTileK * kTileN]>(x_tile + kStages);
  const int rows = B * L;
  const int first_row = blockIdx.x * kTileM;
  constexpr int first_o = 0;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warp_m = warp / 1 * 16, warp_n = warp % 1 * 128;
  const int thread_m = warp_m + lane / 4, thread_n = warp_n + lane % 4 * 2;
  const int x_row = threadIdx.x % 32, x_c = threadIdx.x / 32;
  const int x_b = (first_row + x_row) / L, x_i2 = (first_row + x_row) % L;
  __half x_next[16];
  const int w_c = threadIdx.x % 32, w_o = threadIdx.x / 32;
  __half w_next[64];
  auto load_x = [&](int first_c, int r1) {
    const int row = first_row + x_row;
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const int c = first_c + x_c + i * 2;
      const bool inside = row < rows && c < C && x_i2 + r1 >= 1 && x_i2 + r1 < L + 1;
      x_next[i] = inside ? x[(static_cast<long long>(x_b) * C + c) * L + x_i2 + r1 - 1] : __ushort_as_half(0);
    }
  };
  auto load_w = [&](int first_c, int r1) {
    const int c = first_c + w_c;
#pragma unroll
    for (int i = 0; i < 64; ++i) {
      const int o = first_o + w_o + i * 2;
      w_next[i] = o < O && c < C ? w[(static_cast<long long>(o) * C + c) * 3 + r1] : __ushort_as_half(0);
    }
  };
  const int steps = 3 * ((C + kTileK - 1) / kTileK);
  auto load = [&](int step, int stage) {
    const int r1 = step % 3;
    load_x(step / 3 * kTileK, r1);
    load_w(step / 3 * kTileK, r1);
  };

  float sums[1][16][4] = {};
  // The first kStages - 1 steps only load.
  for (int step = 1 - kStages; step < steps; ++step) {
    if (step >= 0) {
      __syncthreads();
    }
    const int next = step + kStages - 1;
    if (next < steps) load(next, next % kStages);
    if (step >= 0) {
      const int stage = step % kStages;
#pragma unroll
      for (int k = 0; k < kTileK; k += 16) {
        unsigned x_matrices[1][4], w_matrices[8][4];
#pragma unroll
        for (int i = 0; i < 1; ++i)
          load_matrices_transposed(x_matrices[i],
            shared_address(&x_tile[stage][swizzled<kTileM>(k + lane / 16 * 8 + lane % 8,
            warp_m + i * 16 + lane / 8 % 2 * 8)]));
#pragma unroll
        for (int i = 0; i < 8; ++i)
          load_matrices(w_matrices[i],
            shared_address(&w_tile[stage][swizzled<kTileK>(warp_n + i * 16 + lane / 16 * 8 + lane % 8,
            k + lane / 8 % 2 * 8)]));
#pragma unroll
        for (int i = 0; i < 1; ++i)
#pragma unroll
          for (int j = 0; j < 16; ++j)
            multiply_add(sums[i][j], x_matrices[i], w_matrices[j / 2][j % 2 * 2],
            w_matrices[j / 2][j % 2 * 2 + 1]);
      }
    }
    if (next < steps) {
      const int stage = next % kStages;
#pragma unroll
      for (int i = 0; i < 16; ++i)
        x_tile[stage][swizzled<kTileM>(x_c + i * 2, x_row)] = x_next[i];
#pragma unroll
      for (int i = 0; i < 64; ++i)
        w_tile[stage][swizzled<kTileK>(w_o + i * 2, w_c)] = w_next[i];
    }
  }

  // A term that is left out was 0 times the other factor, which is no number if that is infinite: then this
  // warp's sums are added up again, without such terms.
  bool again = false;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 32; j += 2) {
#pragma unroll
      for (int l = 0; l < 2; ++l) again |= isnan(sums[i / 2][j / 2][i % 2 * 2 + l]);
    }
  }
  again = __any_sync(0xffffffffu, again);
  float largest[2];
  float maximum[2];
  int maximum_at[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    largest[i] = -INFINITY;
    maximum[i] = -INFINITY;
    maximum_at[i] = 0;
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int row = min(first_row + thread_m + i * 8, rows - 1);
    const int b = row / L, i2 = row % L;
    if (again) {
#pragma unroll 1
      for (int j = 0; j < 32; j += 2) {
#pragma unroll 1
        for (int l = 0; l < 2; ++l) {
          const int o = first_o + thread_n + j * 4 + l;
          if (o >= O) break;
          float sum = 0.0f;
          for (int ky = 0; ky < C; ++ky) {
            for (int kx = 0; kx < 3; ++kx) {
              if (i2 + kx >= 1 && i2 + kx < L + 1) {
                sum += __half2float(x[(static_cast<long long>(b) * C + ky) * L + i2 + kx - 1]) *
                    __half2float(w[(static_cast<long long>(o) * C + ky) * 3 + kx]);
              }
            }
          }
          const float value = sum;
          largest[i] = fmaxf(largest[i], value + bias[o]);
          const float candidate = value;
          if (candidate > maximum[i] || (candidate == maximum[i] && o < maximum_at[i])) {
            maximum[i] = candidate;
            maximum_at[i] = o;
          }
        }
      }
    } else {
#pragma unroll
      for (int j = 0; j < 32; j += 2) {
#pragma unroll
        for (int l = 0; l < 2; ++l) {
          const int o = first_o + thread_n + j * 4 + l;
          if (o >= O) break;
          const float value = sums[i / 2][j / 2][i % 2 * 2 + l];
          largest[i] = fmaxf(largest[i], value + bias[o]);
          const float candidate = value;
          if (candidate > maximum[i] || (candidate == maximum[i] && o < maximum_at[i])) {
            maximum[i] = candidate;
            maximum_at[i] = o;
          }
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    largest[i] = lanes4_max(largest[i]);
    lanes4_argmax(maximum[i], maximum_at[i]);
  }
  float sum[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    sum[i] = 0.0f;
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int row = min(first_row + thread_m + i * 8, rows - 1);
    const int b = row / L, i2 = row % L;
    if (again) {
#pragma unroll 1
      for (int j = 0; j < 32; j += 2) {
#pragma unroll 1
        for (int l = 0; l < 2; ++l) {
          const int o = first_o + thread_n + j * 4 + l;
          if (o >= O) break;
          float sum_2 = 0.0f;
          for (int ky = 0; ky < C; ++ky) {
            for (int kx = 0; kx < 3; ++kx) {
              if (i2 + kx >= 1 && i2 + kx < L + 1) {
                sum_2 += __half2float(x[(static_cast<long long>(b) * C + ky) * L + i2 + kx - 1]) *
                    __half2float(w[(static_cast<long long>(o) * C + ky) * 3 + kx]);
              }
            }
          }
          const float value = sum_2;
          sum[i] += expf(value + bias[o] - largest[i]);
        }
      }
    } else {
#pragma unroll
      for (int j = 0; j < 32; j += 2) {
#pragma unroll
        for (int l = 0; l < 2; ++l) {
          const int o = first_o + thread_n + j * 4 + l;
          if (o >= O) break;
          const float value = sums[i / 2][j / 2][i % 2 * 2 + l];
          sum[i] += expf(value + bias[o] - largest[i]);
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    sum[i] = lanes4_sum(sum[i]);
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int row = min(first_row + thread_m + i * 8, rows - 1);
    const bool has_row = first_row + thread_m + i * 8 < rows;
    const int b = row / L, i2 = row % L;
    if (has_row && lane % 4 == 0) {
      const float y_new = logf(sum[i]) + largest[i];
      const int at_new = maximum_at[i];
      y[(static_cast<long long>(b) * 1) * L + i2] = y_new;
      at[static_cast<long long>(b) * L + i2] = at_new;
    }
  }
}

cudaFuncSetAttribute(entry_tensor_rows, cudaFuncAttributeMaxDynamicSharedMemorySize, 20480);
entry_tensor_rows<<<((B * L + 31) / 32), 64, 20480>>>(x, w, bias, y, at, B, C, L, O);
