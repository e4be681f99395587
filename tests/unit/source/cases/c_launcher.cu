// entry: scale
// buffer: out f32 1000
// buffer: in f32 1000
// scalar: s f32 2
// scalar: n i32 1000
// expect: launch scale_kernel(out, in, 1073741824, 1000) 4x1x1 256x1x1
#include <stdio.h>
__global__ void scale_kernel(float *out, const float *in, float s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * s;
}
#ifdef __cplusplus
extern "C"
#endif
void scale(float *out, const float *in, float s, int n) {
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    scale_kernel<<<blocks, threads>>>(out, in, s, n);
}
int main(int argc, char **argv) {
    float *d;
    cudaMalloc(&d, 4000);
    scale(d, d, 2.0f, 1000);
    printf("%d\n", argc);
    return 0;
}
