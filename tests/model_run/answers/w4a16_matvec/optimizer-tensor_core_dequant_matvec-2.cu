cudaError_t w4a16_matvec(const uint8_t* packed, const __half* scales, const __half* x, __half* y, int B, int N, int groups,
                         cudaStream_t stream) {
  const size_t row_tiles = N > 0 ? (size_t(N) - 1) / 32 + 1 : 0;
  const size_t batch_tiles = B > 0 ? (size_t(B) - 1) / 8 + 1 : 0;
  const unsigned blocks = static_cast<unsigned>(row_tiles * batch_tiles);
  // A group is 16 B of packed and 64 B of x, so only the addresses decide.
  if (((size_t)packed | (size_t)x) % 16 == 0) {
    serving::w4a16_kernel<true><<<blocks, 128, 0, stream>>>(packed, scales, x, y, B, N, groups);
  } else {
    serving::w4a16_kernel<false><<<blocks, 128, 0, stream>>>(packed, scales, x, y, B, N, groups);
  }
  return cudaGetLastError();
}