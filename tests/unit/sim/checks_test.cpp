// Each fault of memory with its message, its line and the faulting thread; and code that looks suspicious but is
// correct.
#include <gtest/gtest.h>

#include "tests/support/sim_kit.h"

namespace warpwright::sim {
namespace {

using Kind = core::Fault::Kind;

TEST(Checks, GlobalMemory) {
  SimKit kit = SimKit::FromCuda(R"(
extern "C" __global__ void past(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] * 2;
}
extern "C" __global__ void before(float* out, const float* in, int n) {
  out[(int)threadIdx.x - 1] = in[0];
}
extern "C" __global__ void misaligned(float* out, const float* in, int n) {
  out[0] = *(const float*)((const char*)in + threadIdx.x);
}
extern "C" __global__ void read_only(float* out, float* in, int n) {
  out[0] = 1;
  if (threadIdx.x == 40) in[3] = 1;
}
extern "C" __global__ void unwritten(float* out, float* in, int n) {
  if (threadIdx.x != 17) out[threadIdx.x] = 1;
  __syncthreads();
  in[64 + threadIdx.x] = out[threadIdx.x];
}
extern "C" __global__ void null(float* out, float* in, int n) {
  float* p = threadIdx.x == 3 ? (float*)(long long)n : out;
  *p = 1;
}
extern "C" __global__ void vector(float4* out, const float4* in, int n) { out[threadIdx.x] = in[threadIdx.x]; }
extern "C" __global__ void far(float* out, const float* in, int n) { out[(1LL << 40) + n] = 1; }
)");
  const struct {
    const char* kernel;
    Kind kind;
    int line;
    uint32_t thread;
    const char* message;
    bool in_read_only;
  } cases[] = {
      {"past", Kind::kOutOfBounds, 4, 36, "out-of-bounds read of 4 bytes at in[100] (buffer of 400 bytes)", true},
      {"before", Kind::kOutOfBounds, 7, 0, "out-of-bounds write of 4 bytes at out[-1] (buffer of 256 bytes)", true},
      {"misaligned", Kind::kMisaligned, 10, 1, "misaligned read of 4 bytes at in + 1 bytes (buffer of 400 bytes)",
       true},
      {"read_only", Kind::kReadOnlyWrite, 14, 40, "write to in[3] (buffer of 400 bytes), which is read-only", true},
      {"unwritten", Kind::kUninitializedRead, 19, 17, "read of out[17] (buffer of 256 bytes), which was never written",
       false},
      {"null", Kind::kOutOfBounds, 23, 3, "out-of-bounds write of 4 bytes at the null pointer", true},
      {"vector", Kind::kOutOfBounds, 25, 25, "out-of-bounds read of 16 bytes at in[100] (buffer of 400 bytes)", true},
      {"far", Kind::kOutOfBounds, 26, 0, "out-of-bounds write of 4 bytes at an address that is far from every buffer",
       true},
  };
  for (const auto& c : cases) {
    const auto out = kit.Make<float>("out", 64, false);
    const auto in = kit.Make<float>("in", 100, c.in_read_only, c.in_read_only);
    const uint32_t blocks = std::string_view(c.kernel) == "past" ? 2 : 1;
    const auto big = kit.Make<float>("big", 512, false);
    ASSERT_FALSE(kit.Run(c.kernel, {blocks, 1, 1}, {64, 1, 1}, 0,
                         blocks == 2 || std::string_view(c.kernel) == "vector" ? big : out, in, 0))
        << c.kernel;
    EXPECT_EQ(kit.fault.kind, c.kind) << c.kernel << ": " << kit.fault.message;
    EXPECT_EQ(kit.fault.message, c.message);
    EXPECT_EQ(kit.fault.line, c.line) << c.kernel;
    EXPECT_TRUE(kit.fault.file.ends_with("kernel.cu")) << kit.fault.file;
    EXPECT_EQ(kit.fault.kernel, c.kernel);
    EXPECT_EQ(kit.fault.thread[0], c.thread) << c.kernel;
    EXPECT_EQ(kit.fault.block[0], blocks - 1);
  }
}

// By the buffer's type, whatever the access moves at once: halves in pairs, bytes by fours.
TEST(Checks, ElementsAreCountedAsTheyAreDeclared) {
  SimKit kit = SimKit::FromCuda(R"(
extern "C" __global__ void pairs(unsigned* out, const unsigned* in) { out[threadIdx.x] = in[threadIdx.x + 40]; }
)");
  const auto out = kit.Make<unsigned>("out", 64, false);
  const auto halves = kit.Make<uint16_t>("halves", 100, true, true);
  ASSERT_FALSE(kit.Run("pairs", {1, 1, 1}, {64, 1, 1}, 0, out, halves));
  EXPECT_EQ(kit.fault.message, "out-of-bounds read of 4 bytes at halves[100] (buffer of 200 bytes)");
  const auto bytes = kit.Make<uint8_t>("bytes", 202, true, true);
  ASSERT_FALSE(kit.Run("pairs", {1, 1, 1}, {64, 1, 1}, 0, out, bytes));
  EXPECT_EQ(kit.fault.message, "out-of-bounds read of 4 bytes at bytes[200] (buffer of 202 bytes)");
}

TEST(Checks, LanesInDifferentBuffersAreFine) {
  SimKit kit = SimKit::FromCuda(R"(
extern "C" __global__ void k(float* a, float* b, float* out) {
  int t = threadIdx.x;
  float* p = t & 1 ? a : b;   // a minimum and maximum over the warp would span both and the gap between
  out[t] = p[t];
  p[t] = t;
})");
  const auto a = kit.Make<float>("a", 32), gap = kit.Make<float>("gap", 1024), b = kit.Make<float>("b", 32),
             out = kit.Make<float>("out", 32, false);
  ASSERT_TRUE(kit.Run("k", {1, 1, 1}, {32, 1, 1}, 0, a, b, out)) << kit.fault.message;
  EXPECT_EQ(a[31], 31);
  EXPECT_EQ(b[30], 30);
  EXPECT_EQ(a[30], 0);
  EXPECT_EQ(gap[0], 0);
}

TEST(Checks, SharedAndLocalMemory) {
  SimKit kit = SimKit::FromCuda(R"(
extern "C" __global__ void shared_past(int* out, int n) {
  __shared__ int s[32];
  s[threadIdx.x] = 1;
  s[threadIdx.x + n] = 2;
  out[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void dynamic_past(int* out, int n) {
  extern __shared__ int d[];
  d[threadIdx.x + n] = 2;
}
extern "C" __global__ void shared_unwritten(int* out, int n) {
  __shared__ int first[4], s[32];
  first[threadIdx.x & 3] = 0;
  if (threadIdx.x < 30) s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x] + first[0];
}
extern "C" __global__ void local_unwritten(int* out, int n) {
  int a[8];
  for (int i = 0; i < n; ++i) a[(i * 3) & 7] = i;
  out[threadIdx.x] = a[(n + threadIdx.x) & 7];
}
extern "C" __global__ void local_past(int* out, int n) {
  int a[8];
  for (int i = 0; i < 8; ++i) a[i] = i * n;
  out[threadIdx.x] = a[n + 1000];
})");
  const struct {
    const char* kernel;
    int n;
    Kind kind;
    int line;
    const char* message;
  } cases[] = {
      {"shared_past", 1, Kind::kOutOfBounds, 5, "out-of-bounds write of 4 bytes at"},
      {"dynamic_past", 1, Kind::kOutOfBounds, 10,
       "out-of-bounds write of 4 bytes at d[32] (128 bytes of shared memory)"},
      {"shared_unwritten", 0, Kind::kUninitializedRead, 17, "read of"},
      {"local_unwritten", 2, Kind::kUninitializedRead, 22, "read of local memory at offset"},
      {"local_past", 3, Kind::kOutOfBounds, 27, "bytes of local memory)"},
  };
  const auto out = kit.Make<int>("out", 32, false);
  for (const auto& c : cases) {
    const uint32_t dynamic = std::string_view(c.kernel) == "dynamic_past" ? 128 : 0;
    ASSERT_FALSE(kit.Run(c.kernel, {1, 1, 1}, {32, 1, 1}, dynamic, out, c.n)) << c.kernel;
    EXPECT_EQ(kit.fault.kind, c.kind) << c.kernel << ": " << kit.fault.message;
    EXPECT_EQ(kit.fault.line, c.line) << c.kernel << ": " << kit.fault.message;
    EXPECT_NE(kit.fault.message.find(c.message), std::string::npos) << kit.fault.message;
  }
  // Memory that one block initialised is not initialised for the next.
  SimKit leak = SimKit::FromCuda(R"(extern "C" __global__ void k(int* out) {
  __shared__ int s[32];
  if (blockIdx.x == 0) s[threadIdx.x] = 1;
  __syncwarp();
  out[threadIdx.x] = s[threadIdx.x];
})");
  const auto leaked = leak.Make<int>("out", 32, false);
  ASSERT_FALSE(leak.Run("k", {2, 1, 1}, {32, 1, 1}, 0, leaked));
  EXPECT_EQ(leak.fault.kind, Kind::kUninitializedRead);
  EXPECT_EQ(leak.fault.block[0], 1u);
}

TEST(Checks, UnwrittenValuesThatDoNotMatterAreFine) {
  // The compiler reads all of these before it knows whether they are needed, and selects later.
  SimKit kit = SimKit::FromCuda(R"(
extern "C" __global__ void shared(float* out, int n) {
  __shared__ float s[4];
  int t = threadIdx.x;
  if (t == 0 && n > 3) s[0] = n;
  __syncthreads();
  out[t] = n > 3 ? s[0] : 1.f;
}
extern "C" __global__ void local(float* out, int n) {
  float a[4];
  int t = threadIdx.x;
  for (int i = 0; i < n; i++) a[i & 3] = i * 2.f;
  float s = 0;
  for (int j = 0; j < 4; j++) if (j < n) s += a[j];
  out[t] = s + a[(n - 1) & 3];
}
extern "C" __global__ void local_used(float* out, int n) {
  float a[4];
  int t = threadIdx.x;
  for (int i = 0; i < n; i++) a[i & 3] = i * 2.f;
  out[t] = a[0] + a[1] + a[2] + a[3] * 2;
}
extern "C" __global__ void copied(float* out, int n) {   // taint goes through memory
  float a[4], b[4];
  for (int i = 0; i < n; i++) a[i & 3] = i;
  for (int i = 0; i < 4; i++) b[(i + n) & 3] = a[i];
  out[threadIdx.x] = b[n & 3];
  if (b[(n + 3) & 3] > 2)
    out[threadIdx.x] = 5;
})");
  const auto out = kit.Make<float>("out", 64, false);
  ASSERT_TRUE(kit.Run("shared", {1, 1, 1}, {64, 1, 1}, 0, out, 3)) << kit.fault.message;
  EXPECT_EQ(out[63], 1);
  ASSERT_TRUE(kit.Run("shared", {1, 1, 1}, {64, 1, 1}, 0, out, 4)) << kit.fault.message;
  EXPECT_EQ(out[63], 4);
  for (int n : {1, 2, 3, 4}) {
    ASSERT_TRUE(kit.Run("local", {1, 1, 1}, {64, 1, 1}, 0, out, n)) << n << kit.fault.message;
    EXPECT_EQ(out[9], static_cast<float>(n * (n - 1) + 2 * (n - 1)));
  }
  ASSERT_TRUE(kit.Run("local_used", {1, 1, 1}, {64, 1, 1}, 0, out, 4)) << kit.fault.message;
  ASSERT_FALSE(kit.Run("local_used", {1, 1, 1}, {64, 1, 1}, 0, out, 3));
  EXPECT_EQ(kit.fault.kind, Kind::kUninitializedRead);
  EXPECT_EQ(kit.fault.line, 21);
  ASSERT_TRUE(kit.Run("copied", {1, 1, 1}, {64, 1, 1}, 0, out, 4)) << kit.fault.message;
  ASSERT_FALSE(kit.Run("copied", {1, 1, 1}, {64, 1, 1}, 0, out, 2));
  EXPECT_EQ(kit.fault.kind, Kind::kUninitializedRead);
  EXPECT_NE(kit.fault.message.find("local memory"), std::string::npos);
}

}  // namespace
}  // namespace warpwright::sim
