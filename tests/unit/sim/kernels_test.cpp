// Real kernels against the same computation on the host.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "tests/support/sim_kit.h"

namespace warpwright::sim {
namespace {

std::vector<float> Random(size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> distribution(-2, 2);
  std::vector<float> values(n);
  for (float& v : values) v = distribution(random);
  return values;
}

TEST(Kernels, Softmax) {
  SimKit kit = SimKit::FromCuda(R"(
extern "C" __global__ void softmax(float* out, const float* in, int columns) {
  extern __shared__ float s[];
  const float* row = in + blockIdx.x * columns;
  int t = threadIdx.x;
  float m = __int_as_float(0xff800000);
  for (int i = t; i < columns; i += blockDim.x) m = fmaxf(m, row[i]);
  s[t] = m;
  for (int k = blockDim.x / 2; k > 0; k /= 2) { __syncthreads(); if (t < k) s[t] = fmaxf(s[t], s[t + k]); }
  __syncthreads();
  m = s[0];
  __syncthreads();
  float sum = 0;
  for (int i = t; i < columns; i += blockDim.x) sum += expf(row[i] - m);
  s[t] = sum;
  for (int k = blockDim.x / 2; k > 0; k /= 2) { __syncthreads(); if (t < k) s[t] += s[t + k]; }
  __syncthreads();
  sum = s[0];
  for (int i = t; i < columns; i += blockDim.x) out[blockIdx.x * columns + i] = expf(row[i] - m) / sum;
})");
  const size_t rows = 9, columns = 203;
  const auto values = Random(rows * columns, 1);
  const auto in = kit.Make<float>("in", values, true);
  const auto out = kit.Make<float>("out", rows * columns, false);
  ASSERT_TRUE(kit.Run("softmax", {9, 1, 1}, {128, 1, 1}, 512, out, in, 203)) << kit.fault.message;
  for (size_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (size_t i = 0; i < columns; ++i) sum += std::exp(static_cast<double>(values[r * columns + i]));
    for (size_t i = 0; i < columns; ++i) {
      const double expected = std::exp(static_cast<double>(values[r * columns + i])) / sum;
      EXPECT_NEAR(out[r * columns + i], expected, 2e-6 * expected);
    }
  }
}

TEST(Kernels, LayerNormWithShuffles) {
  SimKit kit = SimKit::FromCuda(R"(
__device__ float warp_sum(float v) { for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o); return v; }
extern "C" __global__ void layer_norm(float* out, const float* in, const float* gain, const float* bias, int rows, int columns) {
  int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* x = in + (size_t)row * columns;
  float sum = 0;
  for (int i = lane; i < columns; i += 32) sum += x[i];
  float mean = warp_sum(sum) / columns, squares = 0;
  for (int i = lane; i < columns; i += 32) { float d = x[i] - mean; squares += d * d; }
  float scale = rsqrtf(warp_sum(squares) / columns + 1e-5f);
  for (int i = lane; i < columns; i += 32) out[(size_t)row * columns + i] = (x[i] - mean) * scale * gain[i] + bias[i];
})");
  const size_t rows = 13, columns = 100;
  const auto values = Random(rows * columns, 2), g = Random(columns, 3), b = Random(columns, 4);
  const auto in = kit.Make<float>("in", values, true), gain = kit.Make<float>("gain", g, true),
             bias = kit.Make<float>("bias", b, true);
  const auto out = kit.Make<float>("out", rows * columns, false);
  ASSERT_TRUE(kit.Run("layer_norm", {4, 1, 1}, {128, 1, 1}, 0, out, in, gain, bias, 13, 100)) << kit.fault.message;
  for (size_t r = 0; r < rows; ++r) {
    double mean = 0, variance = 0;
    for (size_t i = 0; i < columns; ++i) mean += values[r * columns + i] / static_cast<double>(columns);
    for (size_t i = 0; i < columns; ++i)
      variance += std::pow(values[r * columns + i] - mean, 2) / static_cast<double>(columns);
    for (size_t i = 0; i < columns; ++i)
      EXPECT_NEAR(out[r * columns + i], (values[r * columns + i] - mean) / std::sqrt(variance + 1e-5) * g[i] + b[i],
                  5e-6);
  }
}

float FromHalf(uint16_t h) {
  const int exponent = h >> 10 & 31;
  const float m = static_cast<float>(h & 0x3ff), s = h & 0x8000 ? -1.0f : 1.0f;
  return s * (exponent == 0 ? std::ldexp(m, -24) : std::ldexp(1024 + m, exponent - 25));
}

TEST(Kernels, HalfPrecisionGeluAndDotProduct) {
  SimKit kit = SimKit::FromCuda(R"(
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void gelu(__half* out, const __half2* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 x = __half22float2(in[i]);
  auto f = [](float v) { return 0.5f * v * (1 + tanhf(0.7978845608f * (v + 0.044715f * v * v * v))); };
  ((__half2*)out)[i] = __floats2half2_rn(f(x.x), f(x.y));
}
extern "C" __global__ void dot(float* out, const __nv_bfloat16* a, const __nv_bfloat16* b, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) sum += __bfloat162float(a[i]) * __bfloat162float(b[i]);
  for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(0xffffffff, sum, o);
  if (threadIdx.x == 0) *out = sum;
}
extern "C" __global__ void chain(__half2* x, int n) {
  __half2 v = x[threadIdx.x], w = __float2half2_rn(0.5f);
  for (int i = 0; i < n; ++i) v = __hfma2(v, w, __hmax2(v, __hneg2(v)));
  x[threadIdx.x] = v;
})");
  const size_t n = 300;
  const auto in = kit.Make<uint16_t>("in", n), out = kit.Make<uint16_t>("out", n, false);
  for (size_t i = 0; i < n; ++i) in[i] = static_cast<uint16_t>(0x3000 + 37 * i + (i & 1 ? 0x8000 : 0));
  ASSERT_TRUE(kit.Run("gelu", {2, 1, 1}, {128, 1, 1}, 0, out, in, 150)) << kit.fault.message;
  for (size_t i = 0; i < n; ++i) {
    const double v = FromHalf(in[i]), expected = 0.5 * v * (1 + std::tanh(0.7978845608 * (v + 0.044715 * v * v * v)));
    EXPECT_NEAR(FromHalf(out[i]), expected, 1e-3 * std::fabs(expected) + 1e-5) << v;
  }
  const auto a = kit.Make<uint16_t>("a", n), b = kit.Make<uint16_t>("b", n);
  const auto sum = kit.Make<float>("sum", 1, false);
  double expected = 0;
  for (size_t i = 0; i < n; ++i) {
    a[i] = static_cast<uint16_t>(0x3f00 + i % 256);
    b[i] = static_cast<uint16_t>(0xbf00 + i * 3 % 128);
    expected += static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(a[i]) << 16)) *
                std::bit_cast<float>(static_cast<uint32_t>(b[i]) << 16);
  }
  ASSERT_TRUE(kit.Run("dot", {1, 1, 1}, {32, 1, 1}, 0, sum, a, b, 300)) << kit.fault.message;
  EXPECT_NEAR(sum[0], expected, 1e-5 * std::fabs(expected));
}

