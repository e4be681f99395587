// Tensor cores: a block takes 128 x 160 of C and walks over slabs of 64 k, which come by cp.async in four stages. Left of the
// diagonal block a slab of S is read as it is stored, right of it from the mirrored place, and transposed by ldmatrix.
constexpr unsigned kSymmM = 128, kSymmN = 160, kSymmK = 64, kSymmStages = 4, kSymmThreads = 256;
// Bytes from row to row in shared memory: odd multiples of 16, so that ldmatrix has no bank conflicts.
constexpr unsigned kSymmLowerPitch = 2 * kSymmK + 16, kSymmUpperPitch = 2 * kSymmM + 16, kSymmRightPitch = 2 * kSymmN + 16;
// A stage: S[m][k], then S[k][m] (the mirrored part), then B[k][n].
constexpr unsigned kSymmUpperAt = kSymmM * kSymmLowerPitch, kSymmRightAt = kSymmUpperAt + kSymmK * kSymmUpperPitch;
constexpr unsigned kSymmStageBytes = kSymmRightAt + kSymmK * kSymmRightPitch;
constexpr unsigned kSymmSharedBytes = kSymmStages * kSymmStageBytes;
// Where a slab lies: below the diagonal, above it, or across it.
constexpr int kSymmBelow = 0, kSymmAbove = 1, kSymmAcross = 2;

__device__ __forceinline__ void symm_ldmatrix(unsigned (&r)[4], unsigned at)
{
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(at)
               : "memory");
}

__device__ __forceinline__ void symm_ldmatrix_trans(unsigned (&r)[4], unsigned at)
{
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(at)
               : "memory");
}

__device__ __forceinline__ void symm_mma(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Eight neighbours of a row, zero beyond the matrix. ALIGNED: rows begin at 16 bytes and are multiples of eight long.
template <bool ALIGNED>
__device__ __forceinline__ void symm_load_chunk(unsigned to, const __half* __restrict__ base, unsigned row, unsigned rows, unsigned col, unsigned cols)
{
  if (ALIGNED) {
    const bool inside = row < rows && col < cols;
    const __half* from = inside ? base + ((size_t)row * cols + col) : base;
    const unsigned bytes = inside ? 16u : 0u;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"(to), "l"(from), "r"(bytes) : "memory");
  } else {
    const size_t at = (size_t)row * cols + col;
    unsigned v[4];
#pragma unroll
    for (unsigned e = 0; e < 4; ++e) {
      const unsigned lo = row < rows && col + 2 * e < cols ? (unsigned)__half_as_ushort(base[at + 2 * e]) : 0u;
      const unsigned hi = row < rows && col + 2 * e + 1 < cols ? (unsigned)__half_as_ushort(base[at + 2 * e + 1]) : 0u;
      v[e] = lo | (hi << 16);
    }
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" : : "r"(to), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]) : "memory");
  }
}

template <bool ALIGNED>
__device__ __forceinline__ void symm_load_slab(unsigned stage, const __half* __restrict__ S, const __half* __restrict__ B, unsigned m0, unsigned n0, unsigned k0, unsigned M, unsigned N)
{
  const unsigned tid = threadIdx.x;
  if (k0 < m0 + kSymmM) {
    const unsigned r = tid >> 3, c = tid & 7;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i)
      symm_load_chunk<ALIGNED>(stage + (r + 32 * i) * kSymmLowerPitch + c * 16, S, m0 + r + 32 * i, M, k0 + c * 8, M);
  }
  const unsigned r = tid >> 4, c = tid & 15;
  if (k0 + kSymmK > m0) {
#pragma unroll
    for (unsigned i = 0; i < 4; ++i)
      symm_load_chunk<ALIGNED>(stage + kSymmUpperAt + (r + 16 * i) * kSymmUpperPitch + c * 16, S, k0 + r + 16 * i, M, m0 + c * 8, M);
  }
  // B: sixteen chunks of each row, then the last four; rows 0, 4, 1, 5, .. there, so that two rows meet in no bank.
#pragma unroll
  for (unsigned i = 0; i < 4; ++i)
    symm_load_chunk<ALIGNED>(stage + kSymmRightAt + (r + 16 * i) * kSymmRightPitch + c * 16, B, k0 + r + 16 * i, M, n0 + c * 8, N);
  const unsigned last_r = ((tid >> 2) & 56) | (tid & 4) | ((tid >> 3) & 3), last_c = 16 + (tid & 3);
  symm_load_chunk<ALIGNED>(stage + kSymmRightAt + last_r * kSymmRightPitch + last_c * 16, B, k0 + last_r, M, n0 + last_c * 8, N);
}

