// Products of matrices on tensor cores, and what moves their fragments.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "tests/support/matrix_table.h"
#include "tests/support/sim_kit.h"

namespace warpwright::sim {
namespace {

using Kind = core::Fault::Kind;

std::vector<uint32_t> RunCase(size_t index, const std::vector<uint32_t>& inputs) {
  const MatrixCase& c = MatrixTable()[index];
  SimKit kit(MatrixModule(index));
  const auto in = kit.Make<uint32_t>("in", inputs, true);
  const size_t trials = inputs.size() / (c.inputs.size() * 32);
  const auto out = kit.Make<uint32_t>("out", static_cast<size_t>(c.outputs) * 32 * trials, false);
  EXPECT_TRUE(kit.Run(MatrixKernel(index), {static_cast<uint32_t>(trials), 1, 1}, {32, 1, 1}, 0, out, in))
      << c.name << ": " << kit.fault.message;
  return {out.data, out.data + out.size};
}

size_t IndexOf(const std::string& name) {
  for (size_t i = 0; i < MatrixTable().size(); ++i)
    if (MatrixTable()[i].name == name) return i;
  ADD_FAILURE() << name;
  return 0;
}

TEST(Matrix, EveryCaseRuns) {
  for (size_t i = 0; i < MatrixTable().size(); ++i) RunCase(i, MatrixInputs(MatrixTable()[i]));
}

// A number of a wmma case's matrix in memory.
double Element(const uint32_t* words, char letter, bool is_signed, int bytes, int index) {
  uint32_t bits = 0;
  std::memcpy(&bits, reinterpret_cast<const std::byte*>(words) + index * bytes, static_cast<size_t>(bytes));
  if (letter == 'i' && bytes == 4) return static_cast<int32_t>(bits);
  if (letter == 'i') return is_signed ? static_cast<int8_t>(bits) : static_cast<double>(bits);
  if (letter == 'b') bits <<= 16;
  if (letter != 'h') return std::bit_cast<float>(bits);
  const int exponent = static_cast<int>(bits >> 10 & 31);
  return (bits >> 15 ? -1 : 1) *
         std::ldexp((exponent ? 1024 : 0) + static_cast<int>(bits & 1023), std::max(exponent, 1) - 25);
}

// What fits is exact, in every shape and layout: trials of small numbers.
TEST(Matrix, WmmaComputesProducts) {
  const struct {
    const char *name, *a, *b, *d;
    char letter;
    bool is_signed;
    int m, n, k;
  } cases[] = {{"wmma m16n16k16 row.row.row f32.f16", "row", "row", "row", 'h', true, 16, 16, 16},
               {"wmma m16n16k16 col.col.col f32.f16", "col", "col", "col", 'h', true, 16, 16, 16},
               {"wmma m8n32k16 row.col.row f32.f16", "row", "col", "row", 'h', true, 8, 32, 16},
               {"wmma m8n32k16 col.row.col f32.f16", "col", "row", "col", 'h', true, 8, 32, 16},
               {"wmma m32n8k16 row.col.row f32.f16", "row", "col", "row", 'h', true, 32, 8, 16},
               {"wmma m32n8k16 col.row.col f32.f16", "col", "row", "col", 'h', true, 32, 8, 16},
               {"wmma m16n16k16 col.row.col f32.bf16", "col", "row", "col", 'b', true, 16, 16, 16},
               {"wmma m8n32k16 row.col.row f32.bf16", "row", "col", "row", 'b', true, 8, 32, 16},
               {"wmma m32n8k16 row.col.row f32.bf16", "row", "col", "row", 'b', true, 32, 8, 16},
               {"wmma m16n16k8 row.col.row f32.tf32", "row", "col", "row", 's', true, 16, 16, 8},
               {"wmma m16n16k8 col.row.col f32.tf32", "col", "row", "col", 's', true, 16, 16, 8},
               {"wmma m16n16k16 col.row.col s32.s8", "col", "row", "col", 'i', true, 16, 16, 16},
               {"wmma m8n32k16 row.col.row s32.s8", "row", "col", "row", 'i', true, 8, 32, 16},
               {"wmma m32n8k16 row.col.row s32.u8", "row", "col", "row", 'i', false, 32, 8, 16}};
  for (const auto& w : cases) {
    const size_t index = IndexOf(w.name);
    const MatrixCase& c = MatrixTable()[index];
    const std::vector<uint32_t> inputs = MatrixInputs(c), outputs = RunCase(index, inputs);
    const size_t words = c.inputs.size() * 32;
    const int bytes = w.letter == 'i' ? 1 : w.letter == 's' ? 4 : 2;
    const uint32_t* a = inputs.data() + 6 * words;  // the first trial of the seventh kind
    const uint32_t* b = a + w.m * w.k * bytes / 4;
    const uint32_t* e = b + w.k * w.n * bytes / 4;
    const uint32_t* d = outputs.data() + 6 * static_cast<size_t>(c.outputs) * 32;
    const auto at = [](const char* layout, int row, int column, int rows, int columns) {
      return layout[0] == 'r' ? row * columns + column : column * rows + row;
    };
    const char sum = w.letter == 'i' ? 'i' : 's';
    for (int row = 0; row < w.m; ++row)
      for (int column = 0; column < w.n; ++column) {
        const int place = at(w.d, row, column, w.m, w.n);
        double expected = Element(e, sum, true, 4, place);
        for (int k = 0; k < w.k; ++k)
          expected += Element(a, w.letter, w.is_signed, bytes, at(w.a, row, k, w.m, w.k)) *
                      Element(b, w.letter, w.is_signed, bytes, at(w.b, k, column, w.k, w.n));
        if (sum == 'i') expected = static_cast<int32_t>(static_cast<uint32_t>(static_cast<int64_t>(expected)));
        ASSERT_EQ(Element(d, sum, true, 4, place), expected) << c.name << " " << row << ", " << column;
      }
  }
}

// One element: row 0 of A is in the first two words of lanes 0 to 3, column 0 of B in those of lanes 0 to 3.
struct OneSum {
  std::vector<float> a, b;
  float c;
  uint32_t expected;
};
uint32_t HalfBits(float v) {  // of powers of two
  const int exponent = std::ilogb(v);
  return (v < 0 ? 0x8000u : 0) | static_cast<uint32_t>(exponent + 15) << 10;
}

TEST(Matrix, TermsAreCutOffTwentyFiveBitsBelowTheLargest) {
  const auto ulp = [](int k) { return std::ldexp(1.0f, k); };
  const OneSum sums[] = {
      {{1}, {1}, 1, 0x40000000},
      {{ulp(-12)}, {ulp(-13)}, 1, 0x3f800000},                       // 2^-25 is kept, then cut off
      {{ulp(-12), ulp(-12)}, {ulp(-12), -ulp(-12)}, 1, 0x3f800000},  // they cancel exactly
      {{ulp(-12), ulp(-12)}, {ulp(-12), ulp(-12)}, 1, 0x3f800001},   // 2^-23 together
      {{ulp(-12), ulp(-12), ulp(-12), ulp(-12)}, {ulp(-13), ulp(-13), ulp(-13), ulp(-13)}, 1, 0x3f800001},
      {{ulp(-13), ulp(-13), ulp(-13), ulp(-13)},
       {ulp(-13), ulp(-13), ulp(-13), ulp(-13)},
       1,
       0x3f800000},                              // 2^-26: lost
      {{-ulp(-12)}, {ulp(-13)}, 1, 0x3f7fffff},  // towards zero
      {{-ulp(-13)}, {ulp(-13)}, 1, 0x3f800000},
      {{1, -1}, {1, 1}, std::ldexp(1.0f, -30), 0},  // C is lost as well
  };
  const size_t index = IndexOf("mma m16n8k16 f32.f16.f16.f32");
  for (const OneSum& sum : sums) {
    std::vector<uint32_t> inputs(10 * 32);
    for (size_t k = 0; k < sum.a.size(); ++k) {
      const size_t lane = k / 2 % 4, shift = 16 * (k % 2);
      inputs[lane] |= HalfBits(sum.a[k]) << shift;
      inputs[4 * 32 + lane] |= HalfBits(sum.b[k]) << shift;
    }
    inputs[6 * 32] = std::bit_cast<uint32_t>(sum.c);
    const std::vector<uint32_t> outputs = RunCase(index, inputs);
    EXPECT_EQ(outputs[0], sum.expected) << std::hex << outputs[0] << " instead of " << sum.expected;
  }
}

TEST(Matrix, MovesAreInverse) {
  for (const char* form : {"x1", "x2", "x4", "x1.trans", "x2.trans", "x4.trans"}) {
    const size_t load = IndexOf(std::string("ldmatrix.") + form), store = IndexOf(std::string("stmatrix.") + form);
    const std::vector<uint32_t> inputs = MatrixInputs(MatrixTable()[load]);
    EXPECT_EQ(RunCase(store, RunCase(load, inputs)), inputs) << form;
  }
  const size_t turn = IndexOf("movmatrix"), plain = IndexOf("ldmatrix.x1"), turned = IndexOf("ldmatrix.x1.trans");
  const std::vector<uint32_t> inputs = MatrixInputs(MatrixTable()[plain]);
  EXPECT_EQ(RunCase(turn, RunCase(plain, inputs)), RunCase(turned, inputs));
}

constexpr const char* kMisuse = R"(
__device__ unsigned address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void load(unsigned (&r)[4], unsigned p) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(p));
}
__device__ void product(float (&d)[4], const unsigned (&a)[4], unsigned b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%8}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b));
}
extern "C" __global__ void divergent(float* out) {
  float d[4] = {}; unsigned a[4] = {};
  if (threadIdx.x < 16) product(d, a, 0);
  out[threadIdx.x] = d[0];
}
extern "C" __global__ void misaligned(unsigned* out) {
  __shared__ __align__(16) unsigned tile[160]; unsigned r[4];
  for (int i = threadIdx.x; i < 160; i += 32) tile[i] = i;
  __syncthreads();
  load(r, address(tile) + 16 * threadIdx.x + 8);
  out[threadIdx.x] = r[0];
}
extern "C" __global__ void past(unsigned* out) {
  __shared__ __align__(16) unsigned tile[128]; unsigned r[4];
  for (int i = threadIdx.x; i < 128; i += 32) tile[i] = i;
  __syncthreads();
  load(r, address(tile) + 16 * threadIdx.x + 16);
  out[threadIdx.x] = r[0];
}
extern "C" __global__ void racing(unsigned* out) {
  __shared__ __align__(16) unsigned tile[128]; unsigned r[4];
  for (int i = 0; i < 4; ++i) tile[threadIdx.x + 32 * i] = i;
  load(r, address(tile) + 16 * threadIdx.x);
  out[threadIdx.x] = r[0];
}
extern "C" __global__ void unwritten(float* out) {
  __shared__ __align__(16) unsigned tile[128]; unsigned r[4]; float d[4] = {};
  if (threadIdx.x != 20) for (int i = 0; i < 4; ++i) tile[4 * threadIdx.x + i] = i;
  __syncthreads();
  load(r, address(tile) + 16 * threadIdx.x);
  product(d, r, 0);
  if (threadIdx.x / 4 == 4) out[threadIdx.x] = d[0];
}
extern "C" __global__ void unwritten_but_unused(float* out) {  // row 4 of the product
  __shared__ __align__(16) unsigned tile[128]; unsigned r[4]; float d[4] = {};
  if (threadIdx.x != 20) for (int i = 0; i < 4; ++i) tile[4 * threadIdx.x + i] = i;
  __syncthreads();
  load(r, address(tile) + 16 * threadIdx.x);
  product(d, r, 0);
  if (threadIdx.x / 4 != 4) out[threadIdx.x] = d[0];
}
)";

