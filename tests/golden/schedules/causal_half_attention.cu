// t0[i0,i1,i2] = sum_{r0<D} q[i0,i1,r0] * k[i0,i2,r0]  for i0<B, i1<T, i2<T
// t1[i0,i1] = max_{r0<T where r0 < 1+i1} t0[i0,i1,r0] * scale
// t2[i0,i1] = sum_{r0<T where r0 < 1+i1} exp(t0[i0,i1,r0] * scale - t1[i0,i1])
// t3[i0,i1,i2] = sum_{r0<T where r0 < 1+i1} v[i0,r0,i2] * exp(t0[i0,i1,r0] * scale - t1[i0,i1])
//
// A block computes kTile rows on tensor cores, 16 for each warp, and walks all columns, 64 a step, of which the
// next are on their way. Scores become weights in registers, and what a row has summed up so far shrinks by
// exp(largest before - largest now).
__global__ void __launch_bounds__(128) entry_one_pass(const __half* __restrict__ q,
    const __half* __restrict__ k, const __half* __restrict__ v, __half* __restrict__ o, int B,
    int D, int T, float scale) {
  constexpr int kTile = 64, kDepth = 48, kCols = 48;
  constexpr int kColumns = 64;
  extern __shared__ __align__(128) unsigned char tiles[];
  auto row_tile = reinterpret_cast<__half*>(tiles);
  auto column_tile = reinterpret_cast<__half(*)[kColumns * kDepth]>(row_tile + kTile * kDepth);
  auto value_tile = reinterpret_cast<__half(*)[kColumns * kCols]>(column_tile + 2);
  const int row_blocks = (T + kTile - 1) / kTile;
  const int first_row = blockIdx.x % row_blocks * kTile;
  const int b0 = blockIdx.x / row_blocks;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int thread_row = warp * 16 + lane / 4, thread_column = lane % 4 * 2;
  const bool q_aligned = D % 8 == 0 && reinterpret_cast<size_t>(q) % 16 == 0;
  const bool k_aligned = D % 8 == 0 && reinterpret_cast<size_t>(k) % 16 == 0;
  const bool v_aligned = D % 8 == 0 && reinterpret_cast<size_t>(v) % 16 == 0;
  for (int i = threadIdx.x; i < kTile * kDepth / 8; i += blockDim.x) {
    const int d = i % (kDepth / 8) * 8, row = first_row + i / (kDepth / 8);
    copy_octet(&row_tile[swizzled<kDepth>(i / (kDepth / 8), d)],
        q + static_cast<long long>(b0) * D * T + static_cast<long long>(row) * D + d, row < T ? D - d : 0,
        q_aligned);
  }
  auto load = [&](int first_column, int stage) {
    for (int i = threadIdx.x; i < kColumns * kDepth / 8; i += blockDim.x) {
      const int d = i % (kDepth / 8) * 8, column = first_column + i / (kDepth / 8);
      copy_octet(&column_tile[stage][swizzled<kDepth>(i / (kDepth / 8), d)],
          k + static_cast<long long>(b0) * D * T + static_cast<long long>(column) * D + d, column < T ?
          D - d : 0, k_aligned);
    }
    for (int i = threadIdx.x; i < kColumns * kCols / 8; i += blockDim.x) {
      const int col = i % (kCols / 8) * 8, column = first_column + i / (kCols / 8);
      copy_octet(&value_tile[stage][swizzled<kCols>(i / (kCols / 8), col)],
          v + static_cast<long long>(b0) * D * T + static_cast<long long>(column) * D + col, column < T ?
          D - col : 0, v_aligned);
    }
  };
  const int last = min(T, first_row + kTile);  // no row has columns behind
  load(0, 0);
  end_copy_group();
  float largest[2] = {-INFINITY, -INFINITY}, total[2] = {}, sums[kCols / 8][4] = {};
  for (int first_column = 0; first_column < last; first_column += kColumns) {
    const int stage = first_column / kColumns % 2;
    if (first_column + kColumns < last) load(first_column + kColumns, 1 - stage);
    end_copy_group();
    wait_for_copies<1>();
    __syncthreads();
    float scores[kColumns / 8][4] = {};
#pragma unroll
    for (int k = 0; k < kDepth; k += 16) {
      unsigned rows[4];
      load_matrices(rows, shared_address(&row_tile[swizzled<kDepth>(warp * 16 + lane % 16,
          k + lane / 16 * 8)]));
#pragma unroll
      for (int n = 0; n < kColumns / 8; n += 2) {
        unsigned columns[4];
        const int c = n * 8 + lane / 16 * 8 + lane % 8;
        load_matrices(columns, shared_address(&column_tile[stage][swizzled<kDepth>(c,
            k + lane / 8 % 2 * 8)]));
        multiply_add(scores[n], rows, columns[0], columns[1]);
        multiply_add(scores[n + 1], rows, columns[2], columns[3]);
      }
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = first_row + thread_row + r * 8;
      float next = largest[r];
#pragma unroll
      for (int n = 0; n < kColumns / 8; ++n) {
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          const int column = first_column + n * 8 + thread_column + c;
          if (row < T && column < T && column - row < 1) {
            next = fmaxf(next, scores[n][2 * r + c] * scale);
          }
        }
      }
      // Four lanes share a row.
      for (int offset = 2; offset > 0; offset /= 2) next =
          fmaxf(next, __shfl_xor_sync(0xffffffffu, next, offset));
      const float shrink = largest[r] == next ? 1.0f : expf(largest[r] - next);
      largest[r] = next;
      const float shift = next == -INFINITY ? 0.0f : next;  // of a row that is -inf so far, weights are 0
      total[r] *= shrink;
#pragma unroll
      for (int n = 0; n < kCols / 8; ++n) sums[n][2 * r] *= shrink, sums[n][2 * r + 1] *= shrink;
#pragma unroll
      for (int n = 0; n < kColumns / 8; ++n) {
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          const int column = first_column + n * 8 + thread_column + c;
          float weight = 0.0f;
          if (row < T && column < T && column - row < 1) {
            weight = expf(scores[n][2 * r + c] * scale - shift);
          }
          total[r] += weight;
          scores[n][2 * r + c] = weight;
        }
      }
    }
