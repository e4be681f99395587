// Transposes [rows][columns] of f32 through shared memory without padding. Launch: dim3((columns + 31) / 32,
// (rows + 31) / 32), dim3(32, 8).

__global__ void __launch_bounds__(256) shared_swizzle(float* __restrict__ out, const float* __restrict__ in, int rows,
                                                      int columns) {
  // Element (r, c) stands in column c ^ r: the lanes of a row have 32 different banks, and so have those of a column.
  __shared__ float tile[32][32];
  const int x = blockIdx.x * 32, y = blockIdx.y * 32;
  for (int r = threadIdx.y; r < 32; r += 8)
    if (y + r < rows && x + threadIdx.x < columns)
      tile[r][threadIdx.x ^ r] = in[static_cast<size_t>(y + r) * columns + x + threadIdx.x];
  __syncthreads();
  for (int c = threadIdx.y; c < 32; c += 8)
    if (x + c < columns && y + threadIdx.x < rows)
      out[static_cast<size_t>(x + c) * rows + y + threadIdx.x] = tile[threadIdx.x][c ^ threadIdx.x];
}

// The same for ldmatrix and 16-byte copies: rows of 64 halves are eight chunks of 16 bytes, and chunk `chunk` of row r
// stands at chunk ^ (r % 8). Eight rows at one chunk, which is what a quarter of ldmatrix reads, have all 32 banks.
//   half* at = &tile[r][(chunk ^ (r & 7)) * 8];
