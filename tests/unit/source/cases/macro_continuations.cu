// entry: run
// buffer: x f32 64
// expect: launch add_kernel(x, 60) 1x1x1 64x1x1
#include <cstdio>
// A comment of two lines needs no backslash; what it becomes in a slice does.
#define MAKE(name) \
  static void report_##name() { std::puts(#name); } \
  static void launch_##name(float* x) {  /* from here
     to there */ name##_kernel<<<1, /* one
   block */ 64>>>(x, 60); } \
  __global__ void name##_kernel(float* x, int n) { /* of two

    lines */ int i = threadIdx.x; if (i < n) x[i] += 1; }
__global__ void add_kernel(float* x, int n);
MAKE(add)
void run(float* x) { launch_add(x); }
