// entry: run
// buffer: x f32 64
// buffer: y f64 64
// expect: launch k<double>({[x+16]3c00000000000000000000000000e03f}, y, {01}) 1x1x1 64x1x1
#include <cuda_runtime.h>
struct Params { float* x; int n; double s; };
template <typename T> __global__ void k(Params p, T* y, char flag) {
  if (threadIdx.x < p.n && flag) y[threadIdx.x] = p.x[threadIdx.x] * p.s;
}
void run(float* x, double* y) {
  Params p = {x + 4, 60, 0.5};
  char flag = 1;
  double* target = y;
  void* arguments[] = {&p, &target, &flag};
  cudaLaunchKernel((const void*)&k<double>, dim3(1), dim3(64), arguments, 0, nullptr);
}
