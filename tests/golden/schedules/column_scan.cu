// y[i0,i1] = sum_{r0<R where r0 <= i0} x[r0,i1]  for i0<R, i1<C
__global__ void __launch_bounds__(32) entry_columns(const float* __restrict__ x,
    float* __restrict__ y, int C, int R) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= C) return;
  float sum = 0.0f;
  for (int r = 0; r < R; ++r) {
    const float next = x[static_cast<long long>(r) * C + c];
    sum += next;
    y[static_cast<long long>(r) * C + c] = sum;
  }
}

entry_columns<<<(C + 31) / 32, 32>>>(x, y, C, R);
