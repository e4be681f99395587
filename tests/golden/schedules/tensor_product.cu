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

// C[i0,i1] = sum_{r0<K} A[i0,r0] * B[r0,i1]  for i0<M, i1<N
//
// A block computes 128 x 128 results on tensor cores, 32 terms a step, each warp 64 x 64 of them.
// Copies into shared memory run kStages - 1 steps ahead.
__global__ void __launch_bounds__(128, 2) entry_tensor_tiles(const __half* __restrict__ A,
    const __half* __restrict__ B, __half* __restrict__ C, int K, int M, int N) {
  constexpr int kTileM = 128, kTileN = 128, kTileK = 32;
  constexpr int kStages = 4;
  extern __shared__ __align__(128) unsigned char shared[];
  auto A_tile = reinterpret_cast<__half(*)[kTileK * kTileM]>(shared);
  auto B_tile = reinterpret_cast<__half(*)[kTileK * kTileN]>(A_tile + kStages);
  const int tiles_across = (N + kTileN - 1) / kTileN;
  const int first_m = blockIdx.x / tiles_across * kTileM, first_n = blockIdx.x % tiles_across * kTileN;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warp_m = warp / 2 * 64, warp_n = warp % 2 * 64;
  const int thread_m = warp_m + lane / 4, thread_n = warp_n + lane % 4 * 2;
  const int A_k = threadIdx.x % 4 * 8, A_m = threadIdx.x / 4;
  const bool A_aligned = K % 8 == 0 && reinterpret_cast<size_t>(A) % 16 == 0;
  const int B_n = threadIdx.x % 16 * 8, B_k = threadIdx.x / 16;
  const bool B_aligned = N % 8 == 0 && reinterpret_cast<size_t>(B) % 16 == 0;
  auto load_A = [&](int first_k, int stage) {
    const int k = first_k + A_k;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int m = first_m + A_m + i * 32;
      copy_octet(&A_tile[stage][swizzled<kTileK>(A_m + i * 32, A_k)], A + static_cast<long long>(m) * K + k,
          m < M ? K - k : 0, A_aligned);
    }
  };
  auto load_B = [&](int first_k, int stage) {
    const int n = first_n + B_n;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int k = first_k + B_k + i * 8;
      copy_octet(&B_tile[stage][swizzled<kTileN>(B_k + i * 8, B_n)], B + static_cast<long long>(k) * N + n,
          k < K ? N - n : 0, B_aligned);
    }
  };
  const int steps = (K + kTileK - 1) / kTileK;
  auto load = [&](int step, int stage) {
    load_A(step * kTileK, stage);
    load_B(step * kTileK, stage);
  };

  float sums[4][8][4] = {};
  if (A_aligned && B_aligned) {
    constexpr int kSlices = kTileK / 16;
    int first_k = 0, filled = 0;  // of the step that is copied next, and its stage
    const __half* A_from = A + static_cast<long long>(first_m + A_m) * K + first_k + A_k;
    const unsigned A_to = shared_address(&A_tile[0][swizzled<kTileK>(A_m, A_k)]);
    const __half* B_from = B + static_cast<long long>(first_k + B_k) * N + first_n + B_n;
    const unsigned B_to = shared_address(&B_tile[0][swizzled<kTileN>(B_k, B_n)]);
    auto copy = [&] {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        copy_octet(A_to + (filled * kTileM + i * 32) * kTileK * 2,
            A_from + i * 32 * static_cast<long long>(K), first_m + A_m + i * 32 < M ? K - (first_k + A_k) :
            0);
      }
      A_from += kTileK;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        copy_octet(B_to + (filled * kTileK + i * 8) * kTileN * 2,
            B_from + i * 8 * static_cast<long long>(N),
            first_k + B_k + i * 8 < K ? N - (first_n + B_n) : 0);
      }
      B_from += kTileK * static_cast<long long>(N);
      first_k += kTileK;
      filled = filled + 1 < kStages ? filled + 1 : 0;
      end_copy_group();
    };
    // Where this lane reads matrices in the first stage; and those of the slice that is multiplied, and of the next.
    unsigned A_at[kSlices];
#pragma unroll
    for (int i = 0; i < kSlices; ++i)
      A_at[i] = shared_address(&A_tile[0][swizzled<kTileK>(warp_m + lane % 16, i * 16 + lane / 16 * 8)]);
    unsigned B_at[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      B_at[i] = shared_address(&B_tile[0][swizzled<kTileN>(lane % 16, warp_n + i * 16 + lane / 16 * 8)]);
    unsigned A_matrices[2][4][4], B_matrices[2][4][4];
    int stage = 0;
    auto read = [&](int slot, int slice) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        load_matrices(A_matrices[slot][i], A_at[slice] + (stage * kTileM + i * 16) * kTileK * 2);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        load_matrices_transposed(B_matrices[slot][i], B_at[i] + (stage * kTileK + slice * 16) * kTileN * 2);
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
        for (int i = 0; i < 4; ++i)
#pragma unroll
          for (int j = 0; j < 8; ++j)
            multiply_add(sums[i][j], A_matrices[slice % 2][i], B_matrices[slice % 2][j / 2][j % 2 * 2],
            B_matrices[slice % 2][j / 2][j % 2 * 2 + 1]);
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
        unsigned A_matrices[4][4], B_matrices[4][4];
#pragma unroll
        for (int i = 0; i < 4; ++i)
          load_matrices(A_matrices[i],
            shared_address(&A_tile[stage][swizzled<kTileK>(warp_m + i * 16 + lane % 16,
                k + lane / 16 * 8)]));
#pragma unroll
        for (int i = 0; i < 4; ++i)
          load_matrices_transposed(B_matrices[i],
            shared_address(&B_tile[stage][swizzled<kTileN>(k + lane % 16,
                warp_n + i * 16 + lane / 16 * 8)]));
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
          for (int j = 0; j < 8; ++j)
            multiply_add(sums[i][j], A_matrices[i], B_matrices[j / 2][j % 2 * 2],
            B_matrices[j / 2][j % 2 * 2 + 1]);
      }
      __syncthreads();
    }
  }

  const bool C_aligned = N % 2 == 0 && reinterpret_cast<size_t>(C) % 4 == 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int m = first_m + thread_m + i * 8;
    if (m >= M) break;
#pragma unroll
    for (int j = 0; j < 16; j += 2) {
      const int first = first_n + thread_n + j * 4;
      if (C_aligned && first < N) {
        const int n = first;
        store_pair(&C[static_cast<long long>(m) * N + n], sums[i / 2][j / 2][i % 2 * 2],
            sums[i / 2][j / 2][i % 2 * 2 + 1]);
      } else {
#pragma unroll
        for (int l = 0; l < 2; ++l) {
          const int n = first + l;
          if (n >= N) break;
          C[static_cast<long long>(m) * N + n] = __float2half(sums[i / 2][j / 2][i % 2 * 2 + l]);
        }
      }
    }
  }
}

cudaFuncSetAttribute(entry_tensor_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
entry_tensor_tiles<<<((N + 127) / 128) * ((M + 127) / 128), 128, 65536>>>(A, B, C, K, M, N);
