void columnSums(float* A, float* sums, int h, int w) {
  const int cols = @COLS@, groups = 512 / cols;
  colSumKernel<cols, groups><<<(w + cols - 1) / cols, cols * groups>>>(A, sums, h, w);
}
