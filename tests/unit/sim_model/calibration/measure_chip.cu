// The figures of config/chips/*.yml that no document states, measured on a real GPU:
//   nvcc -O3 -arch=sm_90 -o measure_chip measure_chip.cu && ./measure_chip
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call) \
  if (cudaError_t error = (call); error != cudaSuccess) { printf("%s: %s\n", #call, cudaGetErrorString(error)); exit(1); }

// --- latency: a chain of dependent loads ---
__global__ void ChaseL1(const unsigned* next, unsigned steps, long long* cycles, unsigned* sink) {
  unsigned at = 0;
  for (unsigned i = 0; i < steps; ++i) at = next[at];
  long long begin = clock64();
  for (unsigned i = 0; i < steps; ++i) at = next[at];
  *cycles = clock64() - begin;
  *sink = at;
}
__global__ void ChasePastL1(const unsigned* next, unsigned steps, long long* cycles, unsigned* sink, bool warm) {
  unsigned at = 0;
  for (unsigned i = 0; i < (warm ? steps : 0); ++i) at = __ldcg(next + at);
  long long begin = clock64();
  for (unsigned i = 0; i < steps; ++i) at = __ldcg(next + at);
  *cycles = clock64() - begin;
  *sink = at;
}
__global__ void ChaseShared(long long* cycles, unsigned* sink) {
  __shared__ unsigned next[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) next[i] = (i + 33) % 1024;
  __syncthreads();
  unsigned at = 0;
  long long begin = clock64();
  for (unsigned i = 0; i < 4096; ++i) at = next[at];
  *cycles = clock64() - begin;
  *sink = at;
}
__global__ void Barriers(long long* cycles) {
  long long begin = clock64();
  for (int i = 0; i < 1000; ++i) __syncthreads();
  if (threadIdx.x == 0) *cycles = clock64() - begin;
}
__global__ void Shuffles(long long* cycles, unsigned* sink) {
  unsigned x = threadIdx.x;
  long long begin = clock64();
  for (int i = 0; i < 1000; ++i) x = __shfl_xor_sync(~0u, x, 1);
  if (threadIdx.x == 0) *cycles = clock64() - begin;
  *sink = x;
}

// --- throughput ---
__global__ void Read(const float4* x, size_t n, int rounds, float* sink) {
  size_t step = (size_t)gridDim.x * blockDim.x;
  float s = 0;
  for (int r = 0; r < rounds; ++r)
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += 4 * step) {
      float4 v[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) v[k] = i + k * step < n ? __ldcg(x + i + k * step) : float4{};
#pragma unroll
      for (int k = 0; k < 4; ++k) s += v[k].x + v[k].y + v[k].z + v[k].w;
    }
  if (s == 1.2345f) *sink = s;
}
__global__ void ReadStrided(const float* x, size_t n, int stride, int rounds, float* sink) {
  size_t step = (size_t)gridDim.x * blockDim.x;
  float s = 0;
  for (int r = 0; r < rounds; ++r)
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += 4 * step) {
      float v[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) v[k] = i + k * step < n ? __ldcg(x + (i + k * step) * stride) : 0;
      s += v[0] + v[1] + v[2] + v[3];
    }
  if (s == 1.2345f) *sink = s;
}
__global__ void Write(float4* x, size_t n, int rounds) {
  for (int r = 0; r < rounds; ++r)
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) x[i] = make_float4(r, 1, 2, 3);
}
__global__ void WriteStrided(float* x, size_t n, int stride, int rounds) {
  for (int r = 0; r < rounds; ++r)
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) x[i * stride] = r;
}
__global__ void Atomics(int* x, unsigned mask) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int r = 0; r < 16; ++r) atomicAdd(x + (((i * 31 + r) * 2654435761u >> 8) & mask), 1);
}
__global__ void Empty() {}

cudaEvent_t before, after;
template <typename F>
double Microseconds(F function) {
  std::vector<float> times;
  for (int i = 0; i < 7; ++i) {
    CHECK(cudaEventRecord(before));
    function();
    CHECK(cudaEventRecord(after));
    CHECK(cudaEventSynchronize(after));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, before, after));
    times.push_back(ms * 1000);
  }
  std::sort(times.begin(), times.end());
  return times[3];
}

