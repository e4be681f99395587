template <bool kUp, bool kOld>
__device__ __forceinline__ void rkWeighted(float (&dst)[4], const float (&u)[4], const float (&before)[4],
                                           const float (&v)[4], const float (&after)[4], float wa, Weights w) {
  const float left = __shfl_up_sync(0xffffffffu, v[3], 1);
  const float right = __shfl_down_sync(0xffffffffu, v[0], 1);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float ve = k < 3 ? v[(k + 1) & 3] : right;
    const float vw = k > 0 ? v[(k + 3) & 3] : left;
    float a = w.w * vw;
    a = fmaf(w.e, ve, a);
    a = fmaf(kUp ? w.n : w.s, before[k], a);
    a = fmaf(w.c, v[k], a);
    if constexpr (kOld) a = fmaf(wa, u[k], a);
    dst[k] = fmaf(kUp ? w.s : w.n, after[k], a);
  }
}

// One row of u came in (k: its slot): the three stages of one step, each one row behind the one before it. Each ring has
// the last four rows of its stage; out is the row three before the one that came in.
template <bool kUp, bool kFast>
__device__ __forceinline__ void rkRow(float (&out)[4], const float (&u)[4][4], float (&s1)[4][4], float (&s2)[4][4],
                                      int k, Params par) {
  const int a = k & 3;
  const int b = (k + 3) & 3;
  const int d = (k + 2) & 3;
  const int e = (k + 1) & 3;
  if constexpr (kFast) {
    rkWeighted<kUp, false>(s1[a], u[b], u[d], u[b], u[a], 0.0f, par.w[0]);
    rkWeighted<kUp, true>(s2[a], u[d], s1[d], s1[b], s1[a], 0.75f, par.w[1]);
    rkWeighted<kUp, true>(out, u[e], s2[d], s2[b], s2[a], 1.0f / 3.0f, par.w[2]);
  } else {
    rkStage<kUp>(s1[a], u[b], u[d], u[b], u[a], 0.0f, 1.0f, par.c);
    rkStage<kUp>(s2[a], u[d], s1[d], s1[b], s1[a], 0.75f, 0.25f, par.c);
    rkStage<kUp>(out, u[e], s2[d], s2[b], s2[a], 1.0f / 3.0f, 2.0f / 3.0f, par.c);
  }
}

// One warp takes the rows [y0, y1) of its columns through all stages of kSteps steps, row after row, with the last rows
// of every stage in registers. The second step takes in the rows that the first puts out. kFast: the stages by weights,
// and false if a value was so large that this may overflow where the exact form does not, or the other way round.
template <bool kVec, bool kUp, bool kFast, int kSteps>
__device__ __forceinline__ bool rkMarch(float* __restrict__ dst, const float* __restrict__ src, int nx, int ny,
                                        long long x, int y0, int y1, Params par) {
  const int lane = threadIdx.x;
  int col[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    col[k] = static_cast<int>(static_cast<unsigned long long>(x + k +
        8LL * nx) % static_cast<unsigned long long>(nx));
  }
  const bool stores = lane >= kHalo<kSteps> / 4 && lane <= 31 - kHalo<kSteps> / 4 && x < nx;
  const int left = stores ? static_cast<int>(nx - x < 4 ? nx - x : 4) : 0;
  float* const column = left > 0 ? dst + x : dst;

  const long long first = kUp ? y1 + 3LL * kSteps - 1 : y0 - 3LL * kSteps;
  int row = static_cast<int>(static_cast<unsigned long long>(first +
      6LL * ny) % static_cast<unsigned long long>(ny));
  const int count = y1 - y0 + 6 * kSteps;

  float p[4][4], u[4][4] = {}, s1[4][4] = {}, s2[4][4] = {}, w[4][4] = {}, q1[4][4] = {}, q2[4][4] = {};
  float m = 0.0f;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    rkLoad<kVec>(p[k], src + static_cast<size_t>(row) * nx, col);
    row = kUp ? (row == 0 ? ny - 1 : row - 1) : (row + 1 == ny ? 0 : row + 1);
  }
  for (int t0 = 0;; t0 += kUnroll) {
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      const int t = t0 + k;
      // fmaxf skips NaN, rightly: both forms spread NaN to the same points.
      if (t >= count) return kFast ? __all_sync(0xffffffffu, m <= par.limit) != 0 : true;
#pragma unroll
      for (int i = 0; i < 4; ++i) u[k & 3][i] = p[k & 3][i];
      if constexpr (kFast) {
#pragma unroll
        for (int i = 0; i < 4; ++i) m = fmaxf(m, fabsf(u[k & 3][i]));
      }
      // Four rows ahead; behind the last one, the last one again.
      rkLoad<kVec>(p[k & 3], src + static_cast<size_t>(row) * nx, col);
      const int next = kUp ? (row == 0 ? ny - 1 : row - 1) : (row + 1 == ny ? 0 : row + 1);
      row = t + 5 < count ? next : row;

      float out[4];
      if constexpr (kSteps == 2) {
        rkRow<kUp, kFast>(w[k & 3], u, s1, s2, k, par);
        rkRow<kUp, kFast>(out, w, q1, q2, k, par);
      } else {
        rkRow<kUp, kFast>(out, u, s1, s2, k, par);
      }
      // What came of the zeros at the start is gone by then.
      if (t >= 6 * kSteps) {
        const int j = kUp ? y1 - 1 - (t - 6 * kSteps) : y0 + (t - 6 * kSteps);
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