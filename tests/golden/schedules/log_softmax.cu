// The max over the threads of a block that have the same threadIdx.x, in each of them.
__device__ __forceinline__ float column_max(float value) {
  __shared__ float of_thread[32][33];
  __syncthreads();  // the results of a call before are still being read
  of_thread[threadIdx.y][threadIdx.x] = value;
  __syncthreads();
  value = of_thread[0][threadIdx.x];
  for (int y = 1; y < blockDim.y; ++y) value = fmaxf(value, of_thread[y][threadIdx.x]);
  return value;
}

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

// largest[i0,i1] = max_{r0<dim} in[i0,r0,i1]  for i0<outer, i1<inner
// sum[i0,i1] = sum_{r0<dim} exp(in[i0,r0,i1] - largest[i0,i1])  for i0<outer, i1<inner
// out[i0,i1,i2] = in[i0,i1,i2] - log(sum[i0,i2]) - largest[i0,i2]  for i0<outer, i1<dim, i2<inner
__global__ void __launch_bounds__(512) log_softmax_forward_columns(float* __restrict__ out,
    const float* __restrict__ in, int outer, int dim, int inner) {
  const int position = blockIdx.x * blockDim.x + threadIdx.x;
  const bool inside = position < outer * inner;
  // Threads beyond the last column take part with it, and store nothing.
  const int col = inside ? position : outer * inner - 1;
  const int x = col % inner;
  const int row = col / inner;
  float largest = -INFINITY;
  for (int r = threadIdx.y; r < dim; r += blockDim.y) {
    largest = fmaxf(largest, in[static_cast<long long>(row) * dim * inner + static_cast<long long>(r) * inner +
        x]);
  }
  largest = column_max(largest);
  float sum = 0.0f;
  // Sums of 64 terms, then of these sums: long columns lose little to rounding.
  for (int begin = threadIdx.y; begin < dim; begin += 64 * blockDim.y) {
    float part = 0.0f;
    for (int r = begin; r < dim && r < begin + 64 * blockDim.y; r += blockDim.y) {
      part += expf(in[static_cast<long long>(row) * dim * inner + static_cast<long long>(r) * inner + x] -
          largest);
    }
    sum += part;
  }
  sum = column_sum(sum);
  const float logarithm = logf(sum);
  for (int r = threadIdx.y; inside && r < dim; r += blockDim.y) {
    out[static_cast<long long>(row) * dim * inner + static_cast<long long>(r) * inner + x] =
        in[static_cast<long long>(row) * dim * inner + static_cast<long long>(r) * inner + x] - logarithm -
        largest;
  }
}

void log_softmax_forward(float* out, const float* in, int outer, int dim, int inner) {
  log_softmax_forward_columns<<<(outer * inner + 31) / 32, dim3(32, 16)>>>(out, in, outer, dim,
      inner);
}
