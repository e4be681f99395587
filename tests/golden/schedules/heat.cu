// t0[i0,i1] = t[i0,i1+1] + t[i0+1,i1] - 4 * t[i0+1,i1+1] + t[i0+1,i1+2] + t[i0+2,i1+1]  for i0<ny-2, i1<nx-2
// tn[0,i0] = t[0,i0]  for i0<nx
// tn[i0+1,0] = t[i0+1,0]  for i0<ny-2
// tn[i0+1,nx-1] = t[i0+1,nx-1]  for i0<ny-2
__global__ void heat2d_naive_elements(const float* __restrict__ t, float* __restrict__ tn,
    int nx, int ny, float c) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= nx) return;
  for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < ny; row += gridDim.y * blockDim.y) {
    if (row >= 1 && row < ny - 1 && col >= 1 && col < nx - 1) {
      tn[row * nx + col] = (t[static_cast<long long>(row - 1) * nx + col] +
          t[static_cast<long long>(row) * nx + col - 1] + t[static_cast<long long>(row) * nx + col + 1] +
          t[static_cast<long long>(row + 1) * nx + col] - 4.0f * t[static_cast<long long>(row) * nx + col]) *
          c + t[row * nx + col];
    } else if (row >= 1 && row < ny - 1 && col == 0) {
      tn[row * nx + col] = t[static_cast<long long>(row) * nx];
    } else if (row >= 1 && row < ny - 1 && col == nx - 1) {
      tn[row * nx + col] = t[static_cast<long long>(row) * nx + nx - 1];
    } else if (row == 0) {
      tn[row * nx + col] = t[col];
    } else if (row == ny - 1) {
      tn[row * nx + col] = t[col + static_cast<long long>(nx) * ny - nx];
    }
  }
}

void heat2d_naive(const float* t, float* tn, int nx, int ny, float c) {
  dim3 grid((nx + 31) / 32, (ny + 7) / 8);
  // More than a grid can have are taken in turn.
  if (grid.y > 65535) grid.y = 65535;
  heat2d_naive_elements<<<grid, dim3(32, 8)>>>(t, tn, nx, ny, c);
}
