// entry: run
// buffer: x f32 64
// expect: launch k(x, 132) 1x1x1 64x1x1
#include "include/check.cuh"
#include <mutex>
#include <vector>
__global__ void k(float* x, int n) { x[threadIdx.x] += n; }
static std::once_flag once;
static std::vector<int> counts;
void run(float* x) {
  static cudaDeviceProp properties;
  static bool known = false;
  if (!known) CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
  known = true;
  if (counts.empty()) counts.push_back(properties.multiProcessorCount);
  k<<<1, 64>>>(x, counts[0]);
}
