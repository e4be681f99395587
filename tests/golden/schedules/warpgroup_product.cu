// sums += a * b of four warps: 64 x 256 results of 16 terms; done when it has been waited for.
__device__ __forceinline__ void multiply_add(float (&sums)[128], unsigned long long a, unsigned long long b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
      "%128, %129, 1, 1, 1, 0, 1;"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3]), "+f"(sums[4]), "+f"(sums[5]),
        "+f"(sums[6]), "+f"(sums[7]), "+f"(sums[8]), "+f"(sums[9]), "+f"(sums[10]), "+f"(sums[11]),
        "+f"(sums[12]), "+f"(sums[13]), "+f"(sums[14]), "+f"(sums[15]), "+f"(sums[16]), "+f"(sums[17]),
        "+f"(sums[18]), "+f"(sums[19]), "+f"(sums[20]), "+f"(sums[21]), "+f"(sums[22]), "+f"(sums[23]),
        "+f"(sums[24]), "+f"(sums[25]), "+f"(sums[26]), "+f"(sums[27]), "+f"(sums[28]), "+f"(sums[29]),
        "+f"(sums[30]), "+f"(sums[31]), "+f"(sums[32]), "+f"(sums[33]), "+f"(sums[34]), "+f"(sums[35]),
        "+f"(sums[36]), "+f"(sums[37]), "+f"(sums[38]), "+f"(sums[39]), "+f"(sums[40]), "+f"(sums[41]),
        "+f"(sums[42]), "+f"(sums[43]), "+f"(sums[44]), "+f"(sums[45]), "+f"(sums[46]), "+f"(sums[47]),
        "+f"(sums[48]), "+f"(sums[49]), "+f"(sums[50]), "+f"(sums[51]), "+f"(sums[52]), "+f"(sums[53]),
        "+f"(sums[54]), "+f"(sums[55]), "+f"(sums[56]), "+f"(sums[57]), "+f"(sums[58]), "+f"(sums[59]),
        "+f"(sums[60]), "+f"(sums[61]), "+f"(sums[62]), "+f"(sums[63]), "+f"(sums[64]), "+f"(sums[65]),
        "+f"(sums[66]), "+f"(sums[67]), "+f"(sums[68]), "+f"(sums[69]), "+f"(sums[70]), "+f"(sums[71]),
        "+f"(sums[72]), "+f"(sums[73]), "+f"(sums[74]), "+f"(sums[75]), "+f"(sums[76]), "+f"(sums[77]),
        "+f"(sums[78]), "+f"(sums[79]), "+f"(sums[80]), "+f"(sums[81]), "+f"(sums[82]), "+f"(sums[83]),
        "+f"(sums[84]), "+f"(sums[85]), "+f"(sums[86]), "+f"(sums[87]), "+f"(sums[88]), "+f"(sums[89]),
        "+f"(sums[90]), "+f"(sums[91]), "+f"(sums[92]), "+f"(sums[93]), "+f"(sums[94]), "+f"(sums[95]),
        "+f"(sums[96]), "+f"(sums[97]), "+f"(sums[98]), "+f"(sums[99]), "+f"(sums[100]), "+f"(sums[101]),
        "+f"(sums[102]), "+f"(sums[103]), "+f"(sums[104]), "+f"(sums[105]), "+f"(sums[106]), "+f"(sums[107]),
        "+f"(sums[108]), "+f"(sums[109]), "+f"(sums[110]), "+f"(sums[111]), "+f"(sums[112]), "+f"(sums[113]),
        "+f"(sums[114]), "+f"(sums[115]), "+f"(sums[116]), "+f"(sums[117]), "+f"(sums[118]), "+f"(sums[119]),
        "+f"(sums[120]), "+f"(sums[121]), "+f"(sums[122]), "+f"(sums[123]), "+f"(sums[124]), "+f"(sums[125]),
        "+f"(sums[126]), "+f"(sums[127])
      : "l"(a), "l"(b));
}

// A matrix in shared memory as wgmma takes it: swizzled over 128 bytes, eight such rows after the other.
__device__ __forceinline__ unsigned long long describe(unsigned at, int panel_bytes) {
  return 1ull << 62 | 64ull << 32 | static_cast<unsigned long long>(panel_bytes / 16) << 16 | at / 16;
}

// What this thread wrote to shared memory is there for products that begin after a barrier.
__device__ __forceinline__ void show_to_products() { asm volatile("fence.proxy.async;" ::: "memory"); }
// Products between these are one group; all but the last `kLeft` groups are done.
__device__ __forceinline__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void end_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kLeft>
__device__ __forceinline__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}

__device__ __forceinline__ unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

// Where an element of a tile stands: octets of a row change places from row to row, so that neither copies nor
// rows of a matrix meet in a bank.
template <int kColumns>
__device__ __forceinline__ int swizzled(int row, int column) {
  constexpr int kFactor = kColumns / 8 & -(kColumns / 8);  // a power of two
  constexpr int kOctets = kFactor < 8 ? kFactor : 8, kRows = 8 / kOctets;
  return row * kColumns + (column / 8 ^ row / kRows % kOctets) * 8 + column % 8;
}

