// t0[i0,i1] = sum_{r0<K} x[i0,r0] * wg[i1,r0]
// t1[i0,i1] = sum_{r0<K} x[i0,r0] * wu[i1,r0]
// h[i0,i1] = t0[i0,i1] * t1[i0,i1] / (exp(-t0[i0,i1]) + 1)  for i0<M, i1<F
//
// A block computes 64 x 64 results on tensor cores, 32 terms a step, each warp 32 x 32 of them.
// Copies into shared memory run kStages - 1 steps ahead.
__global__ void __launch_bounds__(128, 4) entry_tensor_tiles(const __half* __restrict__ x,
    const __half* __restrict__ wg, const __half* __restrict__ wu, float* __restrict__ h, int F,
    int K, int M) {
  constexpr int kTileM = 64, kTileN = 64, kTileK = 32;
  const int tiles_across = (F + kTileN - 1) / kTileN;
  const int first_m = blockIdx.x / tiles_across * kTileM, first_f = blockIdx.x % tiles_across * kTileN;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warp_m = warp / 2 * 32, warp_n = warp % 2 * 32;
  const int thread_m = warp_m + lane / 4, thread_n = warp_n + lane % 4 * 2;
  float sums[2][4][4] = {};
  float wu_sums[2][4][4] = {};
  {
    constexpr int kStages = 4;
    extern __shared__ __align__(128) unsigned char shared[];
    auto x_tile = reinterpret_cast<__half(*)[kTileK * kTileM]>(shared);
    auto wg_tile = reinterpret_cast<__half(*)[kTileK * kTileN]>(x_tile + kStages);
    const int x_k = threadIdx.x % 4 * 8, x_m = threadIdx.x / 4;
    const bool x_aligned = K % 8 == 0 && reinterpret_cast<size_t>(x) % 16 == 0;
    const int wg_k = threadIdx.x % 4 * 8, wg_f = threadIdx.x / 4;
    const bool wg_aligned = K % 8 == 0 && reinterpret_cast<size_t>(wg) % 16 == 0;
    auto load_x = [&](int first_k, int stage) {
      const int k = first_k + x_k;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int m = first_m + x_m + i * 32;
        copy_octet(&x_tile[stage][swizzled<kTileK>(x_m + i * 32, x_k)],
            x + static_cast<long long>(m) * K + k, m < M ? K - k : 0, x_aligned);
      }
    };
    auto load_wg = [&](int first_k, int stage) {
      const int k = first_k + wg_k;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int f = first_f + wg_f + i * 32;
        copy_octet(&wg_tile[stage][swizzled<kTileK>(wg_f + i * 32, wg_k)],
            wg + static_cast<long long>(f) * K + k, f < F ? K - k : 0, wg_aligned);
      }
    };
    const int steps = (K + kTileK - 1) / kTileK;
    auto load = [&](int step, int stage) {
      load_x(step * kTileK, stage);
      load_wg(step * kTileK, stage);
    };

    if (x_aligned && wg_aligned) {
      constexpr int kSlices = kTileK / 16;
      int first_k = 0, filled = 0;  // of the step that is copied next, and its stage
      const __half* x_from = x + static_cast<long long>(first_m + x_m) * K + first_k + x_k;
      const unsigned x_to = shared_address(&x_tile[0][swizzled<kTileK>(x_m, x_k)]);
      const __half* wg_from = wg + static_cast<long long>(first_f + wg_f) * K + first_k + wg_k;
      const unsigned wg_to = shared_address(&wg_tile[0][swizzled<kTileK>(wg_f, wg_k)]);
      auto copy = [&] {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          copy_octet(x_to + (filled * kTileM + i * 32) * kTileK * 2,
              x_from + i * 32 * static_cast<long long>(K),
                  first_m + x_m + i * 32 < M ? K - (first_k + x_k) :
              0);
        }
        x_from += kTileK;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          copy_octet(wg_to + (filled * kTileN + i * 32) * kTileK * 2,
              wg_from + i * 32 * static_cast<long long>(K), first_f + wg_f + i * 32 < F ?
              K - (first_k + wg_k) : 0);
        }
        wg_from += kTileK;
        first_k += kTileK;
        filled = filled + 1 < kStages ? filled + 1 : 0;
        end_copy_group();
      };
      // Where this lane reads matrices in the first stage; and those of the slice that is multiplied, and of the next.
      unsigned x_at[kSlices];
