// entry: run
// buffer: x f32 4
// refused: <torch/extension.h> is not available @ 6
#include <torch/extension.h>
__global__ void k(float* x) { *x = 1; }
void helper(const TensorLike& t) { (void)t; }
void run(float* x) { helper(*(TensorLike*)nullptr); k<<<1, 1>>>(x); }
