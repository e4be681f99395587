// entry: gemm
// buffer: c f32 64
// buffer: a f32 64
// refused: cuBLAS (cublasHandle_t) @ 8
#include <cublas_v2.h>
__global__ void bias(float* c) { c[threadIdx.x] += 1; }
static void multiply(float* c, const float* a) {
  cublasHandle_t handle = nullptr;
  float one = 1, zero = 0;
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, a, 8, a, 8, &zero, c, 8);
}
void gemm(float* c, const float* a) {
  multiply(c, a);
  bias<<<1, 64>>>(c);
}