// Rows m to m + 15, columns k to k + 15 of the symmetric matrix. On the diagonal both parts are read and chosen bit by bit.
template <int WHERE>
__device__ __forceinline__ void symm_load_a(unsigned (&a)[4], unsigned lower, unsigned upper, unsigned m, unsigned k)
{
  if (WHERE == kSymmBelow || (WHERE == kSymmAcross && k < m)) {
    symm_ldmatrix(a, lower);
  } else if (WHERE == kSymmAbove || k > m) {
    symm_ldmatrix_trans(a, upper);
  } else {
    unsigned d[4], t[4];
    symm_ldmatrix(d, lower);
    symm_ldmatrix_trans(t, upper);
    const unsigned g = (threadIdx.x & 31) >> 2, c = 2 * (threadIdx.x & 3);
    const unsigned mask = (c <= g ? 0x0000FFFFu : 0u) | (c + 1 <= g ? 0xFFFF0000u : 0u);
    a[0] = (d[0] & mask) | (t[0] & ~mask);
    a[1] = d[1];
    a[2] = t[2];
    a[3] = (d[3] & mask) | (t[3] & ~mask);
  }
}

// A warp: 64 x 80 results, 32 k. The addresses are those of this lane, m and k those of the warp's first row and first k.
template <int WHERE>
__device__ __forceinline__ void symm_multiply(float (&acc)[4][10][4], unsigned lower, unsigned upper, unsigned right, unsigned m, unsigned k)
{
#pragma unroll
  for (unsigned s = 0; s < 2; ++s) {
    unsigned a[4][4], b[2][4];
#pragma unroll
    for (unsigned i = 0; i < 4; ++i)
      symm_load_a<WHERE>(a[i], lower + i * 16 * kSymmLowerPitch + s * 32, upper + s * 16 * kSymmUpperPitch + i * 32, m + 16 * i, k + 16 * s);
    symm_ldmatrix_trans(b[0], right + s * 16 * kSymmRightPitch);
#pragma unroll
    for (unsigned q = 0; q < 5; ++q) {
      if (q < 4) symm_ldmatrix_trans(b[(q + 1) & 1], right + s * 16 * kSymmRightPitch + (q + 1) * 32);
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) {
        symm_mma(acc[i][2 * q], a[i], b[q & 1][0], b[q & 1][1]);
        symm_mma(acc[i][2 * q + 1], a[i], b[q & 1][2], b[q & 1][3]);
      }
    }
  }
}

