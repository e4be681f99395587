#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;


// Sums of both over the block, in thread 0.
__device__ __forceinline__ double2 block_sum(double2 v, double2* part) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
#pragma unroll
  for (int o = 16; o > 0; o /= 2) {
    v.x += warp.shfl_down(v.x, o);
    v.y += warp.shfl_down(v.y, o);
  }
  if (warp.thread_rank() == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int w = 1; w < 8; ++w) {
      v.x += part[w].x;
      v.y += part[w].y;
    }
  return v;
}

// Every block sums a part and leaves it in the workspace; the one that comes last, by a ticket, adds the parts in their
// order, so that the result does not depend on who that is. The ticket is behind the parts and was cleared on the
// stream.
__global__ void __launch_bounds__(256)
    dot_kernel(double* result, const double* __restrict__ a, const double* __restrict__ b, double* ws, int N) {
  __shared__ double2 part[8];
  __shared__ bool last;
  int t = threadIdx.x;
  double2 v = make_double2(0.0, 0.0);
  for (size_t i = blockIdx.x * 256 + t; i < (size_t)N; i += gridDim.x * 256) {
    double p = a[i];
    v.x += p * b[i];
    v.y += p * p;
  }
  v = block_sum(v, part);
  if (gridDim.x == 1) {
    if (t == 0) {
      result[0] = v.x;
      result[1] = v.y;
    }
    return;
  }
  if (t == 0) {
    ws[2 * blockIdx.x] = v.x;
    ws[2 * blockIdx.x + 1] = v.y;
    __threadfence();
    last = atomicAdd((unsigned*)(ws + 2 * gridDim.x), 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  v = make_double2(0.0, 0.0);
  for (int i = t; i < gridDim.x; i += 256) {
    v.x += __ldcg(&ws[2 * i]);
    v.y += __ldcg(&ws[2 * i + 1]);
  }
  v = block_sum(v, part);
  if (t == 0) {
    result[0] = v.x;
    result[1] = v.y;
  }
}

void dot_and_square(double* result, const double* a, const double* b, double* ws, int N, cudaStream_t stream) {
  // A block has at least 1024 elements: so the workspace has room for two doubles of each and the ticket.
  int blocks = N > 0 ? N / 1024 : 0;
  if (blocks > 264) blocks = 264;
  if (blocks <= 1)
    blocks = 1;
  else
    cudaMemsetAsync(ws + 2 * blocks, 0, sizeof(unsigned), stream);
  dot_kernel<<<blocks, 256, 0, stream>>>(result, a, b, ws, N);
}
