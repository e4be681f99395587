// bins[i0] = sum_{r0<N} (key[r0] == i0 ? 1 : 0)  for i0<B
//
// Every block counts for itself in shared memory, and adds what it has to the others'.
__global__ void __launch_bounds__(256) entry_by_key(const int* __restrict__ key,
    int* __restrict__ bins, int B, int N) {
  extern __shared__ int of_key[];
  for (int own_bin = threadIdx.x; own_bin < B; own_bin += blockDim.x) of_key[own_bin] = 0;
  __syncthreads();
  for (int n = blockIdx.x * blockDim.x + threadIdx.x; n < N; n += gridDim.x * blockDim.x) {
    const int bin = key[n];
    if (bin >= 0 && bin < B) {
      atomicAdd(&of_key[bin], 1);
    }
  }
  __syncthreads();
  for (int own_bin = threadIdx.x; own_bin < B; own_bin += blockDim.x) {
    if (of_key[own_bin] != 0) atomicAdd(&bins[own_bin], of_key[own_bin]);
  }
}

// The same where there are too many keys for shared memory.
__global__ void __launch_bounds__(256) entry_by_many_keys(const int* __restrict__ key,
    int* __restrict__ bins, int B, int N) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= N) return;
  const int bin = key[n];
  if (bin >= 0 && bin < B) {
    atomicAdd(&bins[bin], 1);
  }
}

cudaMemset(bins, 0, sizeof(int) * B);
if (B <= 8192) {
  int blocks = (N + 4095) / 4096;
  // 8 for each multiprocessor: more would add to the same results more often.
  if (blocks > 1056) blocks = 1056;
  entry_by_key<<<blocks, 256, B * sizeof(int)>>>(key, bins, B, N);
} else {
  entry_by_many_keys<<<(N + 255) / 256, 256>>>(key, bins, B, N);
}
