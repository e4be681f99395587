extern "C" cudaError_t advect_rk3(float* u, float* u1, float* u2, int nx, int ny, int steps, float ax, float ay,
                                  float nu, float dt, cudaStream_t stream) {
  if (nx <= 0 || ny <= 0 || steps <= 0) return cudaGetLastError();
  Params par;
  par.c = Coeffs{ax, ay, nu, dt};
  const float wb[3] = {1.0f, 0.25f, 2.0f / 3.0f};
  for (int i = 0; i < 3; ++i) {
    const double d = static_cast<double>(wb[i]) * dt;
    Weights w;
    w.e = static_cast<float>(d * (nu - 0.5 * ax));
    w.w = static_cast<float>(d * (nu + 0.5 * ax));
    w.n = static_cast<float>(d * (nu - 0.5 * ay));
    w.s = static_cast<float>(d * (nu + 0.5 * ay));
    // The weights sum to wb, so that a constant field stays constant.
    w.c = static_cast<float>(static_cast<double>(wb[i]) - (static_cast<double>(w.e) + w.w + w.n + w.s));
    par.w[i] = w;
  }
  // Up to this magnitude of u nothing overflows in up to six stages, neither by weights nor in the exact form. With
  // infinite or NaN arguments it is -1: then all is done in the exact form.
  const double r = static_cast<double>(ax < 0 ? -ax : ax) + (ay < 0 ? -ay : ay) + 8.0 * (nu < 0 ? -nu : nu);
  const double g = 1.0 + (dt < 0 ? -dt : dt) * r;
  const double g2 = g * g;
  par.limit = static_cast<float>(3.4e38 / (16.0 * (1.0 + r) * (g2 * g2 * g2)));
  if (!(par.limit > 0.0f)) par.limit = -1.0f;
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
        rkStep<true, 2><<<blocks, 32, 0, stream>>>(dst, src, nx, ny, xstrips, ystrips, n & 1, par);
      } else {
        rkStep<true, 1><<<blocks, 32, 0, stream>>>(dst, src, nx, ny, xstrips, ystrips, n & 1, par);
      }
    } else {
      if (two) {
        rkStep<false, 2><<<blocks, 32, 0, stream>>>(dst, src, nx, ny, xstrips, ystrips, n & 1, par);
      } else {
        rkStep<false, 1><<<blocks, 32, 0, stream>>>(dst, src, nx, ny, xstrips, ystrips, n & 1, par);
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