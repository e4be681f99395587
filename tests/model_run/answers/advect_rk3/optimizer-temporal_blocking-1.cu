template <bool kUp>
__device__ __forceinline__ void rkRow(float (&out)[4], const float (&u)[4][4], float (&s1)[4][4], float (&s2)[4][4],
                                      int k, Coeffs c) {
  rkStage<kUp>(s1[k & 3], u[(k + 3) & 3], u[(k + 2) & 3], u[(k + 3) & 3], u[k & 3], 0.0f, 1.0f, c);
  rkStage<kUp>(s2[k & 3], u[(k + 2) & 3], s1[(k + 2) & 3], s1[(k + 3) & 3], s1[k & 3], 0.75f, 0.25f, c);
  rkStage<kUp>(out, u[(k + 1) & 3], s2[(k + 2) & 3], s2[(k + 3) & 3], s2[k & 3], 1.0f / 3.0f, 2.0f / 3.0f, c);
}

// One warp takes the rows [y0, y1) of its columns through all stages of kSteps steps, row after row, with the last rows
// of every stage in registers. The second step takes in the rows that the first puts out.
template <bool kVec, bool kUp, int kSteps>
__device__ __forceinline__ void rkMarch(float* __restrict__ dst, const float* __restrict__ src, int nx, int ny,
                                        long long x, int y0, int y1, Coeffs c) {
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

      float out[4];
      if constexpr (kSteps == 2) {
        rkRow<kUp>(w[k & 3], u, s1, s2, k, c);
        rkRow<kUp>(out, w, q1, q2, k, c);
      } else {
        rkRow<kUp>(out, u, s1, s2, k, c);
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