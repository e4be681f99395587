__global__ void first_kernel() {}

__global__ void old_kernel(const float* input, float* output, int* indexes, int batch, int c, int in_h, int in_w, int size, int stride) {}

// output[i0,i1,i2,i3] = max_{r0<size, r1<size} input[i0,i1,stride*i2+r0,stride*i3+r1]
// indexes[i0,i1,i2,i3] = argmax_{r0<size,
//     r1<size}[c*in_h*in_w*i0+in_h*in_w*i1+in_w*stride*i2+stride*i3+in_w*r0+r1]
//     input[i0,i1,stride*i2+r0,stride*i3+r1]
__global__ void maxpool_naive_elements(const float* __restrict__ input,
    float* __restrict__ output, int* __restrict__ indexes, int batch, int c, int in_h, int in_w,
    int size, int stride) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int width = (in_w - size) / stride + 1;
  const int height = (in_h - size) / stride + 1;
  if (col >= width) return;
  for (int plane_index = blockIdx.z; plane_index < batch * c; plane_index += gridDim.z) {
    const int plane = plane_index % c;
    const int n = plane_index / c;
    for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < height; row += gridDim.y * blockDim.y) {
      float largest = -INFINITY;
      int largest_at = 0;
      for (int ky = 0; ky < size; ++ky) {
        for (int kx = 0; kx < size; ++kx) {
          const float candidate = input[((static_cast<long long>(n) * c + plane) * in_h + row * stride +
              ky) * in_w + col * stride + kx];
          if (candidate > largest) {
            largest = candidate;
            largest_at = n * (c * in_h * in_w) + plane * (in_h * in_w) + row * (in_w * stride) +
                col * stride + ky * in_w + kx;
          }
        }
      }
      output[(plane_index * height + row) * width + col] = largest;
      indexes[(plane_index * height + row) * width + col] = largest_at;
    }
  }
}

void maxpool_naive(const float* input, float* output, int* indexes, int batch, int c, int in_h, int in_w, int size, int stride) {
  // Other sizes take the launches below.
  if (in_h - size >= 0 && in_w - size >= 0) {
    dim3 grid(((in_w - size) / stride + 1 + 31) / 32, ((in_h - size) / stride + 1 + 7) / 8, batch * c);
    // More than a grid can have are taken in turn.
    if (grid.y > 65535) grid.y = 65535;
    if (grid.z > 65535) grid.z = 65535;
    maxpool_naive_elements<<<grid, dim3(32, 8)>>>(input, output, indexes, batch, c, in_h, in_w, size,
        stride);
    return;
  }
  first_kernel<<<1, 1>>>();
  old_kernel<<<1, 1>>>(input, output, indexes, batch, c, in_h, in_w, size, stride);
}
