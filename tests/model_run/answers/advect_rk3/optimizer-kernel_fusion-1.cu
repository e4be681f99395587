// Here v is one row: a lane holds four neighbouring columns of it and asks the lanes beside it for the next ones; before and
// after are the rows that the march along y met one step before and one step after v. Going up (kUp), the one before is
// the northern one. The first lane's west and the last lane's east value are wrong: see kHalo. All lanes must call it.
template <bool kUp>
__device__ __forceinline__ void rkStage(float (&dst)[4], const float (&u)[4], const float (&before)[4],
                                        const float (&v)[4], const float (&after)[4], float wa, float wb, Coeffs c) {
  const float left = __shfl_up_sync(0xffffffffu, v[3], 1);
  const float right = __shfl_down_sync(0xffffffffu, v[0], 1);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float vc = v[k];
    const float ve = k < 3 ? v[(k + 1) & 3] : right;
    const float vw = k > 0 ? v[(k + 3) & 3] : left;
    const float vn = kUp ? before[k] : after[k];
    const float vs = kUp ? after[k] : before[k];

    const float rhs = -0.5f * c.ax * (ve - vw) - 0.5f * c.ay * (vn - vs) + c.nu * (ve + vw + vn + vs - 4.0f * vc);
    dst[k] = wa * u[k] + wb * (vc + c.dt * rhs);
  }
}
