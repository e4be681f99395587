// Four neighbours, zero from `count` on; with one access where they are aligned.
__device__ __forceinline__ void load_quad(float* to, const float* __restrict__ from, int count, bool aligned) {
  if (aligned && count >= 4) {
    const float4 quad = *reinterpret_cast<const float4*>(from);
    to[0] = quad.x, to[1] = quad.y, to[2] = quad.z, to[3] = quad.w;
  } else {
#pragma unroll
    for (int j = 0; j < 4; ++j) to[j] = j < count ? from[j] : 0.0f;
  }
}

__device__ __forceinline__ void store_quad(float* to, float a, float b, float c, float d) {
  *reinterpret_cast<float4*>(to) = make_float4(a, b, c, d);
}

// t0[i0,i1,i2,i3] = sum_{r0<C, r1<R, r2<R where 0 <= S*i2+r1-P < H, 0 <= S*i3+r2-P < W}
//     input[i0,r0,S*i2+r1-P,S*i3+r2-P] * weight[i1,r0,r1,r2]
// out[i0,i1,i2,i3] = t0[i0,i1,i2,i3] + bias[i1]  for i0<B, i1<O, i2<((H+2*P)-R)/S+1, i3<((W+2*P)-R)/S+1
//
// A block computes 32 x 128 results, 16 terms a step: its parts of both factors stand in
// shared memory, the next ones wait in registers while these are multiplied.
__global__ void __launch_bounds__(128, 4) entry_tiles(const float* __restrict__ input,
    const float* __restrict__ weight, const float* __restrict__ bias, float* __restrict__ out,
    int B, int C, int H, int O, int P, int R, int S, int W) {
  constexpr int kTileM = 32, kTileN = 128, kTileK = 16;
  // Rows are longer by 4, so that a column's elements are in different banks and quads stay aligned.
  __shared__ __align__(16) float weight_tile[2][kTileK][kTileM + 4], input_tile[2][kTileK][kTileN + 4];
  const int i2_count = (H + 2 * P - R) / S + 1;
  const int i3_count = (W + 2 * P - R) / S + 1;
  const int columns = B * i2_count * i3_count;
  const int terms = C * R * R;
  const int tiles_across = (columns + kTileN - 1) / kTileN;
  const int first_o = blockIdx.x / tiles_across * kTileM, first_column = blockIdx.x % tiles_across * kTileN;
  // A warp's lanes are 4 x 8 squares of 4 x 4 results, and it has several such sets side by side.
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int thread_m = lane / 8 * 4, thread_n = warp * 32 + lane % 8 * 4;
  const int weight_term = threadIdx.x % 4 * 4, weight_o = threadIdx.x / 4;
  const bool weight_aligned = (C * R * R) % 4 == 0 && reinterpret_cast<size_t>(weight) % 16 == 0;
  float weight_next[4];
  const int input_column = threadIdx.x % 128, input_term = threadIdx.x / 128;
  const int input_b = (first_column + input_column) / (i2_count * i3_count);
  const int input_i2 = (first_column + input_column) / i3_count % i2_count;
  const int input_i3 = (first_column + input_column) % i3_count;
  float input_next[16];
  auto load_weight = [&](int first_term) {
    const int term = first_term + weight_term;
    const int o = first_o + weight_o;
    load_quad(&weight_next[0], weight + static_cast<long long>(o) * C * R * R + term, o < O ? terms - term :
        0, weight_aligned);
  };
  auto load_input = [&](int first_term) {
    const int column = first_column + input_column;
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const int term = first_term + input_term + i;
      const int c = term / (R * R), r = term / R % R, r2 = term % R;
      const bool inside = column < columns && term < terms && input_i2 * S + r >= P &&
          input_i2 * S + r < H + P && input_i3 * S + r2 >= P && input_i3 * S + r2 < P + W;
      input_next[i] = inside ?
          input[((static_cast<long long>(input_b) * C + c) * H + input_i2 * S + r - P) * W + input_i3 * S +
              r2 - P] : 0.0f;
    }
  };
  const int steps = (terms + kTileK - 1) / kTileK;
  auto load = [&](int step) {
    load_weight(step * kTileK);
    load_input(step * kTileK);
  };

  float sums[8][4] = {};
  for (int step = 0; step <= steps; ++step) {
    if (step < steps) load(step);
    if (step > 0) {
      const int stage = (step - 1) % 2;
#pragma unroll
      for (int k = 0; k < kTileK; ++k) {
        float a[8], b[4];
#pragma unroll
        for (int i = 0; i < 8; ++i) a[i] = weight_tile[stage][k][thread_m + i / 4 * 16 + i % 4];
#pragma unroll
        for (int i = 0; i < 4; ++i) b[i] = input_tile[stage][k][thread_n + i];
#pragma unroll
        for (int i = 0; i < 8; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j) sums[i][j] += a[i] * b[j];
      }
    }
    if (step < steps) {
      const int stage = step % 2;
#pragma unroll
      for (int j = 0; j < 4; ++j)
        weight_tile[stage][weight_term + j][weight_o] = weight_next[j];
#pragma unroll
      for (int i = 0; i < 16; ++i)
        input_tile[stage][input_term + i][input_column] = input_next[i];
    }
    __syncthreads();
  }

  // A term that is left out was 0 times the other factor, which is no number if that is infinite: then this
  // thread's sums are added up again, without such terms.
  bool again = false;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
