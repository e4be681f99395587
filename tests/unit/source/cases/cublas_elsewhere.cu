// entry: bias_add
// buffer: c f32 64
// expect: launch bias(c) 1x1x1 64x1x1
#include <cublas_v2.h>
__global__ void bias(float* c) { c[threadIdx.x] += 1; }
void multiply(cublasHandle_t handle, float* c, const float* a) {
  float one = 1, zero = 0;
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, a, 8, a, 8, &zero, c, 8);
}
void bias_add(float* c) { bias<<<1, 64>>>(c); }
