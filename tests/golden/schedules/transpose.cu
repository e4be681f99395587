// out[i0,i1] = in[i1,i0]  for i0<width, i1<height
__global__ void __launch_bounds__(256) transpose_naive_tiles(const float* __restrict__ in,
    float* __restrict__ out, int width, int height) {
  constexpr int kTile = 32, kRows = 8;
  __shared__ float in_tile[kTile][kTile + 1];  // a column of padding keeps banks apart
  const int tiles_col = (height + kTile - 1) / kTile;
  const int col_begin = blockIdx.x % tiles_col * kTile;
  const int row_begin = blockIdx.x / tiles_col * kTile;
  for (int j = threadIdx.y; j < kTile; j += kRows) {
    const int row = row_begin + threadIdx.x;
    const int col = col_begin + j;
    if (col < height && row < width) {
      in_tile[j][threadIdx.x] = in[static_cast<long long>(col) * width + row];
    }
  }
  __syncthreads();
  for (int j = threadIdx.y; j < kTile; j += kRows) {
    const int col = col_begin + threadIdx.x;
    const int row = row_begin + j;
    if (row < width && col < height) {
      out[static_cast<long long>(row) * height + col] = in_tile[threadIdx.x][j];
    }
  }
}

void transpose_naive(const float* in, float* out, int width, int height) {
  transpose_naive_tiles<<<((width + 31) / 32) * ((height + 31) / 32), dim3(32, 8)>>>(in, out, width,
      height);
}