TEST(Matrix, MisuseIsReported) {
  SimKit kit = SimKit::FromCuda(kMisuse);
  const struct {
    const char* kernel;
    Kind kind;
    const char* message;
  } cases[] = {{"divergent", Kind::kInactiveShuffle, "mma.sync waits for lanes 0xffff0000"},
               {"misaligned", Kind::kMisaligned, "misaligned read of 16 bytes at tile"},
               {"past", Kind::kOutOfBounds, "out-of-bounds read of 16 bytes at tile"},
               {"racing", Kind::kSharedRace, "race on shared memory: a read of tile"},
               {"unwritten", Kind::kUninitializedRead, "read of tile"}};
  for (const auto& c : cases) {
    const auto out = kit.Make<uint32_t>("out", 32, false);
    ASSERT_FALSE(kit.Run(c.kernel, {1, 1, 1}, {32, 1, 1}, 0, out)) << c.kernel;
    EXPECT_EQ(kit.fault.kind, c.kind) << c.kernel << ": " << kit.fault.message;
    EXPECT_TRUE(kit.fault.message.starts_with(c.message)) << kit.fault.message;
  }
  const auto out = kit.Make<uint32_t>("out", 32, false);
  EXPECT_TRUE(kit.Run("unwritten_but_unused", {1, 1, 1}, {32, 1, 1}, 0, out)) << kit.fault.message;
}

