// entry: run
// buffer: out f32 64
// buffer: a f32 64
// buffer: b f32 64
// expect: launch apply<Add, float, float>(out, {00}, a, b) 1x1x1 64x1x1
// expect: launch apply1<Scale>(out, 1077936128, a) 1x1x1 64x1x1
#include <utility>
struct Add { __device__ float operator()(float a, float b) const { return a + b; } };
struct Scale {
  float factor;
  explicit Scale(float f) : factor(f) {}
  __device__ float operator()(float a) const { return a * factor; }
};
template <typename F, typename... Ts>
__global__ void apply(float* out, F f, const Ts*... in) {
  out[threadIdx.x] = f(in[threadIdx.x]...);
}
template <typename F>
__global__ void apply1(float* out, F f, const float* in) { out[threadIdx.x] = f(in[threadIdx.x]); }
void run(float* out, const float* a, const float* b) {
  apply<<<1, 64>>>(out, Add{}, a, b);
  apply1<<<1, 64>>>(out, Scale(3.f), a);
}
