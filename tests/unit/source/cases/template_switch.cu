// entry: reduce
// buffer: out f32 8
// buffer: in f32 2400
// scalar: rows i32 8
// scalar: columns i32 300
// expect: launch reduce_kernel<float, 512>(out, in, 300) 8x1x1 512x1x1
#include <stdexcept>
template <typename T, int kThreads>
__global__ void reduce_kernel(T* __restrict__ out, const T* __restrict__ in, int columns) {
  __shared__ T partial[kThreads];
  T sum = 0;
  for (int c = threadIdx.x; c < columns; c += kThreads) sum += in[blockIdx.x * columns + c];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int s = kThreads / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}
void reduce(float* out, const float* in, int rows, int columns) {
  int threads = 32;
  while (threads < columns && threads < 512) threads *= 2;
  switch (threads) {
    case 32: reduce_kernel<float, 32><<<rows, 32>>>(out, in, columns); break;
    case 64: reduce_kernel<float, 64><<<rows, 64>>>(out, in, columns); break;
    case 128: reduce_kernel<float, 128><<<rows, 128>>>(out, in, columns); break;
    case 256: reduce_kernel<float, 256><<<rows, 256>>>(out, in, columns); break;
    case 512: reduce_kernel<float, 512><<<rows, 512>>>(out, in, columns); break;
    default: throw std::runtime_error("threads");
  }
}
