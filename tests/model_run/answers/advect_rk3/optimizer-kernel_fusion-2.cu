// Three stages need three columns beyond each side of what a warp stores: the first and the last lane only supply them.
constexpr int kHalo = 4;
constexpr int kStripColumns = 128 - 2 * kHalo;
constexpr int kWarpsPerSm = @WARPS@;
constexpr int kUnroll = @UNROLL@;  // a multiple of four

template <bool kVec>
__device__ __forceinline__ void rkLoad(float (&p)[4], const float* __restrict__ row, const int (&col)[4]) {
  if constexpr (kVec) {
    const float4 q = *reinterpret_cast<const float4*>(row + col[0]);
    p[0] = q.x;
    p[1] = q.y;
    p[2] = q.z;
    p[3] = q.w;
  } else {
#pragma unroll
    for (int k = 0; k < 4; ++k) p[k] = row[col[k]];
  }
}

// One warp takes the rows [y0, y1) of its columns through all three stages. Row after row comes in, and each stage follows
// one row behind the one before it, with its last three rows in registers.
template <bool kVec, bool kUp>
__device__ __forceinline__ void rkMarch(float* __restrict__ dst, const float* __restrict__ src, int nx, int ny,
                                        long long x, int y0, int y1, Coeffs c) {
  const int lane = threadIdx.x;
  int col[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    col[k] = static_cast<int>(static_cast<unsigned long long>(x + k + 4LL * nx) % static_cast<unsigned long long>(nx));
  }
  const int left = lane >= 1 && lane <= 30 && x < nx ? static_cast<int>(nx - x < 4 ? nx - x : 4) : 0;
  float* const column = left > 0 ? dst + x : dst;

  const long long first = kUp ? y1 + 2LL : y0 - 3LL;
  int row = static_cast<int>(static_cast<unsigned long long>(first + 3LL * ny) % static_cast<unsigned long long>(ny));
  const int count = y1 - y0 + 6;

  float p[4][4], u[4][4] = {}, s1[4][4] = {}, s2[4][4] = {};
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    rkLoad<kVec>(p[k], src + static_cast<size_t>(row) * nx, col);
    row = kUp ? (row == 0 ? ny - 1 : row - 1) : (row + 1 == ny ? 0 : row + 1);
  }
  for (int t0 = 0;; t0 += kUnroll) {
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      const int t = t0 + k;
      if (t >= count) return;
#pragma unroll
      for (int i = 0; i < 4; ++i) u[k & 3][i] = p[k & 3][i];
      // Four rows ahead; behind the last one, the last one again.
      rkLoad<kVec>(p[k & 3], src + static_cast<size_t>(row) * nx, col);
      const int next = kUp ? (row == 0 ? ny - 1 : row - 1) : (row + 1 == ny ? 0 : row + 1);
      row = t + 5 < count ? next : row;

      rkStage<kUp>(s1[k & 3], u[(k + 3) & 3], u[(k + 2) & 3], u[(k + 3) & 3], u[k & 3], 0.0f, 1.0f, c);
      rkStage<kUp>(s2[k & 3], u[(k + 2) & 3], s1[(k + 2) & 3], s1[(k + 3) & 3], s1[k & 3], 0.75f, 0.25f, c);
      // What came of the zeros at the start is gone by then.
      if (t >= 6) {
        float(&out)[4] = u[(k + 1) & 3];
        rkStage<kUp>(out, out, s2[(k + 2) & 3], s2[(k + 3) & 3], s2[k & 3], 1.0f / 3.0f, 2.0f / 3.0f, c);
        const int j = kUp ? y1 - 1 - (t - 6) : y0 + (t - 6);
        float* const to = column + static_cast<size_t>(j) * nx;
        if constexpr (kVec) {
          if (left > 0) *reinterpret_cast<float4*>(to) = make_float4(out[0], out[1], out[2], out[3]);
        } else {
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            if (i < left) to[i] = out[i];
          }
        }
      }
    }
  }
}

// A whole step from src to dst. A block is one warp, with a strip of columns and of rows of its own. Neighbours march in
// opposite directions, so that they read the rows that both need at about the same time; and each goes back in the next
// step (turn), which so begins with what was written last. kVec: rows begin at 16 bytes in both buffers.
template <bool kVec>
__global__ void __launch_bounds__(32, kWarpsPerSm)
    rkStep(float* __restrict__ dst, const float* __restrict__ src, int nx, int ny, int xstrips, int ystrips, int turn,
           Coeffs c) {
  const int s = static_cast<int>(blockIdx.x) / xstrips;
  const int xs = static_cast<int>(blockIdx.x) - s * xstrips;
  const int y0 = static_cast<int>(static_cast<long long>(s) * ny / ystrips);
  const int y1 = static_cast<int>((static_cast<long long>(s) + 1) * ny / ystrips);
  const long long x = static_cast<long long>(xs) * kStripColumns - kHalo + 4 * static_cast<int>(threadIdx.x);
  if (((s & @ALT@) ^ turn) != 0) {
    rkMarch<kVec, true>(dst, src, nx, ny, x, y0, y1, c);
  } else {
    rkMarch<kVec, false>(dst, src, nx, ny, x, y0, y1, c);
  }
}

__global__ void __launch_bounds__(256) copyField(float* __restrict__ dst, const float* __restrict__ src, size_t n) {
  const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) dst[i] = src[i];
}

extern "C" cudaError_t advect_rk3(float* u, float* u1, float* u2, int nx, int ny, int steps, float ax, float ay,
                                  float nu, float dt, cudaStream_t stream) {
  if (nx <= 0 || ny <= 0 || steps <= 0) return cudaGetLastError();
  const Coeffs c{ax, ay, nu, dt};
  // As many warps as the chip holds at once, but strips of at least about 16 rows.
  const int xstrips = static_cast<int>((static_cast<long long>(nx) + kStripColumns - 1) / kStripColumns);
  const int most = static_cast<int>((static_cast<long long>(ny) + 15) / 16);
  int ystrips = 132 * kWarpsPerSm / xstrips;
  if (ystrips > most) ystrips = most;
  if (ystrips < 1) ystrips = 1;
  const unsigned blocks = static_cast<unsigned>(xstrips) * static_cast<unsigned>(ystrips);
  const bool vec = nx % 4 == 0 && (reinterpret_cast<size_t>(u) | reinterpret_cast<size_t>(u1)) % 16 == 0;

  // The stages need no arrays any more: u1 takes every other step, and u2 is not used.
  float* src = u;
  float* dst = u1;
  for (int s = 0; s < steps; ++s) {
    if (vec) {
      rkStep<true><<<blocks, 32, 0, stream>>>(dst, src, nx, ny, xstrips, ystrips, s & 1, c);
    } else {
      rkStep<false><<<blocks, 32, 0, stream>>>(dst, src, nx, ny, xstrips, ystrips, s & 1, c);
    }
    float* const done = dst;
    dst = src;
    src = done;
  }
  if (steps % 2 != 0) {
    const size_t n = static_cast<size_t>(nx) * ny;
    const size_t want = (n + 255) / 256;
    copyField<<<static_cast<unsigned>(want < 1056 ? want : 1056), 256, 0, stream>>>(u, u1, n);
  }
  return cudaGetLastError();
}
