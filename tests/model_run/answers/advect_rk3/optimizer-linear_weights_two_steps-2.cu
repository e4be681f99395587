template <bool kVec, int kSteps>
__global__ void __launch_bounds__(32, kWarpsPerSm<kSteps>)
    rkStep(float* __restrict__ dst, const float* __restrict__ src, int nx, int ny, int xstrips, int ystrips,
           int turn, Params par) {
  const int s = static_cast<int>(blockIdx.x) / xstrips;
  const int xs = static_cast<int>(blockIdx.x) - s * xstrips;
  const int y0 = static_cast<int>(static_cast<long long>(s) * ny / ystrips);
  const int y1 = static_cast<int>((static_cast<long long>(s) + 1) * ny / ystrips);
  const long long x = static_cast<long long>(xs) * kStripColumns<kSteps> - kHalo<kSteps> +
                      4 * static_cast<int>(threadIdx.x);
  if (((s & kOpposite) ^ turn) != 0) {
    bool done = false;
    if constexpr (kVec) done = rkMarch<kVec, true, true, kSteps>(dst, src, nx, ny, x, y0, y1, par);
    if (!done) rkMarch<kVec, true, false, kSteps>(dst, src, nx, ny, x, y0, y1, par);
  } else {
    bool done = false;
    if constexpr (kVec) done = rkMarch<kVec, false, true, kSteps>(dst, src, nx, ny, x, y0, y1, par);
    if (!done) rkMarch<kVec, false, false, kSteps>(dst, src, nx, ny, x, y0, y1, par);
  }
}