// The toolkit's half functions are inline assembly of many styles.
TEST(Kernels, HalfMathFunctions) {
  SimKit kit = SimKit::FromCuda(R"(
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void k(float* out, const float* in, int n) {
  int i = threadIdx.x;
  __half h = __float2half(in[i]);
  __nv_bfloat16 b = __float2bfloat16(in[i]);
  __half2 h2 = __float2half2_rn(in[i]);
  float r[16] = {__half2float(hexp(h)), __half2float(hexp2(h)), __half2float(hlog(h)), __half2float(hlog2(h)), __half2float(hsqrt(h)),
                 __half2float(hrsqrt(h)), __half2float(hrcp(h)), __half2float(hsin(h)), __half2float(hcos(h)), __half2float(htanh(h)),
                 __bfloat162float(hexp(b)), __bfloat162float(hsqrt(b)), __high2float(h2exp(h2)), __low2float(h2log(h2)),
                 __half2float(hexp10(h)), __half2float(__hdiv(h, __float2half(3.0f)))};
  for (int k = 0; k < 16; ++k) out[k * n + i] = r[k];
})");
  const size_t n = 64;
  const auto in = kit.Make<float>("in", n), out = kit.Make<float>("out", 16 * n, false);
  for (size_t i = 0; i < n; ++i) in[i] = 0.0625f + static_cast<float>(i) / 16;
  ASSERT_TRUE(kit.Run("k", {1, 1, 1}, {n, 1, 1}, 0, out, in, static_cast<int>(n))) << kit.fault.message;
  for (size_t i = 0; i < n; ++i) {
    const double x = in[i];
    const double expected[16] = {std::exp(x),  std::exp2(x),     std::log(x),     std::log2(x),
                                 std::sqrt(x), 1 / std::sqrt(x), 1 / x,           std::sin(x),
                                 std::cos(x),  std::tanh(x),     std::exp(x),     std::sqrt(x),
                                 std::exp(x),  std::log(x),      std::pow(10, x), x / 3};
    for (size_t k = 0; k < 16; ++k) {
      const double precision = k == 10 || k == 11 ? 8e-3 : 1e-3;
      EXPECT_NEAR(out[k * n + i], expected[k], precision * std::fabs(expected[k]) + 1e-3)
          << "function " << k << " of " << x;
    }
  }
}

