// entry: run
// buffer: x f32 64
// expect: launch outer::inner::k(x, 12884901890L) 1x1x1 64x1x1
#include <cuda_runtime.h>
#ifndef __cplusplus
#define BEGIN_C
#else
#define BEGIN_C extern "C" {
#endif
#define END_C }
#define OPEN namespace outer { namespace inner {
#define CLOSE } }
#define RECORD(name) struct name {
#define END_RECORD };
OPEN
RECORD(Pair)
  int first;
  int second;
  __device__ int sum() const { return first + second; }
END_RECORD
__global__ void k(float* x, Pair p) { x[threadIdx.x] = p.sum(); }
CLOSE
BEGIN_C
void run(float* x) { outer::inner::k<<<1, 64>>>(x, {2, 3}); }
END_C
