// Speed of the simulator on one core, in thread instructions per second: bare, with counters, with counters and checks.
// Time is the processor's, so that others on the machine do not count. Prints one JSON object. `bench_sim [seconds per figure]`
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/support/sim_kit.h"

namespace warpwright::sim {
namespace {

constexpr const char* kSource = R"(
extern "C" __global__ void add(float* out, const float* a, const float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
extern "C" __global__ void matmul(float* c, const float* a, const float* b, int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
  c[row * n + col] = sum;
}
extern "C" __global__ void tiled(float* c, const float* a, const float* b, int n) {
  __shared__ float as[32][32], bs[32][32];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx;
  float sum = 0;
  for (int t = 0; t < n; t += 32) {
    as[ty][tx] = a[row * n + t + tx];
    bs[ty][tx] = b[(t + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < 32; ++k) sum += as[ty][k] * bs[k][tx];
    __syncthreads();
  }
  c[row * n + col] = sum;
}
extern "C" __global__ void reduce(float* out, const float* in, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int stride = 128; stride > 0; stride /= 2) {
    if (t < stride) s[t] += s[t + stride];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void mandelbrot(int* out, int width, int limit) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float cr = -2.0f + 3.0f * x / width, ci = -1.5f + 3.0f * y / width, zr = 0, zi = 0;
  int k = 0;
  while (k < limit && zr * zr + zi * zi < 4.0f) {
    float t = zr * zr - zi * zi + cr;
    zi = 2 * zr * zi + ci;
    zr = t;
    ++k;
  }
  out[y * width + x] = k;
}
)";

struct Case {
  const char* name;
  const char* kernel;
  Dim3 grid, block;
};

double Measure(SimKit& kit, const Case& c, bool counters, bool checks, double seconds) {
  const int n = std::string_view(c.kernel) == "add" ? 1 << 20 : std::string_view(c.kernel) == "reduce" ? 1 << 20 : 256;
  RunOptions options;
  options.counters = counters;
  options.checks = checks;
  options.instruction_limit = UINT64_MAX;
  const size_t count = 1 << 20;
  static auto a = kit.Make<float>("a", count, true, true), b = kit.Make<float>("b", count, true, true);
  auto out = kit.Make<float>("out", count, false);
  for (size_t i = 0; i < count; ++i) a[i] = b[i] = 1.0f;
  auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  uint64_t instructions = 0;
  const double begin = now();
  double elapsed = 0;
  do {
    Machine machine = std::string_view(c.kernel) == "mandelbrot" ? kit.Prepare(c.kernel, c.grid, c.block, 0, options, out, 512, 200)
                      : std::string_view(c.kernel) == "reduce"   ? kit.Prepare(c.kernel, c.grid, c.block, 0, options, out, a, n)
                                                                 : kit.Prepare(c.kernel, c.grid, c.block, 0, options, out, a, b, n);
    const auto outcome = machine.Run(0, c.grid.Count());
    if (const Fault* fault = std::get_if<Fault>(&outcome)) {
      std::fprintf(stderr, "%s: %s\n", c.name, fault->message.c_str());
      std::exit(1);
    }
    instructions += machine.thread_instructions();
    elapsed = now() - begin;
  } while (elapsed < seconds);
  return static_cast<double>(instructions) / elapsed;
}

int Main(double seconds) {
  SimKit kit = SimKit::FromCuda(kSource);
  const Case cases[] = {{"element-wise add", "add", {4096, 1, 1}, {256, 1, 1}},
                        {"naive matmul 256^3, 16x16 blocks", "matmul", {16, 16, 1}, {16, 16, 1}},
                        {"naive matmul 256^3, 32x8 blocks", "matmul", {8, 32, 1}, {32, 8, 1}},
                        {"tiled matmul 32^2", "tiled", {8, 8, 1}, {32, 32, 1}},
                        {"tree reduction", "reduce", {4096, 1, 1}, {256, 1, 1}},
                        {"mandelbrot", "mandelbrot", {32, 32, 1}, {16, 16, 1}}};
  nlohmann::json table = nlohmann::json::array();
  for (const Case& c : cases) {
    table.push_back({{"kernel", c.name},
                     {"bare", Measure(kit, c, false, false, seconds)},
                     {"counters", Measure(kit, c, true, false, seconds)},
                     {"counters_and_checks", Measure(kit, c, true, true, seconds)}});
  }
  std::printf("%s\n", nlohmann::json{{"unit", "thread instructions per second, one core"}, {"kernels", table}}.dump(2).c_str());
  return 0;
}

}  // namespace
}  // namespace warpwright::sim

int main(int argc, char** argv) { return warpwright::sim::Main(argc > 1 ? std::atof(argv[1]) : 0.3); }
