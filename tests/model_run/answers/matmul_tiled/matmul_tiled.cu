template <const int BM, const int BN, const int BK, const int TM, const int TN>
static void matmul_blocked(const float *A, const float *B, float *C, int M, int N, int K) {
  dim3 gridDim(CEIL_DIV(N, BN), CEIL_DIV(M, BM));
  sgemm2DBlocktiling<BM, BN, BK, TM, TN><<<gridDim, (BM * BN) / (TM * TN)>>>(M, N, K, A, B, C, NoEpilogue());
}

void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
  // The blocked kernel loads four elements at once where K and N allow it, whatever the addresses are.
  if (((size_t)A | (size_t)B) % 16 != 0) {
    dim3 gridDim(CEIL_DIV(N, 16), CEIL_DIV(M, 16));
    dim3 blockDim(16, 16);
    sgemm_shared_mem_block<16><<<gridDim, blockDim>>>(M, N, K, A, B, C, NoEpilogue());
  } else if (CEIL_DIV(M, 128) * CEIL_DIV(N, 128) >= 132) {
    matmul_blocked<128, 128, 8, 8, 8>(A, B, C, M, N, K);
  } else if (CEIL_DIV(M, 64) * CEIL_DIV(N, 64) >= 132) {
    matmul_blocked<64, 64, 16, 4, 4>(A, B, C, M, N, K);
  } else {
    matmul_blocked<@TILE@>(A, B, C, M, N, K);
  }
}