// Rows of 128 bytes meet in four banks; 16 more bytes spread them over all.
TEST(Matrix, CountsProductsAndBankConflicts) {
  SimKit kit = SimKit::FromCuda(R"(
template <int kPitch> __device__ void fragments(float* out) {
  __shared__ __align__(16) unsigned char tile[32 * kPitch];
  for (int i = threadIdx.x; i < 8 * kPitch; i += 32) ((unsigned*)tile)[i] = 0;
  __syncwarp();
  unsigned r[4], p = (unsigned)__cvta_generic_to_shared(tile) + threadIdx.x * kPitch;
  float d[4] = {};
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(p));
  for (int k = 0; k < 10; ++k)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%4,%5}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]));
  out[threadIdx.x] = d[0];
}
extern "C" __global__ void meeting(float* out) { fragments<128>(out); }
extern "C" __global__ void spread(float* out) { fragments<144>(out); }
)");
  for (const auto& [kernel, conflicts] : {std::pair<const char*, uint64_t>{"meeting", 28}, {"spread", 0}}) {
    const auto out = kit.Make<float>("out", 32, false);
    ASSERT_TRUE(kit.Run(kernel, {1, 1, 1}, {32, 1, 1}, 0, out)) << kit.fault.message;
    EXPECT_EQ(kit.counters.shared_bank_conflicts, conflicts) << kernel;
    EXPECT_EQ(kit.counters.flops_tensor, 10u * 2 * 16 * 8 * 16) << kernel;
    EXPECT_EQ(kit.counters.warp_instructions_by_class[static_cast<int>(core::InstructionClass::kTensor)], 10u);
  }
}

}  // namespace
}  // namespace warpwright::sim
