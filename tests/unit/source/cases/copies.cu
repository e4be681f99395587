// entry: run
// buffer: out f32 64
// buffer: in f32 64
// expect: copy out in 256
// expect: upload workspace 0 16
// expect: launch k(out, workspace 0) 1x1x1 64x1x1
// expect: copy out+128 out 128
#include <cuda_runtime.h>
#include <vector>
__global__ void k(float* x, const int* table) { x[threadIdx.x] += table[threadIdx.x & 3]; }
void run(float* out, const float* in) {
  cudaMemcpy(out, in, 64 * sizeof(float), cudaMemcpyDeviceToDevice);
  std::vector<int> host(4);
  for (int i = 0; i < 4; ++i) host[i] = i * i;
  int* table;
  cudaMalloc(&table, 4 * sizeof(int));
  cudaMemcpyAsync(table, host.data(), 4 * sizeof(int), cudaMemcpyHostToDevice);
  k<<<1, 64>>>(out, table);
  cudaMemcpyAsync(out + 32, out, 32 * sizeof(float), cudaMemcpyDefault, 0);
  cudaFree(table);
}