// Where an element of a tile stands whose rows are neighbours: panels of 64 of them, in each a row of 128 bytes for
// every term, whose octets change places from term to term.
template <int kTerms>
__device__ __forceinline__ int in_panel(int term, int row) {
  return row / 64 * kTerms * 64 + term * 64 + (row % 64 / 8 ^ term % 8) * 8 + row % 8;
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
// A block computes 128 x 256 results by wgmma, 64 terms a step, every four warps 64 x 256 of them. Copies into
// shared memory run kStages - 2 steps ahead: what is copied to was read by the product before the last.
__global__ void __launch_bounds__(256, 1) entry_warpgroup_tiles(const __half* __restrict__ A,
    const __half* __restrict__ B, __half* __restrict__ C, int K, int M, int N) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  constexpr int kTileM = 128, kTileN = 256, kTileK = 64;
  constexpr int kStages = 4;
  extern __shared__ __align__(1024) unsigned char shared[];
  auto A_tile = reinterpret_cast<__half(*)[kTileK * kTileM]>(shared);
  auto B_tile = reinterpret_cast<__half(*)[kTileK * kTileN]>(A_tile + kStages);
  const int tiles_across = (N + kTileN - 1) / kTileN;
  const int first_m = blockIdx.x / tiles_across * kTileM, first_n = blockIdx.x % tiles_across * kTileN;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int A_k = threadIdx.x % 8 * 8, A_m = threadIdx.x / 8;
  const bool A_aligned = K % 8 == 0 && reinterpret_cast<size_t>(A) % 16 == 0;
  const int B_n = threadIdx.x % 32 * 8, B_k = threadIdx.x / 32;
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
    for (int i = 0; i < 8; ++i) {
      const int k = first_k + B_k + i * 8;
      copy_octet(&B_tile[stage][in_panel<kTileK>(B_k + i * 8, B_n)], B + static_cast<long long>(k) * N + n,
          k < K ? N - n : 0, B_aligned);
    }
  };
  const int steps = (K + kTileK - 1) / kTileK;
  auto load = [&](int step, int stage) {
    load_A(step * kTileK, stage);
    load_B(step * kTileK, stage);
  };

  float sums[128] = {};
  // The first stage's matrices, the left one from this warpgroup's rows on.
  const int group = __shfl_sync(0xffffffff, warp / 4, 0);
  const unsigned long long A_at = describe(shared_address(A_tile[0] + group * 64 * kTileK), 0);
  const unsigned long long B_at = describe(shared_address(B_tile[0]), kTileK * 128);
  auto multiply = [&](int stage) {
    begin_products();
#pragma unroll
    for (int slice = 0; slice < kTileK / 16; ++slice)
      multiply_add(sums, A_at + (stage * kTileM * kTileK * 2 + slice * 32) / 16,
        B_at + (stage * kTileN * kTileK * 2 + slice * 2048) / 16);
    end_products();
  };
  if (A_aligned && B_aligned) {
    int first_k = 0, filled = 0;  // of the step that is copied next, and its stage
    const __half* A_from = A + static_cast<long long>(first_m + A_m) * K + first_k + A_k;
    const unsigned A_to = shared_address(&A_tile[0][swizzled<kTileK>(A_m, A_k)]);
    const __half* B_from = B + static_cast<long long>(first_k + B_k) * N + first_n + B_n;
    const unsigned B_to = shared_address(&B_tile[0][in_panel<kTileK>(B_k, B_n)]);
    auto copy = [&] {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        copy_octet(A_to + (filled * kTileM + i * 32) * kTileK * 2,
            A_from + i * 32 * static_cast<long long>(K), first_m + A_m + i * 32 < M ? K - (first_k + A_k) :
            0);
      }
      A_from += kTileK;
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        copy_octet(B_to + (filled * kTileN * kTileK + i * 8 * 64) * 2,
            B_from + i * 8 * static_cast<long long>(N),
                first_k + B_k + i * 8 < K ? N - (first_n + B_n) : 0);
      }
      B_from += kTileK * static_cast<long long>(N);
      first_k += kTileK;
      filled = filled + 1 < kStages ? filled + 1 : 0;
      end_copy_group();
    };
    for (int i = 0; i < kStages - 2; ++i) copy();
    int stage = 0;
    for (int step = 0; step < steps; ++step) {
      wait_for_copies<kStages - 3>();
      show_to_products();
      __syncthreads();
      multiply(stage);
      copy();
      stage = stage + 1 < kStages ? stage + 1 : 0;
      wait_for_products<1>();
    }
    wait_for_copies<0>();
    wait_for_products<0>();
  } else {
    for (int step = 0; step < steps; ++step) {
      load(step, 0);
      end_copy_group();
      wait_for_copies<0>();
      show_to_products();
      __syncthreads();
      multiply(0);
      wait_for_products<0>();
      __syncthreads();
    }
  }
  const int thread_m = warp * 16 + lane / 4, thread_n = lane % 4 * 2;

  const bool C_aligned = N % 2 == 0 && reinterpret_cast<size_t>(C) % 4 == 0;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int m = first_m + thread_m + i * 8;
    if (m >= M) break;
#pragma unroll
    for (int j = 0; j < 64; j += 2) {
      const int first = first_n + thread_n + j * 4;
      if (C_aligned && first < N) {
        const int n = first;
        store_pair(&C[static_cast<long long>(m) * N + n], sums[j / 2 * 4 + i * 2],
            sums[j / 2 * 4 + i * 2 + 1]);
      } else {
#pragma unroll
        for (int l = 0; l < 2; ++l) {
          const int n = first + l;
          if (n >= N) break;
          C[static_cast<long long>(m) * N + n] = __float2half(sums[j / 2 * 4 + i * 2 + l]);
        }
      }
    }
  }
#else
  __trap();
#endif
}

cudaFuncSetAttribute(entry_warpgroup_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, 196608);
entry_warpgroup_tiles<<<((N + 255) / 256) * ((M + 127) / 128), 256, 196608>>>(A, B, C, K, M, N);
