// entry: run
// buffer: x f32 512
// scalar: n i32 512
// expect: launch twice(x, 512) 8x1x1 64x1x1
#define RUN(k, n, ...) k<<<((n) + 63) / 64, 64>>>(__VA_ARGS__)
__global__ void twice(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}
__global__ void thrice(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 3;
}
void run(float* x, int n) { twice<<<(n + 63) / 64, 64>>>(x, n); }
// The macro, whose body is a launch, is of no use to the entry.
void run_other(float* x, int n) { RUN(thrice, n, x, n); }
