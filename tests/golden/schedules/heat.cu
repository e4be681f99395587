// tn[i0,i1] = t[0,i1]  for i0<1, i1<nx
// tn[i0+1,(nx-1)*i1] = t[i0+1,(nx-1)*i1]  for i0<ny-2, i1<2
// tn[ny-1,i1] = t[ny-1,i1]  for i0<1, i1<nx
// tn[i0+1,i1+1] = t0[i0,i1] * c + t[i0+1,i1+1]  for i0<ny-2, i1<nx-2
__global__ void heat2d_naive_elements(const float* __restrict__ t, float* __restrict__ tn,
    int nx, int ny, float c) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= ny * nx) return;
  const int col = index % nx;
  const int row = index / nx;
  if (row - 1 >= 0 && row - 1 < ny - 2 && col - 1 >= 0 && col - 1 < nx - 2) {
    float sum = 0.0f;
    for (int ky = 0; ky < 3; ++ky) {
      for (int kx = 0; kx < 3; ++kx) {
        if (ky - kx >= -1 && ky - kx < 2 && ky + kx >= 1 && ky + kx < 4) {
          sum += (6 - 5 * (ky % 2) - 5 * (kx % 2)) * t[(row - 1 + ky) * nx + col - 1 + kx];
        }
      }
    }
    tn[index] = sum * c + t[index];
  } else if (row - 1 >= 0 && row - 1 < ny - 2 && col % (nx - 1) == 0 && col >= 0 && col < 2 * nx - 2) {
    tn[index] = t[row * nx + (col * (nx - 1)) / (nx - 1)];
  } else if (row >= 0 && row < 1) {
    tn[index] = t[col];
  } else if (row >= ny - 1 && row < ny) {
    tn[index] = t[col + nx * ny - nx];
  }
}

void heat2d_naive(const float* t, float* tn, int nx, int ny, float c) {
  heat2d_naive_elements<<<(ny * nx + 255) / 256, 256>>>(t, tn, nx, ny, c);
}
