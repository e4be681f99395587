// entry: run
// buffer: out f32 60
// buffer: in f32 60
// expect: memset workspace 0 0 2048
// expect: copy workspace 0 in 80
// expect: copy workspace 0+512 in+80 80
// expect: copy workspace 0+1024 in+160 80
// expect: launch k(workspace 0, 128, 20) 3x1x1 32x1x1
// expect: memset out+8 1 12
// expect: memset out+88 1 12
// expect: copy out workspace 0 80
// expect: copy out in 160
#include "include/check.cuh"
__global__ void k(float* x, int stride, int n) { if (threadIdx.x < n) x[blockIdx.x * stride + threadIdx.x] += 1; }
void run(float* out, const float* in) {
  float* rows;
  size_t pitch;
  CUDA_CHECK(cudaMallocPitch(&rows, &pitch, 20 * sizeof(float), 4));
  CUDA_CHECK(cudaMemset2D(rows, pitch, 0, pitch, 4));
  CUDA_CHECK(cudaMemcpy2D(rows, pitch, in, 80, 80, 3, cudaMemcpyDeviceToDevice));
  k<<<3, 32>>>(rows, (int)(pitch / sizeof(float)), 20);
  CUDA_CHECK(cudaMemset2DAsync(out + 2, 80, 1, 12, 2));
  CUDA_CHECK(cudaMemcpy2DAsync(out, 80, rows, pitch, 80, 1, cudaMemcpyDefault));
  CUDA_CHECK(cudaMemcpy2D(out, 80, in, 80, 80, 2, cudaMemcpyDeviceToDevice));
  if (cudaMemcpy2D(out, 79, in, 80, 80, 2, cudaMemcpyDeviceToDevice) != cudaErrorInvalidPitchValue) exit(1);
  cudaFree(rows);
}
