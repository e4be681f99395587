__device__ __forceinline__ unsigned w4_prmt(unsigned a, unsigned b, unsigned selector) {
  unsigned d;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(selector));
  return d;
}

// Eight weights less their zero point, exactly: h[0] = (e0, e2), h[1] = (e1, e3), h[2] = (e4, e6), h[3] = (e5, e7).
__device__ __forceinline__ void w4_unpack(unsigned w, unsigned (&h)[4]) {
  // Of the f16 numbers -8 to 7 only the upper bytes are not 0. They are looked up, four at a time, among those of -8 to -1
  // and those of 0 to 7; bit 3 of a weight, spread over a byte by the sign mode of prmt, chooses between them.
  const unsigned index = w & 0x77777777u;
  const unsigned up = w << 4;
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const unsigned negative = w4_prmt(0xc5c6c7c8u, 0xbcc0c2c4u, index >> (16 * k));
    const unsigned positive = w4_prmt(0x42403c00u, 0x47464544u, index >> (16 * k));
    const unsigned mask = w4_prmt(up, w, k == 0 ? 0xd9c8u : 0xfbeau);
    const unsigned bytes = (negative & ~mask) | (positive & mask);
    h[2 * k] = __byte_perm(bytes, 0u, 0x2404);
    h[2 * k + 1] = bytes & 0xff00ff00u;
  }
}