template <bool ALIGNED>
__global__ void __launch_bounds__(kSymmThreads, 1) symm_lower_kernel(const __half* __restrict__ S, const __half* __restrict__ B, __half* __restrict__ C, int M, int N, unsigned tilesN)
{
  extern __shared__ __align__(16) unsigned char symm_shared[];
  const unsigned base = (unsigned)__cvta_generic_to_shared(symm_shared);
  const unsigned rows = (unsigned)M, cols = (unsigned)N;
  const unsigned m0 = blockIdx.x / tilesN * kSymmM, n0 = blockIdx.x % tilesN * kSymmN;
  const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  // Warps 0 to 3 take the first 32 k of a slab, warps 4 to 7 the others, each of them the same four pieces of 64 x 80.
  const unsigned grp = warp >> 2, wm = ((warp >> 1) & 1) * 64, wn = (warp & 1) * 80, wk = grp * 32;
  const unsigned lower = base + (wm + (lane & 15)) * kSymmLowerPitch + (wk + (lane >> 4) * 8) * 2;
  const unsigned upper = base + kSymmUpperAt + (wk + (lane >> 4) * 8 + (lane & 7)) * kSymmUpperPitch + (wm + (lane & 8)) * 2;
  const unsigned right = base + kSymmRightAt + (wk + (lane & 15)) * kSymmRightPitch + (wn + (lane >> 4) * 8) * 2;
  float acc[4][10][4] = {};

  const unsigned slabs = (rows + kSymmK - 1) / kSymmK;
#pragma unroll 1
  for (unsigned t = 0; t < kSymmStages - 1; ++t) {
    if (t < slabs) symm_load_slab<ALIGNED>(base + t * kSymmStageBytes, S, B, m0, n0, t * kSymmK, rows, cols);
    asm volatile("cp.async.commit_group;" : : : "memory");
  }
#pragma unroll 1
  for (unsigned t = 0; t < slabs; ++t) {
    asm volatile("cp.async.wait_group 2;" : : : "memory");
    __syncthreads();
    // One group of warps loads before its products, the other one behind them: so the tensor cores always have work.
    const unsigned next = t + kSymmStages - 1, next_stage = base + (next % kSymmStages) * kSymmStageBytes;
    if (grp == 0) {
      if (next < slabs) symm_load_slab<ALIGNED>(next_stage, S, B, m0, n0, next * kSymmK, rows, cols);
      asm volatile("cp.async.commit_group;" : : : "memory");
    }
    const unsigned k0 = t * kSymmK, at = (t % kSymmStages) * kSymmStageBytes;
    if (k0 + kSymmK <= m0)
      symm_multiply<kSymmBelow>(acc, lower + at, upper + at, right + at, m0 + wm, k0 + wk);
    else if (k0 >= m0 + kSymmM)
      symm_multiply<kSymmAbove>(acc, lower + at, upper + at, right + at, m0 + wm, k0 + wk);
    else
      symm_multiply<kSymmAcross>(acc, lower + at, upper + at, right + at, m0 + wm, k0 + wk);
    if (grp == 1) {
      if (next < slabs) symm_load_slab<ALIGNED>(next_stage, S, B, m0, n0, next * kSymmK, rows, cols);
      asm volatile("cp.async.commit_group;" : : : "memory");
    }
  }
  asm volatile("cp.async.wait_group 0;" : : : "memory");
  __syncthreads();

  // The second group hands its sums to the first one, which adds and stores them.
  float2* sums = reinterpret_cast<float2*>(symm_shared) + (threadIdx.x & 127);
  if (grp == 1) {
#pragma unroll
    for (unsigned i = 0; i < 4; ++i)
#pragma unroll
      for (unsigned q = 0; q < 10; ++q)
#pragma unroll
        for (unsigned h = 0; h < 2; ++h) sums[((i * 10 + q) * 2 + h) * 128] = make_float2(acc[i][q][2 * h], acc[i][q][2 * h + 1]);
  }
  __syncthreads();
  if (grp == 0) {
#pragma unroll
    for (unsigned i = 0; i < 4; ++i)
#pragma unroll
      for (unsigned q = 0; q < 10; ++q)
#pragma unroll
        for (unsigned h = 0; h < 2; ++h) {
          const float2 other = sums[((i * 10 + q) * 2 + h) * 128];
          const float x = acc[i][q][2 * h] + other.x, y = acc[i][q][2 * h + 1] + other.y;
          const unsigned row = m0 + wm + 16 * i + 8 * h + (lane >> 2), col = n0 + wn + 8 * q + 2 * (lane & 3);
          if (row < rows && col < cols) {
            __half* to = C + ((size_t)row * cols + col);
            if (ALIGNED) {
              *reinterpret_cast<__half2*>(to) = __floats2half2_rn(x, y);
            } else {
              to[0] = __float2half(x);
              if (col + 1 < cols) to[1] = __float2half(y);
            }
          }
        }
  }
}