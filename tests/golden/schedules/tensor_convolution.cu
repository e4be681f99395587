// sum += a * b of a warp: 16 x 8 results of 16 terms.
__device__ __forceinline__ void multiply_add(float (&sum)[4], const unsigned (&a)[4], unsigned b_low,
                                             unsigned b_high) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b_low), "r"(b_high));
}

// Where an element of a tile stands: octets of a row change places from row to row, so that neither copies nor
// rows of a matrix meet in a bank.
template <int kColumns>
__device__ __forceinline__ int swizzled(int row, int column) {
  constexpr int kFactor = kColumns / 8 & -(kColumns / 8);  // a power of two
  constexpr int kOctets = kFactor < 8 ? kFactor : 8, kRows = 8 / kOctets;
  return row * kColumns + (column / 8 ^ row / kRows % kOctets) * 8 + column % 8;
}

__device__ __forceinline__ unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

// Four 8 x 8 matrices from shared memory; each lane names a row of one.
__device__ __forceinline__ void load_matrices(unsigned (&to)[4], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row)
               : "memory");
}

// The same, each matrix transposed.
__device__ __forceinline__ void load_matrices_transposed(unsigned (&to)[4], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row)
               : "memory");
}

// Eight neighbours into shared memory, zero from `count` on, without waiting for them.
__device__ __forceinline__ void copy_octet(unsigned to, const __half* from, int count) {
  const int bytes = 2 * max(0, min(count, 8));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

// Eight neighbours, one by one where they are not aligned.
__device__ __forceinline__ void copy_octet(__half* to, const __half* from, int count, bool aligned) {
  if (aligned) {
    copy_octet(shared_address(to), from, count);
  } else {
#pragma unroll
    for (int j = 0; j < 8; ++j) to[j] = j < count ? from[j] : __ushort_as_half(0);
  }
}

// Copies up to here are one group; all but the last `kLeft` groups have arrived.
__device__ __forceinline__ void end_copy_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kLeft>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

__device__ __forceinline__ void store_pair(__half* to, float a, float b) {
  *reinterpret_cast<__half2*>(to) = __floats2half2_rn(a, b);
}

// t0[i0,i1,i2,i3] = sum_{r0<C, r1<R, r2<R where 0 <= S*i2+r1-P < H, 0 <= S*i3+r2-P < W}
//     input[i0,r0,S*i2+r1-P,S*i3+r2-P] * weight[i1,r0,r1,r2]
// out[i0,i1,i2,i3] = t0[i0,i1,i2,i3] + bias[i1]  for i0<B, i1<O, i2<((H+2*P)-R)/S+1, i3<((W+2*P)-R)/S+1
//
// A block computes 64 x 128 results on tensor cores, 32 terms a step, each warp 32 x 64 of them.
// Copies into shared memory run kStages - 1 steps ahead.
__global__ void __launch_bounds__(128, 3) entry_tensor_tiles(const __half* __restrict__ input,
    const __half* __restrict__ weight, const __half* __restrict__ bias, __half* __restrict__ out,
    int B, int C, int H, int O, int P, int R, int S, int W) {
  constexpr int kTileM = 64, kTileN = 128, kTileK = 32;
  constexpr int kStages = 4;
  extern __shared__ __align__(128) unsigned char shared[];
  auto weight_tile = reinterpret_cast<__half(*)[kTileK * kTileM]>(shared);
  auto input_tile = reinterpret_cast<__half(*)[kTileK * kTileN]>(weight_tile + kStages);
  const int i2_count = (H + 2 * P - R) / S + 1;
  const int i3_count = (W + 2 * P - R) / S + 1;
  const int columns = B * i2_count * i3_count;
  const int terms = C * R * R;
  const int tiles_across = (columns + kTileN - 1) / kTileN;
  const int first_o = blockIdx.x / tiles_across * kTileM, first_column = blockIdx.x % tiles_across * kTileN;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warp_m = warp / 2 * 32, warp_n = warp % 2 * 64;
  const int thread_m = warp_m + lane / 4, thread_n = warp_n + lane % 4 * 2;
  const int weight_term = threadIdx.x % 4 * 8, weight_o = threadIdx.x / 4;
  const bool weight_aligned = (C * R * R) % 8 == 0 && reinterpret_cast<size_t>(weight) % 16 == 0;
  const int input_column = threadIdx.x % 128, input_term = threadIdx.x / 128;
  const int input_b = (first_column + input_column) / (i2_count * i3_count);
  const int input_i2 = (first_column + input_column) / i3_count % i2_count;
  const int input_i3 = (first_column + input_column) % i3_count;
  __half input_next[32];
  auto load_weight = [&](int first_term, int stage) {
    const int term = first_term + weight_term;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int o = first_o + weight_o + i * 32;
      copy_octet(&weight_tile[stage][swizzled<kTileK>(weight_o + i * 32, weight_term)],
          weight + static_cast<long long>(o) * C * R * R + term, o < O ? terms - term : 0, weight_aligned);
    }
  };
  auto load_input = [&](int first_term) {
    const int column = first_column + input_column;
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const int term = first_term + input_term + i;
      const int c = term / (R * R), r = term / R % R, r2 = term % R;
      const bool inside = column < columns && term < terms && input_i2 * S + r >= P &&
          input_i2 * S + r < H + P && input_i3 * S + r2 >= P && input_i3 * S + r2 < P + W;
      input_next[i] = inside ?
          input[((static_cast<long long>(input_b) * C + c) * H + input_i2 * S + r - P) * W + input_i3 * S +
              r2 - P] : __ushort_as_half(0);
    }
  };
  const int steps = (terms + kTileK - 1) / kTileK;
  auto load = [&](int step, int stage) {
    load_weight(step * kTileK, stage);
    load_input(step * kTileK);
  };

  float sums[2][8][4] = {};
  // The first kStages - 1 steps only load.
  for (int step = 1 - kStages; step < steps; ++step) {
    if (step >= 0) {
      wait_for_copies<kStages - 2>();
      __syncthreads();
    }
    const int next = step + kStages - 1;
    if (next < steps) load(next, next % kStages);
    end_copy_group();
    if (step >= 0) {
      const int stage = step % kStages;
#pragma unroll
      for (int k = 0; k < kTileK; k += 16) {
        unsigned weight_matrices[2][4], input_matrices[4][4];
#pragma unroll
        for (int i = 0; i < 2; ++i)
          load_matrices(weight_matrices[i],
            shared_address(&weight_tile[stage][swizzled<kTileK>(warp_m + i * 16 + lane % 16,
            k + lane / 16 * 8)]));
#pragma unroll
        for (int i = 0; i < 4; ++i)
          load_matrices_transposed(input_matrices[i],
            shared_address(&input_tile[stage][swizzled<kTileN>(k + lane % 16,
            warp_n + i * 16 + lane / 16 * 8)]));
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
          for (int j = 0; j < 8; ++j)
            multiply_add(sums[i][j], weight_matrices[i], input_matrices[j / 2][j % 2 * 2],
            input_matrices[j / 2][j % 2 * 2 + 1]);
      }
    }
    if (next < steps) {
      const int stage = next % kStages;
#pragma unroll
      for (int i = 0; i < 32; ++i)
        input_tile[stage][swizzled<kTileN>(input_term + i, input_column)] = input_next[i];
    }
  }

  // A term that is left out was 0 times the other factor, which is no number if that is infinite: then this
  // thread's sums are added up again, without such terms.
  bool again = false;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 16; j += 2) {
#pragma unroll
      for (int l = 0; l < 2; ++l) {
        again |= isnan(sums[i / 2][j / 2][i % 2 * 2 + l]);
      }
    }
  }
  if (again) {
#pragma unroll 1
    for (int j = 0; j < 16; j += 2) {
      const int first = first_column + thread_n + j * 4;
#pragma unroll 1
      for (int l = 0; l < 2; ++l) {
        const int column = first + l;
        if (column >= columns) break;
        const int b = column / (i2_count * i3_count);
        const int i2 = column / i3_count % i2_count;
        const int i3 = column % i3_count;
#pragma unroll 1
        for (int i = 0; i < 4; ++i) {
          const int o = first_o + thread_m + i * 8;
          if (o >= O) break;
          float sum = 0.0f;
          for (int kz = 0; kz < C; ++kz) {
            for (int ky = 0; ky < R; ++ky) {
              if (i2 * S + ky >= P && i2 * S + ky < H + P) {
                for (int kx = 0; kx < R; ++kx) {
                  if (i3 * S + kx >= P && i3 * S + kx < P + W) {
                    sum += __half2float(input[((static_cast<long long>(b) * C + kz) * H +
                        i2 * S + ky - P) * W + i3 * S + kx - P]) *
                        __half2float(weight[((static_cast<long long>(o) * C + kz) * R + ky) *
                        R + kx]);
                  }
                }
              }
            }
          }
          out[((static_cast<long long>(b) * O + o) * ((H + 2 * P - R) / S + 1) + i2) *
              ((W + 2 * P - R) / S + 1) + i3] = __float2half(sum + __half2float(bias[o]));
        }
      }
    }
    return;
  }
  auto out_of = [&](float sum, int o, int b, int i2, int i3) {
    return sum + __half2float(bias[o]);
  };
  const bool out_aligned = ((W + 2 * P - R) / S + 1) % 2 == 0 && reinterpret_cast<size_t>(out) % 4 == 0;