TEST(Kernels, IntegersSortAndScan) {
  SimKit kit = SimKit::FromCuda(R"(
extern "C" __global__ void bitonic(unsigned long long* data) {
  __shared__ unsigned long long s[256];
  int t = threadIdx.x;
  s[t] = data[t];
  for (int k = 2; k <= 256; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      __syncthreads();
      int other = t ^ j;
      if (other > t && (s[t] > s[other]) == ((t & k) == 0)) { auto v = s[t]; s[t] = s[other]; s[other] = v; }
    }
  __syncthreads();
  data[t] = s[t];
}
extern "C" __global__ void scan(int* out, const int* in) {
  __shared__ int totals[8];
  int t = threadIdx.x, lane = t & 31, warp = t / 32, v = in[t];
  for (int o = 1; o < 32; o *= 2) { int u = __shfl_up_sync(~0u, v, o); if (lane >= o) v += u; }
  if (lane == 31) totals[warp] = v;
  __syncthreads();
  for (int w = 0; w < warp; ++w) v += totals[w];
  out[t] = v;
}
extern "C" __global__ void mixed(long long* out, const int* in) {
  int t = threadIdx.x, a = in[t], b = in[255 - t] | 1;
  long long x = (long long)a * b;
  char c = (char)a; unsigned char u = (unsigned char)b; short h = (short)(a * b);
  x += a / b + a % b + (unsigned)a / (unsigned)b + (x % (b | 7)) + c * u + h + __popc(a) + __clz(b) + __brev(a) % 1000 + __ffs(b);
  x ^= __umulhi(a, b) + __mul24(a, b) + (a >> (b & 31)) + ((unsigned)a << (b & 31)) + __funnelshift_l(a, b, 9) + __byte_perm(a, b, 0x3715);
  x += (long long)((double)a / b) + (long long)(float)(a % 1000) + min(a, b) + max(u, (unsigned char)c) + abs(c);
  out[t] = x;
})");
  std::mt19937 random(5);
  const auto data = kit.Make<uint64_t>("data", 256);
  for (size_t i = 0; i < 256; ++i) data[i] = (static_cast<uint64_t>(random()) << 32) | random();
  std::vector<uint64_t> sorted(data.data, data.data + 256);
  std::sort(sorted.begin(), sorted.end());
  ASSERT_TRUE(kit.Run("bitonic", {1, 1, 1}, {256, 1, 1}, 0, data)) << kit.fault.message;
  EXPECT_TRUE(std::equal(sorted.begin(), sorted.end(), data.data));
  const auto in = kit.Make<int>("in", 256), out = kit.Make<int>("out", 256, false);
  for (size_t i = 0; i < 256; ++i) in[i] = static_cast<int>(random() % 100) - 50;
  ASSERT_TRUE(kit.Run("scan", {1, 1, 1}, {256, 1, 1}, 0, out, in)) << kit.fault.message;
  for (size_t i = 0, sum = 0; i < 256; ++i) {
    sum += static_cast<size_t>(in[i]);
    EXPECT_EQ(out[i], static_cast<int>(sum));
  }
  const auto wide = kit.Make<int64_t>("wide", 256, false);
  for (size_t i = 0; i < 256; ++i) in[i] = static_cast<int>(random());
  ASSERT_TRUE(kit.Run("mixed", {1, 1, 1}, {256, 1, 1}, 0, wide, in)) << kit.fault.message;
  auto brev = [](uint32_t v) {
    uint32_t r = 0;
    for (int i = 0; i < 32; ++i) r |= (v >> i & 1) << (31 - i);
    return r;
  };
  for (size_t t = 0; t < 256; ++t) {
    const int a = in[t], b = in[255 - t] | 1;
    const auto ua = static_cast<uint32_t>(a), ub = static_cast<uint32_t>(b);
    int64_t x = static_cast<int64_t>(a) * b;
    const auto c = static_cast<int8_t>(a);
    const auto u = static_cast<uint8_t>(b);
    const auto h = static_cast<int16_t>(ua * ub);
    // When an unsigned term is added to an int, the sum wraps in 32 bits, as in the kernel.
    const uint32_t quotients = static_cast<uint32_t>(a / b) + static_cast<uint32_t>(a % b) + ua / ub;
    int64_t sum = static_cast<int64_t>(static_cast<uint64_t>(quotients)) + x % (b | 7);
    sum += static_cast<int64_t>(c) * u;
    sum += h;
    sum += std::popcount(ua);
    sum += std::countl_zero(ub);
    sum += brev(ua) % 1000;
    sum += std::countr_zero(ub) + 1;
    x += sum;
    auto low24 = [](int v) { return static_cast<int64_t>(static_cast<int32_t>(static_cast<uint32_t>(v) << 8) >> 8); };
    const auto mulhi = static_cast<uint32_t>(static_cast<uint64_t>(ua) * ub >> 32);
    const auto mul24 = static_cast<uint32_t>(low24(a) * low24(b));
    const auto funnel = static_cast<uint32_t>(((static_cast<uint64_t>(ub) << 32 | ua) << 9) >> 32);
    const uint64_t bytes = static_cast<uint64_t>(ub) << 32 | ua;
    auto byte = [&](int k) { return static_cast<uint32_t>(bytes >> (8 * k) & 0xff); };
    const uint32_t permuted = byte(5) | byte(1) << 8 | byte(7) << 16 | byte(3) << 24;
    const uint32_t mix = mulhi + mul24 + static_cast<uint32_t>(a >> (b & 31)) + (ua << (b & 31)) + funnel + permuted;
    x ^= static_cast<int64_t>(static_cast<uint64_t>(mix));
    x += static_cast<int64_t>(static_cast<double>(a) / b) + a % 1000;
    x += std::min(a, b) + std::max<int>(u, static_cast<uint8_t>(c)) + std::abs(c);
    EXPECT_EQ(wide[t], x) << t;
  }
}