#pragma unroll
      for (int i = 0; i < kSlices; ++i)
        x_at[i] = shared_address(&x_tile[0][swizzled<kTileK>(warp_m + lane % 16, i * 16 + lane / 16 * 8)]);
      unsigned wg_at[kSlices];
#pragma unroll
      for (int i = 0; i < kSlices; ++i)
        wg_at[i] = shared_address(&wg_tile[0][swizzled<kTileK>(warp_n + lane / 16 * 8 + lane % 8,
          i * 16 + lane / 8 % 2 * 8)]);
      unsigned x_matrices[2][2][4], wg_matrices[2][2][4];
      int stage = 0;
      auto read = [&](int slot, int slice) {
#pragma unroll
        for (int i = 0; i < 2; ++i)
          load_matrices(x_matrices[slot][i], x_at[slice] + (stage * kTileM + i * 16) * kTileK * 2);
#pragma unroll
        for (int i = 0; i < 2; ++i)
          load_matrices(wg_matrices[slot][i], wg_at[slice] + (stage * kTileN + i * 16) * kTileK * 2);
      };
      for (int i = 0; i < kStages - 1; ++i) copy();
      wait_for_copies<kStages - 2>();
      __syncthreads();
      read(0, 0);
      for (int step = 0; step < steps; ++step) {
#pragma unroll
        for (int slice = 0; slice < kSlices; ++slice) {
          if (slice + 1 == kSlices) {
            wait_for_copies<kStages - 2>();
            __syncthreads();
            stage = stage + 1 < kStages ? stage + 1 : 0;
          }
          read((slice + 1) % 2, (slice + 1) % kSlices);
          if (slice == 0) copy();
#pragma unroll
          for (int i = 0; i < 2; ++i)
#pragma unroll
            for (int j = 0; j < 4; ++j)
              multiply_add(sums[i][j], x_matrices[slice % 2][i], wg_matrices[slice % 2][j / 2][j % 2 * 2],
              wg_matrices[slice % 2][j / 2][j % 2 * 2 + 1]);
        }
      }
      wait_for_copies<0>();
    } else {
      for (int step = 0; step < steps; ++step) {
        load(step, 0);
        end_copy_group();
        wait_for_copies<0>();
        __syncthreads();
        const int stage = 0;
#pragma unroll
        for (int k = 0; k < kTileK; k += 16) {
          unsigned x_matrices[2][4], wg_matrices[2][4];
#pragma unroll
          for (int i = 0; i < 2; ++i)
            load_matrices(x_matrices[i],
              shared_address(&x_tile[stage][swizzled<kTileK>(warp_m + i * 16 + lane % 16,
              k + lane / 16 * 8)]));
#pragma unroll
          for (int i = 0; i < 2; ++i)
            load_matrices(wg_matrices[i],
              shared_address(&wg_tile[stage][swizzled<kTileK>(warp_n + i * 16 + lane / 16 * 8 + lane % 8,
              k + lane / 8 % 2 * 8)]));
#pragma unroll
          for (int i = 0; i < 2; ++i)
#pragma unroll
            for (int j = 0; j < 4; ++j)
              multiply_add(sums[i][j], x_matrices[i], wg_matrices[j / 2][j % 2 * 2],
              wg_matrices[j / 2][j % 2 * 2 + 1]);
        }
        __syncthreads();
      }
    }
  }
  __syncthreads();  // others still multiply what the next factors will overwrite
  {
    constexpr int kStages = 4;
    extern __shared__ __align__(128) unsigned char shared[];
    auto m_tile = reinterpret_cast<__half(*)[kTileK * kTileM]>(shared);
    auto wu_tile = reinterpret_cast<__half(*)[kTileK * kTileN]>(m_tile + kStages);
    const int m_r0 = threadIdx.x % 4 * 8, m_m = threadIdx.x / 4;
    const bool m_aligned = K % 8 == 0 && reinterpret_cast<size_t>(x) % 16 == 0;
    const int wu_r0 = threadIdx.x % 4 * 8, wu_f = threadIdx.x / 4;
    const bool wu_aligned = K % 8 == 0 && reinterpret_cast<size_t>(wu) % 16 == 0;
    auto load_m = [&](int first_r0, int stage) {
      const int r0 = first_r0 + m_r0;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int m = first_m + m_m + i * 32;
        copy_octet(&m_tile[stage][swizzled<kTileK>(m_m + i * 32, m_r0)],
            x + static_cast<long long>(m) * K + r0, m < M ? K - r0 : 0, m_aligned);
      }
    };
    auto load_wu = [&](int first_r0, int stage) {
      const int r0 = first_r0 + wu_r0;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int f = first_f + wu_f + i * 32;
        copy_octet(&wu_tile[stage][swizzled<kTileK>(wu_f + i * 32, wu_r0)],
            wu + static_cast<long long>(f) * K + r0, f < F ? K - r0 : 0, wu_aligned);
      }
    };
    const int steps = (K + kTileK - 1) / kTileK;
    auto load = [&](int step, int stage) {
      load_m(step * kTileK, stage);
      load_wu(step * kTileK, stage);
    };

    if (m_aligned && wu_aligned) {
      constexpr int kSlices = kTileK / 16;
      int first_r0 = 0, filled = 0;  // of the step that is copied next, and its stage
      const __half* m_from = x + static_cast<long long>(first_m + m_m) * K + first_r0 + m_r0;
      const unsigned m_to = shared_address(&m_tile[0][swizzled<kTileK>(m_m, m_r0)]);
      const __half* wu_from = wu + static_cast<long long>(first_f + wu_f) * K + first_r0 + wu_r0;
      const unsigned wu_to = shared_address(&wu_tile[0][swizzled<kTileK>(wu_f, wu_r0)]);
      auto copy = [&] {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          copy_octet(m_to + (filled * kTileM + i * 32) * kTileK * 2,
              m_from + i * 32 * static_cast<long long>(K), first_m + m_m + i * 32 < M ?
              K - (first_r0 + m_r0) : 0);
        }
        m_from += kTileK;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          copy_octet(wu_to + (filled * kTileN + i * 32) * kTileK * 2,
              wu_from + i * 32 * static_cast<long long>(K), first_f + wu_f + i * 32 < F ?
              K - (first_r0 + wu_r0) : 0);
        }
        wu_from += kTileK;
        first_r0 += kTileK;
        filled = filled + 1 < kStages ? filled + 1 : 0;
        end_copy_group();
      };
      // Where this lane reads matrices in the first stage; and those of the slice that is multiplied, and of the next.
      unsigned m_at[kSlices];
