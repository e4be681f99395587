template <const int BM, const int BN, const int BK, const int TM, const int TN>
static void matmul_blocked(const float *A, const float *B, float *C, int M, int N, int K) {
  dim3 gridDim(CEIL_DIV(N, BN), CEIL_DIV(M, BM));
  sgemm2DBlocktiling<BM, BN, BK, TM, TN><<<gridDim, (BM * BN) / (TM * TN)>>>(M, N, K, A, B, C, NoEpilogue());
}

void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
  if (CEIL_DIV(M, 128) * CEIL_DIV(N, 128) >= 132) {
    matmul_blocked<128, 128, 8, 8, 8>(A, B, C, M, N, K);
  } else if (CEIL_DIV(M, 64) * CEIL_DIV(N, 64) >= 132) {
    matmul_blocked<64, 64, 16, 4, 4>(A, B, C, M, N, K);
  } else {
    matmul_blocked<@TILE@>(A, B, C, M, N, K);
  }
}