int main() {
  CHECK(cudaEventCreate(&before));
  CHECK(cudaEventCreate(&after));
  const size_t large = size_t{4} << 30, resident = 16 << 20;
  long long* cycles;
  unsigned* sink;
  float* memory;
  CHECK(cudaMalloc(&cycles, 8));
  CHECK(cudaMalloc(&sink, 4));
  CHECK(cudaMalloc(&memory, large));
  CHECK(cudaMemset(memory, 0, large));
  float* float_sink = reinterpret_cast<float*>(sink);
  float4* vectors = reinterpret_cast<float4*>(memory);
  auto counted = [&](double steps) {
    long long value;
    CHECK(cudaMemcpy(&value, cycles, 8, cudaMemcpyDeviceToHost));
    return static_cast<double>(value) / steps;
  };
  auto chase = [&](size_t bytes, size_t stride, int level) {
    const size_t places = bytes / stride, steps = std::min<size_t>(places, 20000);
    std::vector<unsigned> next(bytes / 4), order(places);
    for (size_t i = 0; i < places; ++i) order[i] = static_cast<unsigned>(i * stride / 4);
    unsigned long long random = 88172645463325252ull;
    for (size_t i = places - 1; i > 0; --i) {
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      std::swap(order[i], order[random % i]);
    }
    for (size_t i = 0; i < places; ++i) next[order[i]] = order[(i + 1) % places];
    unsigned* list;
    CHECK(cudaMalloc(&list, bytes));
    CHECK(cudaMemcpy(list, next.data(), bytes, cudaMemcpyHostToDevice));
    if (level == 3) Write<<<264, 512>>>(vectors, (256 << 20) / 16, 1), Read<<<264, 512>>>(vectors, (256 << 20) / 16, 1, float_sink);
    if (level == 1) ChaseL1<<<1, 1>>>(list, steps, cycles, sink);
    else ChasePastL1<<<1, 1>>>(list, steps, cycles, sink, level == 2);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(list));
    return counted(static_cast<double>(steps));
  };
  for (int i = 0; i < 20; ++i) Write<<<264, 512>>>(vectors, (256 << 20) / 16, 1);  // to full clock
  printf("l1 %.1f, l2 %.1f, dram %.1f cycles\n", chase(32 << 10, 128, 1), chase(16 << 20, 1024, 2), chase(1u << 30, 65536, 3));
  ChaseShared<<<1, 32>>>(cycles, sink);
  printf("shared %.1f cycles\n", counted(4096));
  for (int threads : {32, 256, 1024}) Barriers<<<1, threads>>>(cycles), printf("barrier of %d threads %.1f cycles\n", threads, counted(1000));
  Shuffles<<<1, 32>>>(cycles, sink);
  printf("shuffle %.1f cycles\n", counted(1000));

  auto rate = [](double amount, double microseconds) { return amount / microseconds * 1e6; };
  const size_t forty = 40 << 20;
  printf("l2 read %.3g B/s\n", rate(40.0 * forty, Microseconds([&] { Read<<<528, 512>>>(vectors, forty / 16, 40, float_sink); })));
  printf("l2 read by one multiprocessor %.3g B/s\n",
         rate(40.0 * (4 << 20), Microseconds([&] { Read<<<1, 1024>>>(vectors, (4 << 20) / 16, 40, float_sink); })));
  printf("l2 write %.3g B/s\n", rate(40.0 * resident, Microseconds([&] { Write<<<528, 512>>>(vectors, resident / 16, 40); })));
  for (int stride : {8, 16, 32}) {
    const size_t n = resident / 4 / stride;
    printf("stride %d bytes: l2 read %.3g, l2 write %.3g", stride * 4,
           rate(40.0 * n, Microseconds([&] { ReadStrided<<<528, 512>>>(memory, n, stride, 40, float_sink); })),
           rate(40.0 * n, Microseconds([&] { WriteStrided<<<528, 512>>>(memory, n, stride, 40); })));
    printf(", dram read %.3g sectors/s\n",
           rate(large / 4.0 / stride, Microseconds([&] { ReadStrided<<<528, 512>>>(memory, large / 4 / stride, stride, 1, float_sink); })));
  }
  printf("copy %.3g B/s\n", rate(large, Microseconds([&] {
           CHECK(cudaMemcpyAsync(memory, memory + large / 8, large / 2, cudaMemcpyDeviceToDevice));
         })));
  for (unsigned ints : {1u, 8u, 256u, 4096u, 65536u, 4194304u})
    printf("atomics on %u integers %.3g lanes/s\n", ints,
           rate(1056 * 256 * 16.0, Microseconds([&] { Atomics<<<1056, 256>>>(reinterpret_cast<int*>(memory), ints - 1); })));
  printf("empty kernels back to back %.2f us\n", Microseconds([&] { for (int i = 0; i < 2000; ++i) Empty<<<132, 256>>>(); }) / 2000);
  printf("starting a block %.3f ns\n", Microseconds([&] { Empty<<<1320000, 256>>>(); }) / 1320);
  return 0;
}
