// If-conversion changes nothing that a kernel computes, and takes the branches that it should.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "sim/instruction.h"
#include "tests/support/branchy_kernel.h"
#include "tests/support/sim_kit.h"

namespace warpwright::sim {
namespace {

constexpr const char* kKernel = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a) {
  .reg .pred %p<4>;
  .reg .b32 %r<9>;
  .reg .b64 %a;
  ld.param.u64 %a, [a];
  mov.u32 %r0, %tid.x;
  setp.gt.s32 %p0, %r0, 5;
  setp.gt.s32 %p1, %r0, 9;
)";

std::set<uint32_t> Branches(const Program& program) {
  std::set<uint32_t> branches;
  for (const Instruction& in : program.code().kernels[0].code)
    if (in.branch != kNoBranch) branches.insert(in.branch);
  return branches;
}

DecodeOptions Convert(std::set<uint32_t> branches) {
  DecodeOptions options;
  options.converted["k"] = std::move(branches);
  return options;
}

TEST(IfConvert, TakesTheBranchesThatItCan) {
  struct Case {
    const char* what;
    const char* body;
    std::set<uint32_t> asked, left;
  };
  const Case cases[] = {
      {"nothing asked", "@%p0 bra A; mov.u32 %r1, 1; A: st.global.u32 [%a], %r1;", {}, {0}},
      {"if", "@%p0 bra A; mov.u32 %r1, 1; A: st.global.u32 [%a], %r1;", {0}, {}},
      {"one of two",
       "@%p0 bra A; mov.u32 %r1, 1; A: @%p1 bra B; mov.u32 %r1, 2; B: st.global.u32 [%a], %r1;",
       {1},
       {0}},
      {"nested ones come along", "@%p0 bra A; @%p1 bra A; mov.u32 %r1, 1; A: st.global.u32 [%a], %r1;", {0}, {}},
      {"the inner one alone",
       "@%p0 bra A; @%p1 bra B; mov.u32 %r1, 1; B: add.u32 %r1, %r1, 1; A: st.global.u32 [%a], %r1;",
       {1},
       {0}},
      {"into the middle: with the outer one",
       "@%p0 bra B; @%p1 bra A; B: mov.u32 %r1, 1; A: st.global.u32 [%a], %r1;",
       {1},
       {}},
      {"a return", "@%p0 ret; @%p1 bra A; st.global.u32 [%a], %r0; A: ret;", {0, 1}, {}},
      {"a loop", "A: add.s32 %r0, %r0, 1; setp.lt.s32 %p2, %r0, 40; @%p2 bra A;", {0}, {0}},
      {"around a loop",
       "@%p0 bra B; A: add.s32 %r0, %r0, 1; setp.lt.s32 %p2, %r0, 40; @%p2 bra A; B: st.global.u32 [%a], %r0;",
       {0, 1},
       {0, 1}},
      {"a barrier", "@%p0 bra A; bar.sync 0; A: st.global.u32 [%a], %r0;", {0}, {0}},
      {"a shuffle", "@%p0 bra A; shfl.sync.idx.b32 %r1, %r0, 0, 31, -1; A: st.global.u32 [%a], %r0;", {0}, {0}},
      {"a trap", "@%p0 bra A; trap; A: st.global.u32 [%a], %r0;", {0}, {0}},
      {"a barrier after a return", "@%p0 ret; bar.sync 0;", {0}, {0}},
      {"a volatile load", "@%p0 bra A; ld.volatile.global.u32 %r1, [%a]; A: st.global.u32 [%a], %r1;", {0}, {0}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const auto program = DecodePtx(std::string(kKernel) + c.body + " ret; }", Convert(c.asked));
    ASSERT_TRUE(program) << program.error().Format();
    EXPECT_EQ(Branches(*program), c.left);
  }
}

// What does not run does not fault, and changes nothing.
TEST(IfConvert, GuardsAccesses) {
  const std::string ptx = std::string(kKernel) + R"(
  @%p0 bra END;
  mul.wide.u32 %a, %r0, 4;
  ld.param.u64 %a, [a];
  .reg .b64 %b;
  mul.wide.u32 %b, %r0, 4;
  add.u64 %a, %a, %b;
  ld.global.u32 %r1, [%a];
  add.u32 %r1, %r1, 100;
  st.global.u32 [%a], %r1;
  atom.global.add.u32 %r2, [%a], 1000;
END:
  ret; })";
  SimKit kit(ptx, Convert({0}));
  EXPECT_TRUE(Branches(kit.program()).empty());
  auto data = kit.Make<uint32_t>("data", {1, 2, 3, 4, 5, 6});  // six: thread 6 and later have none
  ASSERT_TRUE(kit.Run("k", {1}, {32}, 0, data)) << kit.fault.message;
  for (uint32_t i = 0; i < 6; ++i) EXPECT_EQ(data[i], i + 1101);
}

TEST(IfConvert, RandomKernelsComputeTheSame) {
  constexpr uint32_t kThreads = 64, kCount = kThreads * BranchyKernel::kPerThread;
  size_t before = 0, after = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const std::string ptx = BranchyKernel(seed).Ptx();
    std::mt19937 random(seed);
    std::vector<float> in(kCount), out(kCount);
    for (float& v : in) v = static_cast<float>(static_cast<int>(random() % 9) - 4) * 0.75f;
    for (float& v : out) v = static_cast<float>(random() % 100);
    struct Results {
      std::vector<float> out;
      std::vector<int32_t> count;
      std::set<uint32_t> branches;
    };
    const auto run = [&](const DecodeOptions& options) {
      SimKit kit(ptx, options);
      auto a = kit.Make<float>("in", in);
      auto b = kit.Make<float>("out", out);
      auto c = kit.Make<int32_t>("count", BranchyKernel::kCounts);
      EXPECT_TRUE(kit.Run("k", {2}, {kThreads / 2}, 0, a, b, c)) << kit.fault.message;
      return Results{{b.data, b.data + b.size}, {c.data, c.data + c.size}, Branches(kit.program())};
    };
    const Results plain = run({});
    std::set<uint32_t> some;
    for (const uint32_t branch : plain.branches)
      if (seed % 3 != 0 || random() % 2 == 0) some.insert(branch);
    const Results converted = run(Convert(some));
    before += some.size();
    for (const uint32_t branch : some) after += converted.branches.count(branch);
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): the bits, of NaN and -0 too
    EXPECT_EQ(std::memcmp(plain.out.data(), converted.out.data(), 4 * kCount), 0);
    EXPECT_EQ(plain.count, converted.count);
  }
  EXPECT_GT(before, 1000u);
  EXPECT_LT(after * 50, before);  // what is out of bounds for a large region
}

}  // namespace
}  // namespace warpwright::sim
