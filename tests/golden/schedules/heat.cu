// t0[i0,i1] = sum_{r0<3, r1<3 where -1 <= r0-r1 < 2, 1 <= r0+r1 < 4} (6-5*(r0%2)-5*(r1%2)) * t[i0+r0,i1+r1]  for
//     i0<ny-2, i1<nx-2
// tn[i0,i1] = t[0,i1]  for i0<1, i1<nx
// tn[i0+1,0] = t[i0+1,0]  for i0<ny-2, i1<1
// tn[i0+1,nx-1] = t[i0+1,nx-1]  for i0<ny-2, i1<1
__global__ void heat2d_naive_elements(const float* __restrict__ t, float* __restrict__ tn,
    int nx, int ny, float c) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= nx) return;
  for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < ny; row += gridDim.y * blockDim.y) {
    if (row >= 1 && row < ny - 1 && col >= 1 && col < nx - 1) {
      float sum = 0.0f;
      for (int ky = 0; ky < 3; ++ky) {
        for (int kx = 0; kx < 3; ++kx) {
          if (ky - kx >= -1 && ky - kx < 2 && ky + kx >= 1 && ky + kx < 4) {
            sum += (6 - 5 * (ky % 2) - 5 * (kx % 2)) *
                t[static_cast<long long>(row - 1 + ky) * nx + col - 1 + kx];
          }
        }
      }
      tn[row * nx + col] = sum * c + t[row * nx + col];
    } else if (row >= 1 && row < ny - 1 && col == 0) {
      tn[row * nx + col] = t[static_cast<long long>(row) * nx];
    } else if (row >= 1 && row < ny - 1 && col == nx - 1) {
      tn[row * nx + col] = t[static_cast<long long>(row) * nx + nx - 1];
    } else if (row == 0) {
      tn[row * nx + col] = t[col];
    } else if (row == ny - 1) {
      tn[row * nx + col] = t[col + nx * ny - nx];
    }
  }
}

void heat2d_naive(const float* t, float* tn, int nx, int ny, float c) {
  dim3 grid((nx + 31) / 32, (ny + 7) / 8);
  // More than a grid can have are taken in turn.
  if (grid.y > 65535) grid.y = 65535;
  heat2d_naive_elements<<<grid, dim3(32, 8)>>>(t, tn, nx, ny, c);
}