#pragma unroll
    for (int j = 0; j < 4; j += 4) {
#pragma unroll
      for (int l = 0; l < 4; ++l) {
        again |= isnan(sums[i][j + l]);
      }
    }
  }
  if (again) {
#pragma unroll 1
    for (int j = 0; j < 4; j += 4) {
      const int first = first_column + thread_n;
#pragma unroll 1
      for (int l = 0; l < 4; ++l) {
        const int column = first + l;
        if (column >= columns) break;
        const int b = column / (i2_count * i3_count);
        const int i2 = column / i3_count % i2_count;
        const int i3 = column % i3_count;
#pragma unroll 1
        for (int i = 0; i < 8; ++i) {
          const int o = first_o + thread_m + i / 4 * 16 + i % 4;
          if (o >= O) break;
          float sum = 0.0f;
          for (int kz = 0; kz < C; ++kz) {
            for (int ky = 0; ky < R; ++ky) {
              if (i2 * S + ky >= P && i2 * S + ky < H + P) {
                for (int kx = 0; kx < R; ++kx) {
                  if (i3 * S + kx >= P && i3 * S + kx < P + W) {
                    sum += input[((static_cast<long long>(b) * C + kz) * H + i2 * S + ky - P) *
                        W + i3 * S + kx - P] * weight[((static_cast<long long>(o) * C + kz) *
                        R + ky) * R + kx];
                  }
                }
              }
            }
          }
          out[((static_cast<long long>(b) * O + o) * ((H + 2 * P - R) / S + 1) + i2) *
              ((W + 2 * P - R) / S + 1) + i3] = sum + bias[o];
        }
      }
    }
    return;
  }
  auto out_of = [&](float sum, int o, int b, int i2, int i3) {
    return sum + bias[o];
  };
  const bool out_aligned = ((W + 2 * P - R) / S + 1) % 4 == 0 && reinterpret_cast<size_t>(out) % 16 == 0;
#pragma unroll
  for (int j = 0; j < 4; j += 4) {
    const int first = first_column + thread_n;
    if (out_aligned && first < columns) {
      const int column = first;
      const int b = column / (i2_count * i3_count), i2 = column / i3_count % i2_count, i3 = column % i3_count;
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const int o = first_o + thread_m + i / 4 * 16 + i % 4;
        if (o >= O) break;
        store_quad(&out[((static_cast<long long>(b) * O + o) * ((H + 2 * P - R) / S + 1) + i2) *
            ((W + 2 * P - R) / S + 1) + i3], out_of(sums[i][j], o, b, i2, i3),
            out_of(sums[i][j + 1], o, b, i2, i3 + 1), out_of(sums[i][j + 2], o, b, i2, i3 + 2),
            out_of(sums[i][j + 3], o, b, i2, i3 + 3));
      }
    } else {
#pragma unroll
      for (int l = 0; l < 4; ++l) {
        const int column = first + l;
        if (column >= columns) break;
        const int b = column / (i2_count * i3_count);
        const int i2 = column / i3_count % i2_count;
        const int i3 = column % i3_count;
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          const int o = first_o + thread_m + i / 4 * 16 + i % 4;
          if (o >= O) break;
          out[((static_cast<long long>(b) * O + o) * ((H + 2 * P - R) / S + 1) + i2) *
              ((W + 2 * P - R) / S + 1) + i3] = out_of(sums[i][j + l], o, b, i2, i3);
        }
      }
    }
  }
}

entry_tiles<<<((B * ((H + 2 * P - R) / S + 1) * ((W + 2 * P - R) / S + 1) + 127) / 128) * ((O + 31) / 32),
    128>>>(input,
    weight, bias, out, B, C, H, O, P, R, S, W);
