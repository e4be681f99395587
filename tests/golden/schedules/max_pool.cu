// t0[i0,i1,i2,i3] = max_{r0<size, r1<size} input[i0,i1,stride*i2+r0,stride*i3+r1]
// output[i0,i1,i2,i3] = t0[i0,i1,i2,i3]  for i0<batch, i1<c, i2<(in_h-size)/stride+1, i3<(in_w-size)/stride+1
// indexes[i0,i1,i2,i3] = t1[i0,i1,i2,i3]  for i0<batch, i1<c, i2<(in_h-size)/stride+1, i3<(in_w-size)/stride+1
__global__ void maxpool_naive_elements(const float* __restrict__ input,
    float* __restrict__ output, int* __restrict__ indexes, int batch, int c, int in_h, int in_w,
    int size, int stride) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= batch * c * ((in_h - size) / stride + 1) * ((in_w - size) / stride + 1)) return;
  const int width = (in_w - size) / stride + 1;
  const int col = index % width;
  const int height = (in_h - size) / stride + 1;
  const int row = index / width % height;
  const int plane = index / width / height % c;
  const int n = index / width / height / c;
  float largest = -INFINITY;
  for (int ky = 0; ky < size; ++ky) {
    for (int kx = 0; kx < size; ++kx) {
      largest = fmaxf(largest, input[((n * c + plane) * in_h + row * stride + ky) * in_w + col * stride + kx]);
    }
  }
  output[index] = largest;
  float largest_2 = -INFINITY;
  int largest_2_at = 0;
  for (int ky_2 = 0; ky_2 < size; ++ky_2) {
    for (int kx_2 = 0; kx_2 < size; ++kx_2) {
      const float candidate = input[((n * c + plane) * in_h + row * stride + ky_2) * in_w + col * stride + kx_2];
      if (candidate > largest_2) {
        largest_2 = candidate;
        largest_2_at = n * (c * in_h * in_w) + plane * (in_h * in_w) + row * (in_w * stride) + col * stride + ky_2 * in_w + kx_2;
      }
    }
  }
  indexes[index] = largest_2_at;
}

void maxpool_naive(const float* input, float* output, int* indexes, int batch, int c, int in_h, int in_w, int size, int stride) {
  maxpool_naive_elements<<<(batch * c * ((in_h - size) / stride + 1) * ((in_w - size) / stride + 1) + 255) / 256, 256>>>(input,
      output, indexes, batch, c, in_h, in_w, size, stride);
}
