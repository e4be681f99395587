// entry: run
// buffer: x f16 64
// scalar: h f16 2
// scalar: b bf16 1
// expect: launch k(x, {0040}, {803f}) 1x1x1 64x1x1
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void k(__half* x, __half h, __nv_bfloat16 b) { x[threadIdx.x] = h + __float2half(__bfloat162float(b)); }
void run(__half* x, __half h, __nv_bfloat16 b) { k<<<1, 64>>>(x, h, b); }
