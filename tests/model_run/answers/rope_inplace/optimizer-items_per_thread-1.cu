cudaError_t rope_inplace(__half* q, __half* k, const float* table, const int* positions, int tokens, int hq, int hk, int half_dim,
                         int max_pos, cudaStream_t stream) {
  (void)max_pos;
  if (tokens > 0 && hq >= 0 && hk >= 0 && hq + hk > 0 && hq + hk <= 65535 && half_dim >= 8 && half_dim % 8 == 0 &&
      ((size_t)q | (size_t)k | (size_t)table) % 16 == 0) {
    const int cx = half_dim / 8 < 32 ? half_dim / 8 : 32;
    const int most = (hq + hk + @HEADS@ - 1) / @HEADS@;
    const int gy = 320 / @HEADS@ / cx < most ? 320 / @HEADS@ / cx : most;
    serving::rope_wide_kernel<<<tokens, dim3(cx, gy), 0, stream>>>(q, k, table, positions, hq, hk, half_dim);
  } else {
    serving::rope_kernel<__half><<<dim3(tokens, hq + hk), 64, 0, stream>>>(q, k, table, positions, hq, hk, half_dim);
  }
  return cudaGetLastError();
}