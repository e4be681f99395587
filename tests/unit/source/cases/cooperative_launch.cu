// entry: run
// buffer: x f32 1024
// scalar: n i32 1024
// expect: launch k(x, 1024) 1056x1x1 256x1x1 cooperative
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(float* x, int n) {
  cg::grid_group grid = cg::this_grid();
  for (int i = grid.thread_rank(); i < n; i += grid.size()) x[i] += 1;
  grid.sync();
  for (int i = grid.thread_rank(); i < n; i += grid.size()) x[i] += x[n - 1 - i];
}
void run(float* x, int n) {
  int device = 0, sms = 0, blocks = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k, 256, 0);
  void* arguments[] = {&x, &n};
  cudaLaunchCooperativeKernel((void*)k, dim3(sms * blocks), dim3(256), arguments, 0, 0);
}
