// t0[i0,i1,i2] = sum_{r0<D} q[i0,i1,r0] * k[i0,i2,r0]  for i0<B, i1<T, i2<T
// t1[i0,i1] = max_{r0<T where r0 < 1+i1} t0[i0,i1,r0] * scale
// t2[i0,i1] = sum_{r0<T where r0 < 1+i1} exp(t0[i0,i1,r0] * scale - t1[i0,i1])
// t3[i0,i1,i2] = sum_{r0<T where r0 < 1+i1} v[i0,r0,i2] * exp(t0[i0,i1,r0] * scale - t1[i0,i1])
//
// A block computes kTile rows and walks all columns, kTile a step: scores become weights in registers, and what
// a row has summed up so far shrinks by exp(largest before - largest now).
__global__ void __launch_bounds__(256) entry_one_pass(const float* __restrict__ q,
    const float* __restrict__ k, const float* __restrict__ v, float* __restrict__ o, int B,
    int D, int T, float scale) {
  constexpr int kTile = 64, kDepth = 16, kCols = 16;
  // Rows are longer by 4, so that what threads store beside each other is in different banks.
  extern __shared__ __align__(16) float tiles[];
  auto row_tile = reinterpret_cast<float(*)[kTile + 4]>(tiles);
  auto column_tile = reinterpret_cast<float(*)[kTile + 4]>(row_tile + kDepth);
  auto weights = reinterpret_cast<float(*)[kTile + 4]>(column_tile + kDepth);
  auto value_tile = reinterpret_cast<float(*)[kCols]>(weights + kTile);
  const int row_blocks = (T + kTile - 1) / kTile;
  const int first_row = blockIdx.x % row_blocks * kTile;
  const int b0 = blockIdx.x / row_blocks;
  const int thread_row = threadIdx.x / 16 * 4, thread_column = threadIdx.x % 16 * 4;
  for (int i = threadIdx.x; i < kTile * kDepth; i += blockDim.x) {
    const int d = i % kDepth, row = first_row + i / kDepth;
    float element = 0.0f;
    if (row < T && d < D) {
      element = q[(static_cast<long long>(b0) * T + row) * D + d];
    }
    row_tile[d][i / kDepth] = element;
  }
  float largest[4], total[4] = {}, sums[4][kCols / 16] = {};
  for (int r = 0; r < 4; ++r) largest[r] = -INFINITY;
  const int last = min(T, first_row + kTile);  // no row has columns behind
  for (int first_column = 0; first_column < last; first_column += kTile) {
    __syncthreads();
    for (int i = threadIdx.x; i < kTile * kDepth; i += blockDim.x) {
      const int d = i % kDepth, column = first_column + i / kDepth;
      float element = 0.0f;
      if (column < T && d < D) {
        element = k[(static_cast<long long>(b0) * T + column) * D + d];
      }
      column_tile[d][i / kDepth] = element;
    }
    for (int i = threadIdx.x; i < kTile * kCols; i += blockDim.x) {
      const int col = i % kCols, column = first_column + i / kCols;
      float element = 0.0f;
      if (column < T && col < D) {
        element = v[(static_cast<long long>(b0) * T + column) * D + col];
      }
      value_tile[i / kCols][col] = element;
    }
    __syncthreads();
    float scores[4][4] = {};
#pragma unroll 8
    for (int k = 0; k < kDepth; ++k) {
#pragma unroll
      for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int c = 0; c < 4; ++c) scores[r][c] += row_tile[k][thread_row + r] *
            column_tile[k][thread_column + c];
    }
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int row = first_row + thread_row + r;
      float next = largest[r];
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const int column = first_column + thread_column + c;
        if (row < T && column < T && column - row < 1) {
          next = fmaxf(next, scores[r][c] * scale);
        }
      }
      for (int offset = 8; offset > 0; offset /= 2)
        next = fmaxf(next, __shfl_xor_sync(0xffffffffu, next, offset));
      const float shrink = largest[r] == next ? 1.0f : expf(largest[r] - next);
      largest[r] = next;
      const float shift = next == -INFINITY ? 0.0f : next;  // of a row that is -inf so far, weights are 0
      total[r] *= shrink;
#pragma unroll
      for (int n = 0; n < kCols / 16; ++n) sums[r][n] *= shrink;
      float weight[4] = {};
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const int column = first_column + thread_column + c;
        if (row < T && column < T && column - row < 1) {
          weight[c] = expf(scores[r][c] * scale - shift);
        }
        total[r] += weight[c];
        weights[thread_row + r][thread_column + c] = weight[c];
      }
    }
    // The threads of a warp have all weights of its rows.
    __syncwarp();
#pragma unroll 4
    for (int j = 0; j < kTile; ++j) {
      const int column = first_column + j;
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const int row = first_row + thread_row + r;
        if (!(column - row < 1)) continue;
#pragma unroll
        for (int n = 0; n < kCols / 16; ++n)
          sums[r][n] += weights[thread_row + r][j] * value_tile[j][threadIdx.x % 16 + n * 16];
      }
    }
  }
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    for (int offset = 8; offset > 0; offset /= 2)
      total[r] += __shfl_xor_sync(0xffffffffu, total[r], offset);
  }
  // A column that is left out had the weight 0, which makes an infinite value no number, as does what is
  // rounded off another weight, and a score too large before it is scaled; and of scores that are rounded by more
  // than one the largest may weigh nothing or too much: this is computed once more, term by term, and its scores in
  // double precision.
  bool again = false;
#pragma unroll
  for (int r = 0; r < 4; ++r)
#pragma unroll
    for (int n = 0; n < kCols / 16; ++n) again |= isnan(sums[r][n]);
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const bool is_weighed = total[r] > 0.5f && total[r] < INFINITY;
    again |= first_row + thread_row + r < T && !is_weighed;
  }
  if (again) {
#pragma unroll 1
    for (int r = 0; r < 4; ++r) {
      const int row = first_row + thread_row + r;
#pragma unroll 1
      for (int n = 0; n < kCols / 16; ++n) {
        const int col = threadIdx.x % 16 + n * 16;
        if (row >= T || col >= D) continue;
        double most = -INFINITY;
        for (int column = 0; column < last; ++column) {
          if (!(column - row < 1)) continue;
          double score = 0.0;
          for (int d = 0; d < D; ++d) {
            const double query = q[(static_cast<long long>(b0) * T + row) * D + d];
            const double key = k[(static_cast<long long>(b0) * T + column) * D + d];
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
            const double query = q[(static_cast<long long>(b0) * T + row) * D + d];
            const double key = k[(static_cast<long long>(b0) * T + column) * D + d];
            score += query * key;
          }
          const double logit = score * scale;
          const float weight = expf(__dadd_rn(logit, -most));
          whole += weight;
          sum += weight * v[(static_cast<long long>(b0) * T + column) * D + col];
        }
        o[(static_cast<long long>(b0) * T + row) * D + col] = sum / whole;
      }
    }
    return;
  }
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const int row = first_row + thread_row + r;
#pragma unroll
    for (int n = 0; n < kCols / 16; ++n) {
      const int col = threadIdx.x % 16 + n * 16;
      if (row < T && col < D) {
        o[(static_cast<long long>(b0) * T + row) * D + col] = sums[r][n] / total[r];
      }
    }
  }
}

cudaFuncSetAttribute(entry_one_pass, cudaFuncAttributeMaxDynamicSharedMemorySize, 30208);
entry_one_pass<<<((T + 63) / 64) * B, 256, 30208>>>(q, k, v, o, B, D, T, scale);