#pragma unroll
      for (int i = 0; i < kSlices; ++i)
        m_at[i] = shared_address(&m_tile[0][swizzled<kTileK>(warp_m + lane % 16, i * 16 + lane / 16 * 8)]);
      unsigned wu_at[kSlices];
#pragma unroll
      for (int i = 0; i < kSlices; ++i)
        wu_at[i] = shared_address(&wu_tile[0][swizzled<kTileK>(warp_n + lane / 16 * 8 + lane % 8,
          i * 16 + lane / 8 % 2 * 8)]);
      unsigned m_matrices[2][2][4], wu_matrices[2][2][4];
      int stage = 0;
      auto read = [&](int slot, int slice) {
#pragma unroll
        for (int i = 0; i < 2; ++i)
          load_matrices(m_matrices[slot][i], m_at[slice] + (stage * kTileM + i * 16) * kTileK * 2);
#pragma unroll
        for (int i = 0; i < 2; ++i)
          load_matrices(wu_matrices[slot][i], wu_at[slice] + (stage * kTileN + i * 16) * kTileK * 2);
      };
      for (int i = 0; i < kStages - 1; ++i) copy();
      wait_for_copies<kStages - 2>();
      __syncthreads();
      read(0, 0);
      for (int step = 0; step < steps; ++step) {
#pragma unroll
        for (int slice = 0; slice < kSlices; ++slice) {
          if (slice + 1 == kSlices) {
            wait_for_copies<kStages - 2>();
            __syncthreads();
            stage = stage + 1 < kStages ? stage + 1 : 0;
          }
          read((slice + 1) % 2, (slice + 1) % kSlices);
          if (slice == 0) copy();
#pragma unroll
          for (int i = 0; i < 2; ++i)
#pragma unroll
            for (int j = 0; j < 4; ++j)
              multiply_add(wu_sums[i][j], m_matrices[slice % 2][i],
                  wu_matrices[slice % 2][j / 2][j % 2 * 2],
              wu_matrices[slice % 2][j / 2][j % 2 * 2 + 1]);
        }
      }
      wait_for_copies<0>();
    } else {
      for (int step = 0; step < steps; ++step) {
        load(step, 0);
        end_copy_group();
        wait_for_copies<0>();
        __syncthreads();
        const int stage = 0;
#pragma unroll
        for (int k = 0; k < kTileK; k += 16) {
          unsigned m_matrices[2][4], wu_matrices[2][4];
#pragma unroll
          for (int i = 0; i < 2; ++i)
            load_matrices(m_matrices[i],
              shared_address(&m_tile[stage][swizzled<kTileK>(warp_m + i * 16 + lane % 16,
              k + lane / 16 * 8)]));
#pragma unroll
          for (int i = 0; i < 2; ++i)
            load_matrices(wu_matrices[i],
              shared_address(&wu_tile[stage][swizzled<kTileK>(warp_n + i * 16 + lane / 16 * 8 + lane % 8,
              k + lane / 8 % 2 * 8)]));
#pragma unroll
          for (int i = 0; i < 2; ++i)
#pragma unroll
            for (int j = 0; j < 4; ++j)
              multiply_add(wu_sums[i][j], m_matrices[i], wu_matrices[j / 2][j % 2 * 2],
              wu_matrices[j / 2][j % 2 * 2 + 1]);
        }
        __syncthreads();
      }
    }
  }

  auto h_of = [&](float sum, float sum_2, int m, int f) {
    return sum / (expf(-sum) + 1.0f) * sum_2;
  };
  const bool h_aligned = F % 2 == 0 && reinterpret_cast<size_t>(h) % 8 == 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int m = first_m + thread_m + i * 8;
    if (m >= M) break;
