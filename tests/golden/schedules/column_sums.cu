// The sum over the threads of a block that have the same threadIdx.x, in each of them.
__device__ __forceinline__ float column_sum(float value) {
  __shared__ float of_thread[32][33];
  __syncthreads();  // the results of a call before are still being read
  of_thread[threadIdx.y][threadIdx.x] = value;
  __syncthreads();
  value = of_thread[0][threadIdx.x];
  for (int y = 1; y < blockDim.y; ++y) value += of_thread[y][threadIdx.x];
  return value;
}

// What the blocks that share a row have found; a launch reads nothing that it has not written.
static __device__ float columnSumsPartials[262144];

// The sum over the lanes of a warp, in each of them.
__device__ __forceinline__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

// sum[i0] = sum_{r0<h} A[r0,i0]
__global__ void __launch_bounds__(256) columnSumsParts(const float* __restrict__ A, int h, int w) {
  const int position = blockIdx.x * blockDim.x + threadIdx.x;
  const bool inside = position < w;
  // Threads beyond the last column take part with it, and store nothing.
  const int col = inside ? position : w - 1;
  float sum = 0.0f;
  // Sums of 64 terms, then of these sums: long columns lose little to rounding.
  for (int begin = blockIdx.y * blockDim.y + threadIdx.y; begin < h; begin += 64 * (gridDim.y * blockDim.y)) {
    float part = 0.0f;
    for (int row = begin; row < h && row < begin + 64 * (gridDim.y * blockDim.y);
        row += gridDim.y * blockDim.y) {
      part += A[static_cast<long long>(row) * w + col];
    }
    sum += part;
  }
  sum = column_sum(sum);
  if (inside && threadIdx.y == 0) {
    columnSumsPartials[blockIdx.y * w + col] = sum;
  }
}

// sums[i0] = sum[i0]  for i0<w
__global__ void __launch_bounds__(256) columnSumsFinish(float* __restrict__ sums, int w,
    int parts) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= w) return;
  float sum = 0.0f;
  for (int part = threadIdx.x; part < parts; part += 32) {
    sum += columnSumsPartials[part * w + row];
  }
  sum = warp_sum(sum);
  if (threadIdx.x == 0) {
    sums[row] = sum;
  }
}

// sums[i0] = sum_{r0<h} A[r0,i0]  for i0<w
__global__ void __launch_bounds__(256) columnSumsColumns(const float* __restrict__ A,
    float* __restrict__ sums, int h, int w) {
  const int position = blockIdx.x * blockDim.x + threadIdx.x;
  const bool inside = position < w;
  // Threads beyond the last column take part with it, and store nothing.
  const int col = inside ? position : w - 1;
  float sum = 0.0f;
  // Sums of 64 terms, then of these sums: long columns lose little to rounding.
  for (int begin = threadIdx.y; begin < h; begin += 64 * blockDim.y) {
    float part = 0.0f;
    for (int row = begin; row < h && row < begin + 64 * blockDim.y; row += blockDim.y) {
      part += A[static_cast<long long>(row) * w + col];
    }
    sum += part;
  }
  sum = column_sum(sum);
  if (inside && threadIdx.y == 0) {
    sums[col] = sum;
  }
}

void columnSums(const float* A, float* sums, int h, int w) {
  // Every block has at least 128 terms, and there are no more than fill the chip.
  int parts = (h + 127) / 128;
  if (parts > 8) parts = 8;
  if (parts > 262144 / w) parts = 262144 / w;
  if (parts > 1) {
    columnSumsParts<<<dim3((w + 31) / 32, parts), dim3(32, 8)>>>(A, h, w);
    columnSumsFinish<<<(w + 7) / 8, dim3(32, 8)>>>(sums, w, parts);
  } else {
    columnSumsColumns<<<(w + 31) / 32, dim3(32, 8)>>>(A, sums, h, w);
  }
}
