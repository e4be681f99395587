constexpr int kW4Stages = @STAGES@;   // of each warp, private to it
constexpr int kW4StageBytes = 2048;   // the weights of 32 rows in 4 groups

__device__ __forceinline__ __half2 w4_pair(unsigned bits) { return *reinterpret_cast<__half2*>(&bits); }
__device__ __forceinline__ unsigned w4_bits(__half2 pair) { return *reinterpret_cast<unsigned*>(&pair); }

// The 16 B of one group of one row, to shared memory.
template <bool kWide>
__device__ __forceinline__ void w4_fetch(unsigned char* to, const uint8_t* from) {
  if constexpr (kWide) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :
                 : "r"(unsigned(__cvta_generic_to_shared(to))), "l"(from)
                 : "memory");
  } else {
    unsigned v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      v[k] = unsigned(from[4 * k]) | unsigned(from[4 * k + 1]) << 8 | unsigned(from[4 * k + 2]) << 16 |
             unsigned(from[4 * k + 3]) << 24;
    }
    *reinterpret_cast<uint4*>(to) = make_uint4(v[0], v[1], v[2], v[3]);
  }
}

// The groups 4 * c to 4 * c + 3 of the 32 rows, rows of 64 B, their 16 B pieces swapped against bank conflicts.
// "row" holds where the rows 8 * m + g begin, counted in groups. Always commits, so that groups of copies can be counted.
template <bool kWide>
__device__ __forceinline__ void w4_fill(unsigned char* stage, const uint8_t* packed, const size_t (&row)[4], int c,
                                        int chunks, int g, int t) {
  if (c < chunks) {
#pragma unroll
    for (int m = 0; m < 4; ++m) {
      const int r = 8 * m + g;
      w4_fetch<kWide>(stage + r * 64 + ((t ^ ((r >> 1) & 3)) << 4), packed + (row[m] + size_t(4 * c + t)) * 16);
    }
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
}

template <bool kWide>
__device__ __forceinline__ uint4 w4_load_x(const __half* from) {
  if constexpr (kWide) {
    return *reinterpret_cast<const uint4*>(from);
  } else {
    const unsigned* p = reinterpret_cast<const unsigned*>(from);
    return make_uint4(p[0], p[1], p[2], p[3]);
  }
}

// Eight weights less their zero point, exactly: h[0] = (e0, e4), h[1] = (e1, e5), h[2] = (e2, e6), h[3] = (e3, e7).
__device__ __forceinline__ void w4_unpack(unsigned w, unsigned (&h)[4]) {
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    // 1024 + e, less 1032; and (1024 + 16 * e) / 16, less 72
    h[2 * k] = w4_bits(__hsub2(w4_pair((w & 0x000f000fu) | 0x64006400u), w4_pair(0x64086408u)));
    h[2 * k + 1] =
        w4_bits(__hfma2(w4_pair((w & 0x00f000f0u) | 0x64006400u), w4_pair(0x2c002c00u), w4_pair(0xd480d480u)));
    w >>= 8;
  }
}

