// entry: Scaler::run
// buffer: x f32 64
// scalar: n i32 64
// expect: launch k(x, 1077936128, 64) 1x1x1 64x1x1
#include <cuda_runtime.h>
#include <memory>
#include <string>
__global__ void k(float* x, float s, int n) { if (threadIdx.x < n) x[threadIdx.x] *= s; }
class Scaler {
 public:
  explicit Scaler(float s) : s_(s) {}
  void operator()(float* x, int n) const { k<<<1, 64>>>(x, s_, n); }
  static void run(float* x, int n);
 private:
  float s_;
};
void Scaler::run(float* x, int n) {
  auto scaler = std::make_unique<Scaler>(3.f);
  (*scaler)(x, n);
}
