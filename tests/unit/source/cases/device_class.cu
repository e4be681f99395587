// entry: run
// buffer: x f32 64
// expect: launch k(x, 64) 1x1x1 64x1x1
#include <cuda_runtime.h>
#include <string>
#include <vector>
class Grid {
 public:
  __host__ __device__ Grid(int w) : w_(w) {}
  __device__ float at(const float* p, int i) const;
  __host__ __device__ int width() const { return w_; }
  std::string name() const { return "grid" + std::to_string(w_); }
  Grid& operator=(const Grid&) = default;
 private:
  int w_;
};
__device__ float Grid::at(const float* p, int i) const { return p[i % w_]; }
struct HostOnly { std::vector<int> v; };
__global__ void k(float* x, Grid g) { float v = g.at(x, threadIdx.x + 1); __syncthreads(); x[threadIdx.x] = v + g.width(); }
void run(float* x) {
  HostOnly h;
  h.v.push_back(64);
  Grid g(h.v[0]);
  if (g.name() == "grid64") k<<<1, g.width()>>>(x, g);
}