#pragma unroll
  for (int j = 0; j < 16; j += 2) {
    const int first = first_column + thread_n + j * 4;
    if (out_aligned && first < columns) {
      const int column = first;
      const int b = column / (i2_count * i3_count), i2 = column / i3_count % i2_count, i3 = column % i3_count;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int o = first_o + thread_m + i * 8;
        if (o >= O) break;
        store_pair(&out[((static_cast<long long>(b) * O + o) * ((H + 2 * P - R) / S + 1) + i2) *
            ((W + 2 * P - R) / S + 1) + i3], out_of(sums[i / 2][j / 2][i % 2 * 2], o, b, i2, i3),
            out_of(sums[i / 2][j / 2][i % 2 * 2 + 1], o, b, i2, i3 + 1));
      }
    } else {
#pragma unroll
      for (int l = 0; l < 2; ++l) {
        const int column = first + l;
        if (column >= columns) break;
        const int b = column / (i2_count * i3_count);
        const int i2 = column / i3_count % i2_count;
        const int i3 = column % i3_count;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int o = first_o + thread_m + i * 8;
          if (o >= O) break;
          out[((static_cast<long long>(b) * O + o) * ((H + 2 * P - R) / S + 1) + i2) *
              ((W + 2 * P - R) / S + 1) + i3] =
              __float2half(out_of(sums[i / 2][j / 2][i % 2 * 2 + l], o, b, i2, i3));
        }
      }
    }
  }
}

cudaFuncSetAttribute(entry_tensor_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, 49152);
entry_tensor_tiles<<<((B * ((H + 2 * P - R) / S + 1) * ((W + 2 * P - R) / S + 1) + 127) / 128) * ((O + 63) / 64),
    128, 49152>>>(input,
    weight, bias, out, B, C, H, O, P, R, S, W);
