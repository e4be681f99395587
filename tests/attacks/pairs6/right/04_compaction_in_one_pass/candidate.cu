#include <cuda_runtime.h>


// One pass with decoupled look-back. A block takes its place by a ticket, so that those before it have begun. Its state is one
// word, flag above and number below, so that no fence is needed between them: 1 says how many it has itself, 2 how many
// there are up to its end.
__global__ void __launch_bounds__(256) keep_kernel(int* out, int* count, const int* x, int n, int least,
                                                   unsigned long long* work) {
  __shared__ unsigned warps[8], block, before;
  if (threadIdx.x == 0) block = (unsigned)atomicAdd(work, 1ull);
  __syncthreads();
  unsigned b = block;
  unsigned long long* state = work + 1;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  size_t first = (size_t)b * 1024 + threadIdx.x * 4;
  int v[4];
  unsigned own = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    v[k] = first + k < (size_t)n ? x[first + k] : least;
    own += v[k] > least;
  }
  unsigned upto = own;
  for (int o = 1; o < 32; o *= 2) {
    unsigned below = __shfl_up_sync(0xffffffffu, upto, o);
    upto += lane >= o ? below : 0;
  }
  if (lane == 31) warps[warp] = upto;
  __syncthreads();
  unsigned place = upto - own, all = 0;
  for (int w = 0; w < 8; ++w) {
    place += w < warp ? warps[w] : 0;
    all += warps[w];
  }
  if (threadIdx.x == 0) {
    unsigned sum = 0;
    atomicExch(state + b, (b == 0 ? 2ull : 1ull) << 32 | all);
    for (unsigned p = b; p > 0;) {
      unsigned long long seen = atomicAdd(state + p - 1, 0ull);
      unsigned flag = (unsigned)(seen >> 32);
      sum += flag != 0 ? (unsigned)seen : 0;
      p = flag == 2 ? 0 : p - flag;
    }
    atomicExch(state + b, 2ull << 32 | (sum + all));
    before = sum;
    if (b == gridDim.x - 1) *count = (int)(sum + all);
  }
  __syncthreads();
  place += before;
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (v[k] > least) out[place++] = v[k];
}

__global__ void __launch_bounds__(256) fill_kernel(int* out, const int* count, int n) {
  size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
  if (i < (size_t)n && i >= (size_t)*count) out[i] = -1;
}

void keep_larger(int* out, int* count, int* offsets, const int* x, int n, int least, cudaStream_t stream) {
  if (n <= 0) {
    cudaMemsetAsync(count, 0, sizeof(int), stream);
    return;
  }
  unsigned blocks = (unsigned)(((size_t)n + 1023) / 1024);
  unsigned long long* work = nullptr;
  size_t bytes = ((size_t)blocks + 1) * sizeof(unsigned long long);
  cudaMallocAsync(&work, bytes, stream);
  cudaMemsetAsync(work, 0, bytes, stream);
  keep_kernel<<<blocks, 256, 0, stream>>>(out, count, x, n, least, work);
  fill_kernel<<<(unsigned)(((size_t)n + 255) / 256), 256, 0, stream>>>(out, count, n);
  cudaFreeAsync(work, stream);
}