#pragma unroll
    for (int k = 0; k < kColumns; k += 16) {
      unsigned high[4], low[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float* pair = &scores[k / 8 + i / 2][i % 2 * 2];
        // 2^15 times, since a small weight of a large value must not lose bits below 2^-14.
        split_pair(pair[0] * 0x1p15f, pair[1] * 0x1p15f, high[i], low[i]);
      }
#pragma unroll
      for (int n = 0; n < kCols / 8; n += 2) {
        unsigned values[4];
        const int c = n * 8 + lane / 16 * 8;
        load_matrices_transposed(values, shared_address(&value_tile[stage][swizzled<kCols>(k + lane % 16,
            c)]));
        multiply_add(sums[n], high, values[0], values[1]);
        multiply_add(sums[n + 1], high, values[2], values[3]);
        multiply_add(sums[n], low, values[0], values[1]);
        multiply_add(sums[n + 1], low, values[2], values[3]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    for (int offset = 2; offset > 0; offset /= 2) total[r] += __shfl_xor_sync(0xffffffffu, total[r], offset);
  }
  // A column that is left out had the weight 0, which makes an infinite value no number, as does what is
  // rounded off another weight, and a score too large before it is scaled; and of scores that are rounded by more
  // than one the largest may weigh nothing or too much: this is computed once more, term by term, and its scores in
  // double precision.
  bool again = false;
#pragma unroll
  for (int n = 0; n < kCols / 8; ++n) {
#pragma unroll
    for (int i = 0; i < 4; ++i) again |= isnan(sums[n][i]);
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const bool is_weighed = total[r] > 0.5f && total[r] < INFINITY;
    again |= first_row + thread_row + r * 8 < T && !is_weighed;
  }
  if (again) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
#pragma unroll 1
      for (int n = 0; n < kCols / 8; ++n) {
#pragma unroll 1
        for (int c = 0; c < 2; ++c) {
          const int row = first_row + thread_row + r * 8, col = n * 8 + thread_column + c;
          if (row >= T || col >= D) continue;
          double most = -INFINITY;
          for (int column = 0; column < last; ++column) {
            if (!(column - row < 1)) continue;
            double score = 0.0;
            for (int d = 0; d < D; ++d) {
              const double query = __half2float(q[(static_cast<long long>(b0) * T + row) * D + d]);
              const double key = __half2float(k[(static_cast<long long>(b0) * T + column) * D + d]);
              score += query * key;
            }
            const double logit = score * scale;
            most = fmax(most, logit);
          }
          float whole = 0.0f, sum = 0.0f;
          for (int column = 0; column < last; ++column) {
            if (!(column - row < 1)) continue;
            double score = 0.0;
            for (int d = 0; d < D; ++d) {
              const double query = __half2float(q[(static_cast<long long>(b0) * T + row) * D + d]);
              const double key = __half2float(k[(static_cast<long long>(b0) * T + column) * D + d]);
              score += query * key;
            }
            const double logit = score * scale;
            const float weight = expf(__dadd_rn(logit, -most));
            whole += weight;
            sum += weight * __half2float(v[(static_cast<long long>(b0) * T + column) * D + col]);
          }
          o[(static_cast<long long>(b0) * T + row) * D + col] = __float2half(sum / whole);
        }
      }
    }
    return;
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
#pragma unroll
    for (int n = 0; n < kCols / 8; ++n) {
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        const int row = first_row + thread_row + r * 8, col = n * 8 + thread_column + c;
        if (row < T && col < D) {
          o[(static_cast<long long>(b0) * T + row) * D + col] =
              __float2half((sums[n][2 * r + c] * 0x1p-15f) / total[r]);
        }
      }
    }
  }
}

cudaFuncSetAttribute(entry_one_pass, cudaFuncAttributeMaxDynamicSharedMemorySize, 30720);
entry_one_pass<<<((T + 63) / 64) * B, 128, 30720>>>(q, k, v, o, B, D, T, scale);