TEST(Kernels, ModuleVariablesAndGenericPointers) {
  SimKit kit = SimKit::FromCuda(R"(
__constant__ float weights[4] = {1, 2, 4, 8};
__device__ int counter = 5;
__device__ const char* const names[2] = {"even", "odd"};
__device__ __noinline__ float load(const float* p, int i) { return p[i]; }
extern "C" __global__ void k(float* out, const float* in) {
  __shared__ float s[64];
  float local[4];
  int t = threadIdx.x;
  s[t] = t;
  for (int i = 0; i < 4; ++i) local[(i + t) & 3] = i;
  __syncthreads();
  const float* p = t % 3 == 0 ? s : t % 3 == 1 ? in : local;
  out[t] = load(p, t % 3 == 2 ? t & 3 : 63 - t) + weights[t & 3] + names[t & 1][0];
  if (t == 0) counter += 2;
})");
  const auto in = kit.Make<float>("in", Random(64, 9), true), out = kit.Make<float>("out", 64, false);
  ASSERT_TRUE(kit.Run("k", {1, 1, 1}, {64, 1, 1}, 0, out, in)) << kit.fault.message;
  for (int t = 0; t < 64; ++t) {
    const size_t u = static_cast<size_t>(t);
    const float base = t % 3 == 0 ? static_cast<float>(63 - t) : t % 3 == 1 ? in[63 - u] : 0.0f;
    EXPECT_EQ(out[u], base + static_cast<float>(1 << (t & 3)) + (t & 1 ? 'o' : 'e')) << t;
  }
  const Allocation* counter = kit.memory().FindByName("counter");
  ASSERT_NE(counter, nullptr);
  int value;
  std::memcpy(&value, counter->data, 4);
  EXPECT_EQ(value, 7);
}

}  // namespace
}  // namespace warpwright::sim
