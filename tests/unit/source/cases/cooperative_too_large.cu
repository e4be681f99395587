// entry: run
// buffer: x f32 64
// expect: launch k(x, 1) 132x1x1 1024x1x1 cooperative
#include <cuda_runtime.h>
__global__ void k(float* x, int round) { x[threadIdx.x & 63] = round; }
void run(float* x) {
  int round = 0;
  void* arguments[] = {&x, &round};
  if (cudaLaunchCooperativeKernel(k, 1000, 1024, arguments) == cudaErrorCooperativeLaunchTooLarge) {
    cudaGetLastError();
    round = 1;
    int blocks = 0, clock_khz = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, k, 1024, 100 * 1024, 0);
    cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0);
    if (clock_khz < 500000 || clock_khz > 5000000) return;
    cudaLaunchCooperativeKernel(k, 66 * blocks, 1024, arguments);
  }
}