#pragma unroll
    for (int j = 0; j < 8; j += 2) {
      const int first = first_f + thread_n + j * 4;
      if (h_aligned && first < F) {
        const int f = first;
        store_pair(&h[static_cast<long long>(m) * F + f], h_of(sums[i / 2][j / 2][i % 2 * 2],
            wu_sums[i / 2][j / 2][i % 2 * 2], m, f), h_of(sums[i / 2][j / 2][i % 2 * 2 + 1],
            wu_sums[i / 2][j / 2][i % 2 * 2 + 1], m, f + 1));
      } else {
#pragma unroll
        for (int l = 0; l < 2; ++l) {
          const int f = first + l;
          if (f >= F) break;
          h[static_cast<long long>(m) * F + f] = h_of(sums[i / 2][j / 2][i % 2 * 2 + l],
              wu_sums[i / 2][j / 2][i % 2 * 2 + l], m, f);
        }
      }
    }
  }
}

// y[i0,i1] = sum_{r0<F} h[i0,r0] * wd[i1,r0]  for i0<M, i1<D
//
// A block computes 32 x 32 results, 32 terms a step: its parts of both factors stand in
// shared memory, the next ones wait in registers while these are multiplied.
__global__ void __launch_bounds__(64, 8) entry_tiles(const float* __restrict__ wd,
    float* __restrict__ y, const float* __restrict__ h, int D, int F, int M) {
  constexpr int kTileM = 32, kTileN = 32, kTileK = 32;
  // Rows are longer by 4, so that a column's elements are in different banks and quads stay aligned.
  __shared__ __align__(16) float h_tile[2][kTileK][kTileM + 4], wd_tile[2][kTileK][kTileN + 4];
  const int tiles_across = (D + kTileN - 1) / kTileN;
  const int first_m = blockIdx.x / tiles_across * kTileM, first_d = blockIdx.x % tiles_across * kTileN;
  // A warp's lanes are 4 x 8 squares of 4 x 4 results, and it has several such sets side by side.
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int thread_m = warp * 16 + lane / 8 * 4, thread_n = lane % 8 * 4;
  const int h_f = threadIdx.x % 8 * 4, h_m = threadIdx.x / 8;
  const bool h_aligned = F % 4 == 0 && reinterpret_cast<size_t>(h) % 16 == 0;
  float h_next[16];
  const int wd_f = threadIdx.x % 8 * 4, wd_d = threadIdx.x / 8;
  const bool wd_aligned = F % 4 == 0 && reinterpret_cast<size_t>(wd) % 16 == 0;
  float wd_next[16];
  auto load_h = [&](int first_f) {
    const int f = first_f + h_f;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int m = first_m + h_m + i * 8;
      load_quad(&h_next[4 * i], h + static_cast<long long>(m) * F + f, m < M ? F - f : 0, h_aligned);
    }
  };
  auto load_wd = [&](int first_f) {
    const int f = first_f + wd_f;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int d = first_d + wd_d + i * 8;
      load_quad(&wd_next[4 * i], wd + static_cast<long long>(d) * F + f, d < D ? F - f : 0, wd_aligned);
    }
  };
  const int steps = (F + kTileK - 1) / kTileK;
  auto load = [&](int step) {
    load_h(step * kTileK);
    load_wd(step * kTileK);
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
        for (int i = 0; i < 4; ++i) a[i] = h_tile[stage][k][thread_m + i];
#pragma unroll
        for (int i = 0; i < 4; ++i) b[i] = wd_tile[stage][k][thread_n + i];
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
          h_tile[stage][h_f + j][h_m + i * 8] = h_next[4 * i + j];
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          wd_tile[stage][wd_f + j][wd_d + i * 8] = wd_next[4 * i + j];
    }
    __syncthreads();
  }

  const bool y_aligned = D % 4 == 0 && reinterpret_cast<size_t>(y) % 16 == 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int m = first_m + thread_m + i;
    if (m >= M) break;
#pragma unroll
    for (int j = 0; j < 4; j += 4) {
      const int first = first_d + thread_n;
      if (y_aligned && first < D) {
        const int d = first;
        store_quad(&y[static_cast<long long>(m) * D + d], sums[i][j], sums[i][j + 1], sums[i][j + 2],
            sums[i][j + 3]);
      } else {
#pragma unroll
        for (int l = 0; l < 4; ++l) {
          const int d = first + l;
          if (d >= D) break;
          y[static_cast<long long>(m) * D + d] = sums[i][j + l];
        }
      }
    }
  }
}

if (F > 0) {
  cudaFuncSetAttribute(entry_tensor_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, 32768);
  entry_tensor_tiles<<<((F + 63) / 64) * ((M + 63) / 64), 128, 32768>>>(x, wg, wu, h, F, K, M);
}
entry_tiles<<<((D + 31) / 32) * ((M + 31) / 32), 64>>>(wd, y, h, D, F, M);
