extern "C" cudaError_t advect_rk3(float* u, float* u1, float* u2, int nx, int ny, int steps, float ax, float ay,
                                  float nu, float dt, cudaStream_t stream) {
  if (nx <= 0 || ny <= 0 || steps <= 0) return cudaGetLastError();
  const Coeffs c{ax, ay, nu, dt};
  const bool vec = nx % 4 == 0 && (reinterpret_cast<size_t>(u) | reinterpret_cast<size_t>(u1)) % 16 == 0;
  const int most = static_cast<int>((static_cast<long long>(ny) + 15) / 16);

  // The stages need no arrays any more: u1 takes every other launch, and u2 is not used. The launches of two steps are
  // even in number, so that the last launch writes u after an even number of steps.
  const int doubles = steps / 4 * 2;
  const int launches = steps - doubles;
  float* src = u;
  float* dst = u1;
  for (int n = 0; n < launches; ++n) {
    // As many warps as the chip holds at once, but strips of at least about 16 rows.
    const bool two = n < doubles;
    const int columns = two ? kStripColumns<2> : kStripColumns<1>;
    const int warps = two ? kWarpsPerSm<2> : kWarpsPerSm<1>;
    const int xstrips = static_cast<int>((static_cast<long long>(nx) + columns - 1) / columns);
    int ystrips = 132 * warps / xstrips;
    if (ystrips > most) ystrips = most;
    if (ystrips < 1) ystrips = 1;
    const unsigned blocks = static_cast<unsigned>(xstrips) * static_cast<unsigned>(ystrips);
    if (vec) {
      if (two) {
        rkStep<true, 2><<<blocks, 32, 0, stream>>>(dst, src, nx, ny, xstrips, ystrips, n & 1, c);
      } else {
        rkStep<true, 1><<<blocks, 32, 0, stream>>>(dst, src, nx, ny, xstrips, ystrips, n & 1, c);
      }
    } else {
      if (two) {
        rkStep<false, 2><<<blocks, 32, 0, stream>>>(dst, src, nx, ny, xstrips, ystrips, n & 1, c);
      } else {
        rkStep<false, 1><<<blocks, 32, 0, stream>>>(dst, src, nx, ny, xstrips, ystrips, n & 1, c);
      }
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