__device__ __forceinline__ void w4_mma(float (&d)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,
                                       unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// A block computes 32 rows for 8 batches. Its 4 warps share out the groups, four at a time ("chunks"), and their sums
// are added at the end. kWide: packed and x are aligned to 16 B.
template <bool kWide>
__global__ void __launch_bounds__(128, 4)
    w4a16_kernel(const uint8_t* __restrict__ packed, const __half* __restrict__ scales, const __half* __restrict__ x,
                 __half* __restrict__ y, int B, int N, int groups) {
  __shared__ __align__(128) unsigned char pool[4 * kW4Stages * kW4StageBytes];
  const unsigned batch_tiles = (unsigned(B) + 7) / 8;
  const size_t b0 = size_t(blockIdx.x % batch_tiles) * 8;
  const size_t n0 = size_t(blockIdx.x / batch_tiles) * 32;
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int g = lane >> 2;
  const int t = lane & 3;
  const int chunks = groups / 4;
  const unsigned short* scale_bits = reinterpret_cast<const unsigned short*>(scales);
  unsigned char* mine = pool + warp * kW4Stages * kW4StageBytes;

  // Rows and batches beyond the end read the last one; only their stores are left out.
  size_t row[4];
#pragma unroll
  for (int m = 0; m < 4; ++m) {
    const size_t n = n0 + 8 * m + g;
    row[m] = (n < size_t(N) ? n : size_t(N) - 1) * groups;
  }
  const size_t bx = b0 + g < size_t(B) ? b0 + g : size_t(B) - 1;
  const __half* x_lane = x + bx * groups * 32 + 8 * t;

  // Scales of the rows 8 * m + g in group 4 * c + t, two chunks of the warp ahead.
  unsigned s[2][4];
#pragma unroll
  for (int u = 0; u < 2; ++u) {
    const int c = warp + 4 * u;
#pragma unroll
    for (int m = 0; m < 4; ++m) s[u][m] = c < chunks ? unsigned(scale_bits[row[m] + size_t(4 * c + t)]) : 0u;
  }
#pragma unroll
  for (int p = 0; p < kW4Stages - 1; ++p) {
    w4_fill<kWide>(mine + p * kW4StageBytes, packed, row, warp + 4 * p, chunks, g, t);
  }

  float acc[8] = {0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f};  // acc[i]: row 8 * (i / 2) + g, batch 2 * t + i % 2
  bool seen = false;                                         // an infinite scale
  int stage = 0;
#pragma unroll 1
  for (int c = warp; c < chunks; c += 8) {
#pragma unroll
    for (int u = 0; u < 2; ++u) {
      const int now = c + 4 * u;
      if (now < chunks) {
        uint4 xr[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) xr[j] = w4_load_x<kWide>(x_lane + size_t(4 * now + j) * 32);

        __syncwarp();  // the stage before this one was read by all lanes
        w4_fill<kWide>(mine + (stage == 0 ? kW4Stages - 1 : stage - 1) * kW4StageBytes, packed, row,
                       now + 4 * (kW4Stages - 1), chunks, g, t);
        asm volatile("cp.async.wait_group %0;" ::"n"(kW4Stages - 1) : "memory");
        __syncwarp();

#pragma unroll
        for (int m = 0; m < 4; ++m) seen |= (s[u][m] & 0x7fffu) == 0x7c00u;
        const unsigned p0 = s[u][0] | s[u][1] << 16;
        const unsigned p1 = s[u][2] | s[u][3] << 16;
        const int ahead = now + 8;
#pragma unroll
        for (int m = 0; m < 4; ++m) {
          s[u][m] = ahead < chunks ? unsigned(scale_bits[row[m] + size_t(4 * ahead + t)]) : 0u;
        }

        const unsigned from = unsigned(__cvta_generic_to_shared(mine + stage * kW4StageBytes + lane * 64));
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          unsigned w[4];  // w[m]: the weights 8 * t to 8 * t + 7 of row 8 * m + g
          asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                       : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                       : "r"(from + ((j ^ ((lane >> 1) & 3)) << 4))
                       : "memory");
          unsigned h[4][4];
#pragma unroll
          for (int m = 0; m < 4; ++m) w4_unpack(w[m], h[m]);
          const __half2 q0 = w4_pair(__shfl_sync(0xffffffffu, p0, (lane & 28) | j));
          const __half2 q1 = w4_pair(__shfl_sync(0xffffffffu, p1, (lane & 28) | j));
          const float sc[4] = {__low2float(q0), __high2float(q0), __low2float(q1), __high2float(q1)};
          const unsigned x04 = __byte_perm(xr[j].x, xr[j].z, 0x5410);
          const unsigned x15 = __byte_perm(xr[j].x, xr[j].z, 0x7632);
          const unsigned x26 = __byte_perm(xr[j].y, xr[j].w, 0x5410);
          const unsigned x37 = __byte_perm(xr[j].y, xr[j].w, 0x7632);
#pragma unroll
          for (int tile = 0; tile < 2; ++tile) {
            float d[4] = {0.f, 0.f, 0.f, 0.f};
            w4_mma(d, h[2 * tile][0], h[2 * tile + 1][0], h[2 * tile][1], h[2 * tile + 1][1], x04, x15);
            w4_mma(d, h[2 * tile][2], h[2 * tile + 1][2], h[2 * tile][3], h[2 * tile + 1][3], x26, x37);
#pragma unroll
            for (int i = 0; i < 4; ++i) acc[4 * tile + i] += sc[2 * tile + i / 2] * d[i];
          }
        }
        stage = stage + 1 == kW4Stages ? 0 : stage + 1;
      }
    }
  }

  // The groups after the last chunk. An infinite scale makes inf of a sum of a group, but NaN of pairs of unlike signs or
  // of zero: then the warp does all its groups pair by pair.
  const bool again = __any_sync(0xffffffffu, seen);
#pragma unroll
  for (int i = 0; i < 8; ++i) acc[i] = again ? 0.f : acc[i];
#pragma unroll 1
  for (int gr = again ? 0 : 4 * chunks; gr < groups; ++gr) {
    if (((gr >> 2) & 3) == warp) {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const size_t b = b0 + 2 * t + (i & 1);
        const size_t at = row[i / 2] + gr;
        const size_t x_at = (b < size_t(B) ? b : size_t(B) - 1) * groups + gr;
        const float sc = __half2float(scales[at]);
        const __half2* xs = reinterpret_cast<const __half2*>(x + x_at * 32);
#pragma unroll 1
        for (int r = 0; r < 16; ++r) {
          const uint8_t two = packed[at * 16 + r];
          const __half2 xv = xs[r];
          acc[i] += sc * (float(int(two & 15) - 8) * __low2float(xv) + float(int(two >> 4) - 8) * __high2float(xv));
        }
      }
    }
  }

  // The warps' sums, [batch][row], each over the warp's own stages.
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncwarp();
  float* part = reinterpret_cast<float*>(mine);
#pragma unroll
  for (int i = 0; i < 8; ++i) part[(2 * t + (i & 1)) * 32 + 8 * (i / 2) + g] = acc[i];
  __syncthreads();
  for (int o = threadIdx.x; o < 256; o += 128) {
    float sum = 0.f;
#pragma unroll
    for (int v = 0; v < 4; ++v) sum += reinterpret_cast<const float*>(pool + v * kW4Stages * kW4StageBytes)[o];
    const size_t b = b0 + o / 32;
    const size_t n = n0 + o % 32;
    if (b < size_t(B) && n < size_t(N)) y[b * N + n] = __float2half(sum);
  }
}