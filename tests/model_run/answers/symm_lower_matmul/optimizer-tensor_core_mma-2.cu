void symm_lower_matmul(const __half* S, const __half* B, __half* C, int M, int N, cudaStream_t stream)
{
  const unsigned tilesM = BLOCKS_FOR((long long)M, kSymmM), tilesN = BLOCKS_FOR((long long)N, kSymmN);
  const dim3 grid(tilesM * tilesN);
  const bool aligned = ((size_t)S | (size_t)B | (size_t)C) % 16 == 0 && M % 8 == 0 && N % 8 == 0;
  if (aligned) {
    cudaFuncSetAttribute(symm_lower_kernel<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)kSymmSharedBytes);
    symm_lower_kernel<true><<<grid, kSymmThreads, kSymmSharedBytes, stream>>>(S, B, C, M, N, tilesN);
  } else {
    cudaFuncSetAttribute(symm_lower_kernel<false>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)kSymmSharedBytes);
    symm_lower_kernel<false><<<grid, kSymmThreads, kSymmSharedBytes, stream>>>(S, B, C, M, N, tilesN);
  }
}