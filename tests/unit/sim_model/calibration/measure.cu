// Measures the times in h200.csv on a real GPU: nvcc -O3 -arch=sm_90 -o measure measure.cu && ./measure
// Median of 15, L2 flushed by writing and then reading four times its size before each; events around the launch, which
// add 1.7 us to launch_overhead_us of the chip file.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "kernels.cu"

#define CHECK(call) if (cudaError_t e = (call); e != cudaSuccess) { printf("%s: %s\n", #call, cudaGetErrorString(e)); exit(1); }

__global__ void Flush(float4* x, size_t n, bool write) {
  float s = 0;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    if (write) x[i] = make_float4(i, 1, 2, 3); else s += x[i].x;
  if (s == 1.2345f) x[0].x = s;
}

cudaEvent_t e0, e1;
template <typename F> float Time(F f) {
  CHECK(cudaEventRecord(e0)); f(); CHECK(cudaEventRecord(e1)); CHECK(cudaEventSynchronize(e1));
  float ms; CHECK(cudaEventElapsedTime(&ms, e0, e1)); return ms * 1000;
}
template <typename F> float Median(int n, F f) {
  std::vector<float> t; for (int i = 0; i < n; ++i) t.push_back(f()); std::sort(t.begin(), t.end()); return t[n / 2];
}

int main() {
  CHECK(cudaEventCreate(&e0)); CHECK(cudaEventCreate(&e1));
  float4* flush;
  const size_t flush_n = (240u << 20) / 16;
  CHECK(cudaMalloc(&flush, flush_n * 16));
  for (int i = 0; i < 50; ++i) Flush<<<264, 512>>>(flush, flush_n, true);  // to full clock
  size_t most = 33554432; float *out, *a, *b;
  CHECK(cudaMalloc(&out, most * 4)); CHECK(cudaMalloc(&a, most * 4)); CHECK(cudaMalloc(&b, most * 4));
  std::vector<float> host(most); for (size_t i = 0; i < most; ++i) host[i] = (float)((i * 2654435761u >> 8) % 2000) / 1000 - 1;
  CHECK(cudaMemcpy(a, host.data(), most * 4, cudaMemcpyHostToDevice)); CHECK(cudaMemcpy(b, host.data(), most * 4, cudaMemcpyHostToDevice));
  printf("kernel,grid_x,grid_y,block_x,block_y,n,c,registers,microseconds\n");
#define CASE(k, gx, gy, bx, by, n, c, eo, ea, eb) { \
    cudaFuncAttributes attributes; CHECK(cudaFuncGetAttributes(&attributes, k)); \
    float t = Median(15, [&] { Flush<<<264, 512>>>(flush, flush_n, true); Flush<<<264, 512>>>(flush, flush_n, false); CHECK(cudaDeviceSynchronize()); \
      return Time([&] { k<<<dim3(gx, gy), dim3(bx, by)>>>(out, a, b, n, c); }); }); \
    CHECK(cudaGetLastError()); printf("%s,%d,%d,%d,%d,%d,%d,%d,%.2f\n", #k, gx, gy, bx, by, n, c, attributes.numRegs, t); }
#include "cases.inc"
  return 0;
}
