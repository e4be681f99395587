#include <cuda_runtime.h>

#include <cstdint>

// record: the distance of the nearest value so far, and its index. Those of x replace it if one is nearer; of equally near ones the first.
__global__ void nearest_kernel(long long* record, const long long* x, int n, long long target) {
  __shared__ unsigned long long d[1024];
  __shared__ long long at[1024];
  unsigned long long least = ~0ull;
  long long k = -1;
  for (long long i = threadIdx.x; i < n; i += 1024) {
    unsigned long long apart = x[i] > target ? (unsigned long long)x[i] - target : (unsigned long long)target - x[i];
    if (apart < least) least = apart, k = i;
  }
  d[threadIdx.x] = least, at[threadIdx.x] = k;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int t = 1; t < 1024; ++t)
    if (d[t] < least || (d[t] == least && at[t] >= 0 && at[t] < k)) least = d[t], k = at[t];
  if (k >= 0 && least < (unsigned long long)record[0]) record[0] = (long long)least, record[1] = k;
}

void nearest_record(long long* record, const long long* x, int n, long long target, cudaStream_t stream) {
  if (n > 0) nearest_kernel<<<1, 1024, 0, stream>>>(record, x, n, target);
}
