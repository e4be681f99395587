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


// The sum over the lanes of a warp, in each of them.
__device__ __forceinline__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

// What the blocks that share a row have found; a launch reads nothing that it has not written.
static __device__ float entry_partials[262144];

// t0[i0,i1] = sum_{r0<K} A[i0,r0] * B[r0,i1]
// C'[i0,i1] = max(alpha * t0[i0,i1] + beta * C[i0,i1] + bias[i1], 0)  for i0<M, i1<N
//
// A block computes 32 x 32 results, 32 terms a step: its parts of both factors stand in
// shared memory, the next ones wait in registers while these are multiplied.
__global__ void __launch_bounds__(64, 8) entry_tiles(const float* __restrict__ A,
    const float* __restrict__ B, const float* __restrict__ bias, float* C, int K, int M, int N,
    float alpha, float beta, int parts) {
  constexpr int kTileM = 32, kTileN = 32, kTileK = 32;
  // Rows are longer by 4, so that a column's elements are in different banks and quads stay aligned.
  __shared__ __align__(16) float A_tile[2][kTileK][kTileM + 4], B_tile[2][kTileK][kTileN + 4];
  const int tiles_across = (N + kTileN - 1) / kTileN;
  const int first_m = blockIdx.x / tiles_across * kTileM, first_n = blockIdx.x % tiles_across * kTileN;
  const int part = blockIdx.y;
  // A warp's lanes are 4 x 8 squares of 4 x 4 results, and it has several such sets side by side.
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int thread_m = warp * 16 + lane / 8 * 4, thread_n = lane % 8 * 4;
  const int A_k = threadIdx.x % 8 * 4, A_m = threadIdx.x / 8;
  const bool A_aligned = K % 4 == 0 && reinterpret_cast<size_t>(A) % 16 == 0;
  float A_next[16];
  const int B_n = threadIdx.x % 8 * 4, B_k = threadIdx.x / 8;
  const bool B_aligned = N % 4 == 0 && reinterpret_cast<size_t>(B) % 16 == 0;
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
  const int all_steps = (K + kTileK - 1) / kTileK;
  const int steps_of_part = (all_steps + parts - 1) / parts, first_step = part * steps_of_part;
  const int steps = min(all_steps - first_step, steps_of_part);
  auto load = [&](int step) {
    step += first_step;
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

  if (parts > 1) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int m = first_m + thread_m + i;
      if (m >= M) break;
#pragma unroll
      for (int j = 0; j < 4; j += 4) {
        const int first = first_n + thread_n;
#pragma unroll
        for (int l = 0; l < 4; ++l) {
          const int n = first + l;
          if (n >= N) break;
          entry_partials[(static_cast<long long>(part) * M + m) * N + n] = sums[i][j + l];
        }
      }
    }
    return;
  }
  auto C_of = [&](float sum, int m, int n) {
    return fmaxf(alpha * sum + beta * C[static_cast<long long>(m) * N + n] + bias[n], 0.0f);
  };
  const bool C_aligned = N % 4 == 0 && reinterpret_cast<size_t>(C) % 16 == 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int m = first_m + thread_m + i;
    if (m >= M) break;
#pragma unroll
    for (int j = 0; j < 4; j += 4) {
      const int first = first_n + thread_n;
      if (C_aligned && first < N) {
        const int n = first;
        store_quad(&C[static_cast<long long>(m) * N + n], C_of(sums[i][j], m, n), C_of(sums[i][j + 1], m,
            n + 1), C_of(sums[i][j + 2], m, n + 2), C_of(sums[i][j + 3], m, n + 3));
      } else {
#pragma unroll
        for (int l = 0; l < 4; ++l) {
          const int n = first + l;
          if (n >= N) break;
          C[static_cast<long long>(m) * N + n] = C_of(sums[i][j + l], m, n);
        }
      }
    }
  }
}

// C'[i0,i1] = max(alpha * sum[i0,i1] + beta * C[i0,i1] + bias[i1], 0)  for i0<M, i1<N
__global__ void __launch_bounds__(256) entry_finish(const float* __restrict__ bias, float* C,
    int M, int N, float alpha, float beta, int parts) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= M * N) return;
  const int n = row % N;
  const int m = row / N;
  float sum = 0.0f;
  for (int part = threadIdx.x; part < parts; part += 32) {
    sum += entry_partials[part * (M * N) + row];
  }
  sum = warp_sum(sum);
  if (threadIdx.x == 0) {
    C[static_cast<long long>(m) * N + n] =
        fmaxf(alpha * sum + beta * C[static_cast<long long>(m) * N + n] + bias[n], 0.0f);
  }
}

const int tiles = ((N + 31) / 32) * ((M + 31) / 32);
// Of at least 512 terms each, no more than fill the chip, and none without tiles.
int parts = (K + 511) / 512;
if (parts * tiles > 1056) parts = 1056 / tiles;
if (parts * (M * N) > 262144) parts = 262144 / (M * N);
if (parts < 1) parts = 1;
entry_tiles<<<dim3(tiles, parts), 64>>>(A, B, bias, C, K, M, N, alpha, beta, parts);
if (parts > 1) {
  entry_finish<<<(M * N + 7) / 8, dim3(32, 8)>>>(bias, C, M, N, alpha, beta, parts);
}
