#include <gtest/gtest.h>

#include <random>

#include "sim/instruction.h"
#include "tests/support/sim_kit.h"

namespace warpwright::sim {
namespace {

const std::string kHead = ".version 8.0\n.target sm_90\n.address_size 64\n";

std::string Kernel(const std::string& body) {
  return kHead + ".visible .entry k(.param .u64 out)\n{\n" + body + "\nret;\n}\n";
}

TEST(Decode, MalformedTextIsAnErrorWithItsLine) {
  const struct {
    std::string text, message;
    int line;
  } cases[] = {{"hello", "directive", 1},
               {kHead + ".visible .entry k(.param .u64 p) {\n.reg .b32 %r<3>;\nadd.s32 %r1, %r2", "", 6},
               {kHead + ".global .align 3 .b8 x;", "alignment", 4},
               {kHead + ".visible .entry k() {\n.reg .b32 %r<4294967295>;\n}", "too many registers", 5},
               {kHead + ".global .b8 x[99999999999];", "too large", 4},
               {kHead + "/* open", "comment", 4},
               {kHead + ".address_size 32", "64-bit", 4},
               {kHead + ".visible .entry k() { @%p1 bra L; }", "predicate", 4},
               {kHead + ".visible .entry k() { mov.f32 %f1, 0f12; }", "8 digits", 4}};
  for (const auto& c : cases) {
    const auto program = DecodePtx(c.text);
    ASSERT_FALSE(program.has_value()) << c.text;
    EXPECT_NE(program.error().message.find(c.message), std::string::npos) << program.error().message;
    EXPECT_EQ(program.error().line, c.line) << program.error().message;
  }
}

TEST(Decode, UnknownInstructionsStopOnlyWhenReached) {
  const char* forms[] = {
      "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%r1,%r1,%r1,%r1}, %rd1, %rd1, 1, 1, 1;",
      ("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r1,%r1,%r1,%r1}, {%r1,%r1,%r1,%r1}, "
       "{%r1,%r1}, {%r1,%r1,%r1,%r1};"),
      ("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%r1,%r1,%r1,%r1}, {%r1,%r1,%r1,%r1}, "
       "{%r1,%r1}, {%r1,%r1,%r1,%r1};"),
      "wmma.load.a.sync.aligned.row.m16n16k8.shared.f16 {%r1,%r1,%r1,%r1}, [%rd1];",
      "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1}, [%rd1];",
      "cp.async.bulk.commit_group;",
      "tex.2d.v4.f32.f32 {%r1,%r1,%r1,%r1}, [x, {%r1,%r1}];",
      "add.strange.s32 %r1, %r1, %r1;",
      "add.s32 %r1, %rd1, %r1;",
      "add.s32 %r1, %r1;",
      "ld.global.u32 %rd1, %r1;",
      "brx.idx %r1, ts;",
      "call (%r1), %rd1, (), proto;",
      "alloca.u64 %rd1, %rd1;"};
  for (const char* form : forms) {
    const std::string text = Kernel(
        ".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<3>;\nsetp.ne.u32 %p1, %r1, %r1;\n@%p1 bra BAD;\nbra "
        "END;\nBAD:\n" +
        std::string(form) + "\nEND:");
    SimKit unreached(text);
    EXPECT_TRUE(unreached.Run("k", {1, 1, 1}, {32, 1, 1}, 0, uint64_t{0})) << form << unreached.fault.message;
    SimKit reached(Kernel(".reg .b32 %r<4>; .reg .b64 %rd<4>;\n" + std::string(form)));
    EXPECT_FALSE(reached.Run("k", {1, 1, 1}, {32, 1, 1}, 0, uint64_t{0})) << form;
    EXPECT_EQ(reached.fault.kind, core::Fault::Kind::kNotSimulated) << form;
    const std::string opcode = std::string(form).substr(0, std::string(form).find_first_of(" ;"));
    EXPECT_NE(reached.fault.message.find("not simulated: " + opcode), std::string::npos) << reached.fault.message;
    EXPECT_NE(reached.fault.message.find("line 7"), std::string::npos) << reached.fault.message;
  }
}

TEST(Decode, ReadsVariablesAndKernelInfo) {
  const auto program = DecodePtx(kHead + R"(
.const .align 4 .b8 table[8] = {1, 0, 0, 0, 2};
.global .align 8 .u64 names[2] = {generic(text), text+1};
.global .align 1 .b8 text[3] = {104, 105};
.global .f32 values[2] = {0f3F800000, 2.5};
.visible .entry k(.param .u32 a, .param .align 8 .b8 s[24], .param .u8 c) .maxntid 128, 2, 1
{ .shared .align 4 .b8 tile[100]; .local .align 16 .b8 depot[40]; .reg .b64 %rd<3>; mov.u64 %rd1, tile; mov.u64 %rd2, depot; ret; })");
  ASSERT_TRUE(program.has_value()) << program.error().Format();
  const auto& variables = program->variables();
  ASSERT_EQ(variables.size(), 4u);
  EXPECT_TRUE(variables[0].constant);
  EXPECT_EQ(variables[0].bytes, 8u);
  EXPECT_EQ(variables[0].initial.size(), 5u);
  ASSERT_EQ(variables[1].pointers.size(), 2u);
  EXPECT_EQ(variables[1].pointers[1].addend, 1);
  EXPECT_EQ(variables[1].pointers[1].variable, 2u);
  float second;
  std::memcpy(&second, variables[3].initial.data() + 4, 4);
  EXPECT_EQ(second, 2.5f);
  const KernelInfo* info = program->Find("k");
  ASSERT_NE(info, nullptr);
  ASSERT_EQ(info->parameters.size(), 3u);
  EXPECT_EQ(info->parameters[1].offset, 8u);
  EXPECT_EQ(info->parameters[2].offset, 32u);
  EXPECT_EQ(info->parameter_bytes, 33u);
  EXPECT_EQ(info->static_shared_bytes, 100u);
  EXPECT_EQ(info->local_bytes, 48u);
  EXPECT_EQ(info->max_threads_per_block, 256u);
  EXPECT_FALSE(info->uses_global_atomics);
}

TEST(Decode, ScopesHideNamesAndLabels) {
  SimKit kit(Kernel(R"(.reg .b32 a; .reg .b64 p; .reg .pred q;
mov.u32 a, 1;
{ .reg .b32 a; mov.u32 a, 5; setp.eq.u32 q, a, 5; @q bra L; mov.u32 a, 6; L: }
{ .reg .b64 a; mov.u64 a, 7; bra L; L: }
ld.param.u64 p, [out]; st.global.u32 [p], a;)"));
  const auto out = kit.Make<uint32_t>("out", 1);
  ASSERT_TRUE(kit.Run("k", {1, 1, 1}, {1, 1, 1}, 0, out)) << kit.fault.message;
  EXPECT_EQ(out[0], 1u);
}

TEST(Decode, SlotsOfOverlappingLivesDiffer) {
  // 200 values that are live simultaneously, and a loop that keeps one of them across it.
  std::string body = ".reg .b32 %r<300>; .reg .b64 %rd<3>; .reg .pred %p<2>;\nmov.u32 %r250, %tid.x;\n";
  for (int i = 0; i < 200; ++i) body += "add.u32 %r" + std::to_string(i) + ", %r250, " + std::to_string(i * 3) + ";\n";
  body +=
      "mov.u32 %r251, 0; mov.u32 %r252, 0;\nLOOP:\nadd.u32 %r252, %r252, %r7; add.u32 %r251, %r251, 1; setp.lt.u32 "
      "%p1, %r251, 10; @%p1 bra LOOP;\n";
  for (int i = 0; i < 200; ++i) body += "add.u32 %r252, %r252, %r" + std::to_string(i) + ";\n";
  body +=
      "ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r250, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r252;";
  SimKit kit(Kernel(body));
  const auto out = kit.Make<uint32_t>("out", 64);
  ASSERT_TRUE(kit.Run("k", {1, 1, 1}, {64, 1, 1}, 0, out)) << kit.fault.message;
  for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], 10 * (t + 21) + 200 * t + 3 * 199 * 100);
}

// A small fuzzer: mutated bytes and tokens of real PTX; decoding and running must end without a crash.
TEST(Decode, SurvivesMutations) {
  const std::string seed = CompileToPtx(R"(
#include <cuda_fp16.h>
__constant__ float table[4] = {1, 2, 3, 4};
__device__ __noinline__ float helper(float a, int* b) { return a * *b + table[*b & 3]; }
extern "C" __global__ void k(float* out, int n) {
  __shared__ float tile[64];
  int i = threadIdx.x, local[4] = {i, n, 2, 3};
  tile[i] = helper(i, &local[n & 3]);
  __syncthreads();
  float v = tile[63 - i] + __shfl_xor_sync(~0u, tile[i], 1);
  if (v > 3) atomicAdd(out, v); else printf("%d %f\n", i, v);
  out[i] = __half2float(__float2half(v));
})");
  std::mt19937 random(7);
  auto upto = [&](size_t n) { return static_cast<size_t>(random() % n); };
  int decoded = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string text = seed;
    for (size_t edits = 1 + upto(4); edits > 0; --edits) {
      const size_t at = upto(text.size()), length = 1 + upto(12);
      switch (upto(5)) {
        case 0: text[at] = static_cast<char>(random()); break;
        case 1: text.erase(at, length); break;
        case 2: text.insert(at, text.substr(upto(text.size()), length)); break;
        case 3: text.replace(at, length, text.substr(upto(text.size()), length)); break;
        default: text.insert(at, std::to_string(random())); break;
      }
      if (text.empty()) text = ".";
    }
    const auto program = DecodePtx(text);
    if (!program) continue;
    ++decoded;
    Memory memory;
    if (!memory.LoadModule(*program)) continue;
    const auto out = memory.Allocate("out", 256);
    std::vector<std::byte> parameters(64);
    std::memcpy(parameters.data(), &*out, 8);
    RunOptions options;
    options.instruction_limit = 50'000;
    for (const KernelInfo& kernel : program->kernels()) {
      if (kernel.parameter_bytes > parameters.size()) continue;
      auto machine =
          Machine::Create(*program, memory, Launch{kernel.symbol, {1, 1, 1}, {64, 1, 1}, 0, parameters}, options);
      if (machine) machine->Run(0, 1);
    }
  }
  EXPECT_GT(decoded, 150);
}

}  // namespace
}  // namespace warpwright::sim
