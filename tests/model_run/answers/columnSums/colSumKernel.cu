// column sums: a block for COLS neighbouring columns, its threads share the rows
template <int COLS, int GROUPS>
__global__ void colSumKernel(const float* __restrict__ A, float* __restrict__ sums, int h, int w) {
  __shared__ float part[GROUPS][COLS + 1];
  int col = threadIdx.x % COLS, group = threadIdx.x / COLS;
  int x = blockIdx.x * COLS + col;
  float s = 0;
  if (x < w) {
#pragma unroll 8
    for (int y = group; y < h; y += GROUPS) s = s + A[x + (size_t)y * w];
  }
  part[group][col] = s;
  __syncthreads();
  for (int g = GROUPS / 2; g > 0; g /= 2) {
    if (group < g) part[group][col] += part[group + g][col];
    __syncthreads();
  }
  if (group == 0 && x < w) sums[x] = part[0][col];
}
