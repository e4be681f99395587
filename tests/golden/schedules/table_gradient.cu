// t0[i0,i1] = sum_{r0<B, r1<T} (i0 == token[r0,r1] ? dout[r0,r1,i1] : 0)
// grad'[i0,i1] = grad[i0,i1] + t0[i0,i1]  for i0<V, i1<C
__global__ void __launch_bounds__(256) entry_by_key(const int* __restrict__ token,
    const float* __restrict__ dout, float* grad, int B, int C, int T, int V) {
  const int items = B * T * C;
  const int item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item >= items) return;
  const int b = item / (T * C), t = item / C % T, c = item % C;
  const int key = token[static_cast<long long>(b) * T + t];
  if (key >= 0 && key < V) {
    atomicAdd(&grad[static_cast<long long>(key) * C + c], dout[(static_cast<long long>(b) * T + t) * C + c]);
  }
}

entry_by_key<<<(B * T * C + 255) / 256, 256>>>(token, dout, grad, B, C, T, V);
