extern "C" cudaError_t alibi_attention(const __half2* qkv, const float* slopes, __half2* out, int B, int T, int H,
                                       float scale, cudaStream_t stream) {
  const int blocks = B * H * (T / kTile + (T % kTile != 0));
  if ((size_t)qkv % 16 == 0)
    alibi_attention_kernel<16><<<blocks, kThreads, 0, stream>>>(qkv, slopes, out, B, T, H, scale);
  else
    alibi_attention_kernel<4><<<blocks, kThreads, 0, stream>>>(qkv, slopes, out, B, T, H, scale);
  return cudaGetLastError();
}