#include "sim/sim_device.h"

#include <numeric>
#include <optional>

#include "tests/unit/sim_model/run_kernel.h"

namespace warpwright {
namespace {

constexpr const char* kSource = R"(
extern "C" __global__ void scale(float* out, const float* in, int n, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * factor;
}
extern "C" __global__ void beyond(float* out, int at) { if (threadIdx.x == 0) out[at] = 1; }
extern "C" __global__ void count(unsigned* bins, const unsigned* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(bins + in[i] % 16, 1u);
}
extern "C" __global__ void last_one(unsigned* out, unsigned* ticket) {
  if (threadIdx.x == 0 && atomicAdd(ticket, 1u) == gridDim.x - 1) *out = blockIdx.x;
}
extern "C" __global__ void no_ticket(unsigned* out) { if (threadIdx.x == 0) *out = blockIdx.x; }
extern "C" __global__ void after_the_one_before(volatile unsigned* flags) {
  if (threadIdx.x == 0) {
    while (blockIdx.x > 0 && flags[blockIdx.x - 1] == 0) {}
    flags[blockIdx.x] = 1;
  }
}
__device__ unsigned calls, untouched = 3;
extern "C" __global__ void counting(unsigned* out) { if (threadIdx.x == 0) *out = ++calls * untouched; }
extern "C" __global__ void shared_sum(float* out, const float* in) {
  extern __shared__ float part[];
  part[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
extern "C" __global__ void __launch_bounds__(128) bounded(float* out) { out[threadIdx.x] = 1; }
extern "C" __global__ void forever(float* out) { while (((volatile float*)out)[0] >= 0) {} }
extern "C" __global__ void faulty_blocks(float* out, int n, int bad) {
  out[blockIdx.x >= bad ? n + blockIdx.x : blockIdx.x] = 1;
}
__constant__ float table[4];
namespace ns { __device__ float factor; }
extern "C" __global__ void use_symbols(float* out) { out[threadIdx.x] = table[threadIdx.x % 4] * ns::factor; }
extern "C" __global__ void chain(float* out, int workers, int rounds) {
  float x = threadIdx.x;
  if (threadIdx.x < workers)
    for (int i = 0; i < rounds; ++i) x = x * 0.5f + 1.0f;
  __syncthreads();
  out[threadIdx.x] = x;
}
extern "C" __global__ void add_floats(float* out, const float* in) { atomicAdd(out, in[blockIdx.x * blockDim.x + threadIdx.x]); }
extern "C" __global__ void add_ints(int* out, const int* in) { atomicAdd(out, in[blockIdx.x * blockDim.x + threadIdx.x]); }
extern "C" __global__ void __launch_bounds__(1024, 2) spilling(float* out, const float* in) {
  float x[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) x[i] = in[i * 1024 + threadIdx.x];
  for (int r = 0; r < 20; ++r)
#pragma unroll
    for (int i = 0; i < 64; ++i) x[i] = x[i] * x[(i * 7 + 3) % 64] + x[(i * 5 + 1) % 64];
  float s = 0;
#pragma unroll
  for (int i = 0; i < 64; ++i) s += x[i];
  out[threadIdx.x] = s;
}
struct Pair { float* to; int n; const float* from; };
extern "C" __global__ void by_value(Pair p) { if (threadIdx.x < p.n) p.to[threadIdx.x] = p.from[threadIdx.x]; }
extern "C" __global__ void column_sums(float* out, const float* in, int columns, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= columns) return;
  float total = 0;
  for (int r = 0; r < rows; ++r) total += in[r * columns + i];
  out[blockIdx.y * columns + i] = total;
}
)";

class SimDeviceTest : public testing::Test {
 protected:
  static const core::CompiledModule& Module() {
    static const core::CompiledModule module =
        CompileForTest(kSource,
                       {"scale", "column_sums", "beyond", "count", "last_one", "no_ticket", "after_the_one_before",
                        "counting", "shared_sum", "bounded", "forever", "faulty_blocks", "use_symbols", "by_value",
                        "chain", "add_floats", "add_ints", "spilling"},
                       "sm_90");
    return module;
  }
  static std::vector<float> Ramp(size_t n) {
    std::vector<float> values(n);
    std::iota(values.begin(), values.end(), 1.0f);
    return values;
  }
  static std::vector<std::byte> Zeros(size_t bytes) { return std::vector<std::byte>(bytes); }
  // out = 2 * in over n elements.
  static TestRun Scale(int n, uint32_t blocks) {
    TestRun run;
    const uint32_t out = run.Buffer("out", Zeros(n * 4), true), in = run.Buffer("in", ToBytes(Ramp(n)));
    run.Launch("scale", {blocks, 1, 1}, {256, 1, 1},
               {TestRun::Pointer(out), TestRun::Pointer(in), TestRun::Value(n), TestRun::Value(2.0f)});
    run.options.counters = true;
    return run;
  }

  std::unique_ptr<core::Device> device_ = sim::MakeSimDevice(*config::LoadChip("h200"), 2);
};

TEST_F(SimDeviceTest, TellsHowFarBuffersWereReached) {
  TestRun run;
  const uint32_t out = run.Buffer("out", Zeros(4000)), in = run.Buffer("in", Zeros(4000));
  const uint32_t bins = run.Buffer("bins", Zeros(4000)), untouched = run.Buffer("untouched", Zeros(40));
  run.contents[out].read_only = run.contents[bins].read_only = false;
  // out[0, 300) from in[0, 300); bins[0, 16) is memset, added to and read, but none of what was in it before.
  run.Launch("scale", {2, 1, 1}, {256, 1, 1},
             {TestRun::Pointer(out), TestRun::Pointer(in), TestRun::Value(300), TestRun::Value(2.0f)});
  run.plan.ops.push_back(core::MemsetOp{.destination = {bins, 0}, .unit = 4, .bytes = 64});
  run.Launch("count", {1, 1, 1}, {32, 1, 1}, {TestRun::Pointer(bins), TestRun::Pointer(out), TestRun::Value(20)});
  run.options.extents = true;
  const std::vector<core::BufferExtent> extents = run.MustRun(*device_, Module()).extents;
  ASSERT_EQ(extents.size(), 4u);
  EXPECT_EQ(extents[0].buffer, "out");
  EXPECT_EQ(extents[out].written_end, 1200u);
  EXPECT_EQ(extents[out].written_bytes, 1200u);
  EXPECT_EQ(extents[out].read_end, 80u);
  EXPECT_FALSE(extents[out].reads_initial) << "it is read after it was written";
  EXPECT_EQ(extents[in].read_end, 1200u);
  EXPECT_EQ(extents[in].written_end, 0u);
  EXPECT_TRUE(extents[in].reads_initial);
  EXPECT_EQ(extents[bins].written_end, 64u);
  EXPECT_EQ(extents[bins].read_bytes, 4u) << "all values fall into the first";
  EXPECT_FALSE(extents[bins].reads_initial);
  EXPECT_EQ(extents[untouched].read_end + extents[untouched].written_end, 0u);

  run.plan.ops.erase(run.plan.ops.begin() + 1);  // without the memset, the atomic adds to what was there
  EXPECT_TRUE(run.MustRun(*device_, Module()).extents[bins].reads_initial);
  run.options.extents = false;
  EXPECT_TRUE(run.MustRun(*device_, Module()).extents.empty());
}

TEST_F(SimDeviceTest, RunsAndReports) {
  TestRun run = Scale(100000, 391);
  const core::DeviceRun result = run.MustRun(*device_, Module());
  const std::vector<float> out = FromBytes<float>(result.buffers.at(0));
  for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], 2.0f * static_cast<float>(i + 1));
  ASSERT_EQ(result.launches.size(), 1u);
  const core::LaunchReport& report = result.launches[0];
  EXPECT_EQ(report.kernel, "scale");
  EXPECT_EQ(report.blocks_total, 391u);
  EXPECT_EQ(report.blocks_run, 391u);
  EXPECT_FALSE(result.sampled);
  EXPECT_EQ(report.counters.blocks, 391u);
  EXPECT_EQ(report.counters.warps, 391u * 8);
  EXPECT_EQ(report.counters.global_load_bytes, 400000u);
  EXPECT_EQ(report.counters.dram_read_bytes, 400000u);
  EXPECT_EQ(report.counters.dram_write_bytes, 400000u);
  EXPECT_EQ(report.counters.l2_read_bytes, 400000u);
  EXPECT_EQ(report.counters.flops_fp32, 100000u);
  EXPECT_GT(report.registers, 0);
  EXPECT_EQ(report.occupancy.blocks_per_multiprocessor, 8);
  EXPECT_GT(report.time.total_us, 2.9);
  EXPECT_LT(report.time.total_us, 6);
  EXPECT_DOUBLE_EQ(result.time_us, report.time.total_us);
  ASSERT_FALSE(report.lines.empty());
  EXPECT_EQ(report.lines[0].line, 4);
  EXPECT_EQ(report.lines[0].file, "test.cu");
}

TEST_F(SimDeviceTest, SameResultWhateverTheNumberOfThreads) {
  TestRun run = Scale(1000000, 3907);
  run.options.sample_instructions = 0;
  const core::DeviceRun reference = run.MustRun(*sim::MakeSimDevice(*config::LoadChip("h200"), 1), Module());
  for (int threads : {2, 3, 7}) {
    const core::DeviceRun other = run.MustRun(*sim::MakeSimDevice(*config::LoadChip("h200"), threads), Module());
    EXPECT_EQ(other.buffers, reference.buffers);
    EXPECT_EQ(other.launches[0].counters, reference.launches[0].counters);
    EXPECT_EQ(other.time_us, reference.time_us);
  }
}

TEST_F(SimDeviceTest, AtomicsAreOrdered) {
  TestRun run;
  std::vector<unsigned> in(10000);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<unsigned>(i * 7);
  const uint32_t bins = run.Buffer("bins", Zeros(64)), values = run.Buffer("in", ToBytes(in));
  run.contents[bins].read_only = false;
  run.Launch("count", {40, 1, 1}, {256, 1, 1},
             {TestRun::Pointer(bins), TestRun::Pointer(values), TestRun::Value(10000)});
  run.options.counters = true;
  const core::DeviceRun result = run.MustRun(*device_, Module());
  for (unsigned bin : FromBytes<unsigned>(result.buffers[0])) EXPECT_EQ(bin, 625u);
  EXPECT_GT(result.launches[0].time.atomic_us, 0);

  TestRun ticket;
  const uint32_t out = ticket.Buffer("out", Zeros(4), true), counter = ticket.Buffer("ticket", Zeros(4));
  ticket.contents[counter].read_only = false;
  ticket.Launch("last_one", {500, 1, 1}, {32, 1, 1}, {TestRun::Pointer(out), TestRun::Pointer(counter)});
  EXPECT_EQ(FromBytes<unsigned>(ticket.MustRun(*device_, Module()).buffers[0])[0], 499u);
}

TEST_F(SimDeviceTest, FurtherRunsShowWhatDependsOnTheOrderOfBlocks) {
  TestRun same = Scale(100000, 391);
  same.options.runs = 4;
  EXPECT_EQ(same.MustRun(*device_, Module()).differing_runs, 0u);
  for (const uint32_t blocks : {2u, 3u, 64u, 391u}) {
    TestRun race;
    const uint32_t out = race.Buffer("out", Zeros(4), true);
    race.Launch("no_ticket", {blocks, 1, 1}, {32, 1, 1}, {TestRun::Pointer(out)});
    race.options.runs = 3;
    const core::DeviceRun result = race.MustRun(*device_, Module());
    EXPECT_EQ(result.differing_runs, blocks > 2 ? 2u : 1u) << blocks;
    ASSERT_EQ(result.other_buffers.size(), 1u);
    EXPECT_NE(result.other_buffers, result.buffers);
  }
  // Every block runs once in every order: a sum by integer atomics does not change.
  TestRun sum;
  const uint32_t out = sum.Buffer("out", Zeros(4));
  sum.contents[out].read_only = false;
  const uint32_t in = sum.Buffer("in", ToBytes(std::vector<int>(64 * 32, 1)));
  sum.Launch("add_ints", {64, 1, 1}, {32, 1, 1}, {TestRun::Pointer(out), TestRun::Pointer(in)});
  sum.options.runs = 5;
  const core::DeviceRun summed = sum.MustRun(*device_, Module());
  EXPECT_EQ(summed.differing_runs, 0u);
  EXPECT_EQ(FromBytes<int>(summed.buffers.at(0)).at(0), 64 * 32);
}

TEST_F(SimDeviceTest, BlocksThatWaitForLowerOnesAreRunInTheirOrderAlone) {
  TestRun chain;
  const uint32_t flags = chain.Buffer("flags", Zeros(16 * 4));
  chain.contents[flags].read_only = false;
  chain.Launch("after_the_one_before", {16, 1, 1}, {32, 1, 1}, {TestRun::Pointer(flags)});
  chain.options.runs = 3;
  EXPECT_EQ(chain.MustRun(*sim::MakeSimDevice(*config::LoadChip("h200"), 1), Module()).differing_runs, 0u);
}

TEST_F(SimDeviceTest, StreamsThatNothingOrdersDoNotTouchTheSameBytes) {
  enum class Between { kNothing, kEvent, kDefaultStream };
  const struct {
    const char* second;  // behind "scale", which reads `in` and writes `out`
    Between between;
    const char* message;  // empty: no fault
  } cases[] = {
      {"scale", Between::kNothing, "scale and scale run on streams that nothing orders, and both touch byte 0 of out"},
      {"scale", Between::kEvent, ""},
      {"scale", Between::kDefaultStream, ""},
      {"other output", Between::kNothing, ""},
      {"memset", Between::kNothing,
       "scale and a memset run on streams that nothing orders, and both touch byte 128 of in"},
      {"memset", Between::kEvent, ""},
      {"add_ints", Between::kNothing, "touch byte 0 of out"}};
  for (const auto& c : cases) {
    TestRun run = Scale(64, 1);
    run.options.visibility = true;
    run.options.counters = false;
    const uint32_t other = run.Buffer("other", Zeros(256), true);
    std::get<core::KernelLaunch>(run.plan.ops.back()).stream = 1;
    if (c.between == Between::kEvent) {
      run.plan.ops.emplace_back(core::EventOp{core::EventOp::Kind::kRecord, 0, 1});
      run.plan.ops.emplace_back(core::EventOp{core::EventOp::Kind::kWait, 0, 2});
    }
    if (c.between == Between::kDefaultStream) run.plan.ops.emplace_back(core::MemsetOp{{other, 0}, 0, 1, 4});
    const std::string second = c.second;
    if (second == "memset") {
      run.plan.ops.emplace_back(core::MemsetOp{{1, 128}, 0, 1, 4, 2});
      run.contents[1].read_only = false;
    } else if (second == "add_ints") {
      run.Launch("add_ints", {1, 1, 1}, {32, 1, 1}, {TestRun::Pointer(0), TestRun::Pointer(1)});
    } else {
      run.Launch("scale", {1, 1, 1}, {256, 1, 1},
                 {TestRun::Pointer(second == "scale" ? 0 : other), TestRun::Pointer(1), TestRun::Value(64),
                  TestRun::Value(2.0f)});
    }
    if (second != "memset") std::get<core::KernelLaunch>(run.plan.ops.back()).stream = 2;
    if (*c.message == '\0') {
      run.MustRun(*device_, Module());
      continue;
    }
    const core::Fault fault = run.MustFault(*device_, Module());
    EXPECT_EQ(fault.kind, core::Fault::Kind::kNotVisible) << c.second;
    EXPECT_NE(fault.message.find(c.message), std::string::npos) << fault.message;
  }
  TestRun sums;  // in either order
  const uint32_t out = sums.Buffer("out", Zeros(4)), in = sums.Buffer("in", Zeros(128));
  sums.contents[out].read_only = false;
  sums.options.visibility = true;
  for (const uint32_t stream : {1u, 2u}) {
    sums.Launch("add_ints", {1, 1, 1}, {32, 1, 1}, {TestRun::Pointer(out), TestRun::Pointer(in)});
    std::get<core::KernelLaunch>(sums.plan.ops.back()).stream = stream;
  }
  sums.MustRun(*device_, Module());
}

TEST_F(SimDeviceTest, WhatOutlivesACallIsNamedByItsBytesAndForgotten) {
  const std::vector<core::ByteRange> counter = {{0, 4}}, lowest_byte = {{0, 1}};
  TestRun run;
  const uint32_t out = run.Buffer("out", Zeros(4), true);
  run.Launch("counting", {1, 1, 1}, {32, 1, 1}, {TestRun::Pointer(out)});
  for (int i = 0; i < 2; ++i) {
    const core::DeviceRun result = run.MustRun(*device_, Module());
    EXPECT_EQ(result.state,
              (std::vector<core::StateUse>{{"calls", true, counter, lowest_byte}, {"untouched", true, counter, {}}}));
    EXPECT_EQ(FromBytes<unsigned>(result.buffers.at(0)).at(0), 3u);
  }
  run.options.earlier_calls = 2;  // it counts them
  EXPECT_EQ(FromBytes<unsigned>(run.MustRun(*device_, Module()).buffers.at(0)).at(0), 9u);
  EXPECT_TRUE(Scale(100, 1).MustRun(*device_, Module()).state.empty());

  // A workspace that setup filled is such memory; one that every call fills is not.
  for (const bool filled : {false, true}) {
    TestRun tickets;
    const uint32_t last = tickets.Buffer("out", Zeros(4), true), ticket = tickets.Workspace(8);
    tickets.plan.setup.emplace_back(core::MemsetOp{{ticket, 0}, 0, 1, 4});
    if (!filled) std::swap(tickets.plan.setup, tickets.plan.ops);
    tickets.Launch("last_one", {5, 1, 1}, {32, 1, 1}, {TestRun::Pointer(last), TestRun::Pointer(ticket)});
    const core::DeviceRun result = tickets.MustRun(*device_, Module());
    ASSERT_EQ(result.state.size(), filled ? 1u : 0u);
    if (!filled) continue;
    EXPECT_FALSE(result.state[0].variable);
    EXPECT_EQ(result.state[0].inherited, counter);
    EXPECT_EQ(result.state[0].left, lowest_byte);
  }
}

TEST_F(SimDeviceTest, WithoutGuardsAccessesOutsideAreFaults) {
  for (int at : {1024, -1, -(1 << 20)}) {  // far beyond the end, variables of the module may lie
    TestRun run;
    const uint32_t out = run.Buffer("out", Zeros(4096), true);
    run.Launch("beyond", {1, 1, 1}, {32, 1, 1}, {TestRun::Pointer(out), TestRun::Value(at)});
    const core::Fault fault = run.MustFault(*device_, Module());
    EXPECT_EQ(fault.kind, core::Fault::Kind::kOutOfBounds) << at;
    EXPECT_EQ(fault.kernel, "beyond");
    EXPECT_EQ(fault.line, 6);
    EXPECT_NE(fault.message.find("out"), std::string::npos) << fault.message;
  }
}

TEST_F(SimDeviceTest, WithGuardsTheyAreFoundAfterwards) {
  struct Row {
    int at;
    int64_t offset;
  };
  for (const Row& row : {Row{1024, 4096}, Row{-2, -8}, Row{1030, 4120}}) {
    TestRun run;
    const uint32_t out = run.Buffer("out", Zeros(4096), true);
    run.Launch("beyond", {1, 1, 1}, {32, 1, 1}, {TestRun::Pointer(out), TestRun::Value(row.at)});
    run.options.guard_bytes = 4096;
    const core::DeviceRun result = run.MustRun(*device_, Module());
    ASSERT_EQ(result.guards.size(), 1u) << row.at;
    EXPECT_EQ(result.guards[0].buffer, "out");
    EXPECT_NEAR(static_cast<double>(result.guards[0].offset), static_cast<double>(row.offset),
                3);  // a byte may keep its value by chance
    EXPECT_GE(result.guards[0].bytes, 1u);
    EXPECT_LE(result.guards[0].bytes, 4u);
    EXPECT_EQ(result.buffers[0].size(), 4096u);
  }
  TestRun inside = Scale(1000, 4);
  inside.options.guard_bytes = 100;
  EXPECT_TRUE(inside.MustRun(*device_, Module()).guards.empty());
}

TEST_F(SimDeviceTest, ReadsOfWhatNobodyWroteAreFaults) {
  TestRun run;
  const uint32_t out = run.Buffer("out", Zeros(1024), true), work = run.Workspace(1024);
  run.Launch("scale", {1, 1, 1}, {256, 1, 1},
             {TestRun::Pointer(out), TestRun::Pointer(work), TestRun::Value(256), TestRun::Value(1.0f)});
  EXPECT_EQ(run.MustFault(*device_, Module()).kind, core::Fault::Kind::kUninitializedRead);
  run.plan.ops.insert(run.plan.ops.begin(), core::MemsetOp{{work, 0}, 0x3f800000, 4, 1024, 0});
  EXPECT_EQ(FromBytes<float>(run.MustRun(*device_, Module()).buffers[0]), std::vector<float>(256, 1.0f));
}

TEST_F(SimDeviceTest, WorkspacesArePoisonedBySeed) {
  TestRun run;
  const uint32_t out = run.Buffer("out", Zeros(1024), true), work = run.Workspace(1024);
  run.plan.ops.push_back(core::CopyOp{{out, 0}, {work, 0}, 1024, 0});
  const auto first = run.MustRun(*device_, Module()).buffers[0];
  EXPECT_EQ(run.MustRun(*device_, Module()).buffers[0], first);
  run.options.seed = 2;
  EXPECT_NE(run.MustRun(*device_, Module()).buffers[0], first);
}

TEST_F(SimDeviceTest, InputsAreReadOnly) {
  TestRun run;
  const uint32_t in = run.Buffer("in", Zeros(64));
  run.Launch("beyond", {1, 1, 1}, {32, 1, 1}, {TestRun::Pointer(in), TestRun::Value(0)});
  EXPECT_EQ(run.MustFault(*device_, Module()).kind, core::Fault::Kind::kReadOnlyWrite);
}

TEST_F(SimDeviceTest, OperationsOfThePlan) {
  TestRun run;
  const uint32_t out = run.Buffer("out", Zeros(64), true);
  std::vector<std::byte> uploaded(64, std::byte{7});
  run.plan.setup.push_back(core::SymbolUploadOp{"table", 0, ToBytes(std::vector<float>{1, 2, 3, 4}), 0});
  run.plan.setup.push_back(core::SymbolUploadOp{"ns::factor", 0, ToBytes(std::vector<float>{10}), 0});
  run.plan.ops.push_back(core::UploadOp{{out, 0}, uploaded, 0});
  run.plan.ops.push_back(core::EventOp{});
  run.Launch("use_symbols", {1, 1, 1}, {8, 1, 1}, {TestRun::Pointer(out, 16)});
  run.plan.ops.push_back(core::MemsetOp{{out, 48}, 0xa1b2, 2, 4, 0});
  const auto bytes = run.MustRun(*device_, Module()).buffers[0];
  EXPECT_EQ(bytes[15], std::byte{7});
  EXPECT_EQ(FromBytes<float>(bytes)[4], 10.0f);
  EXPECT_EQ(FromBytes<float>(bytes)[11], 40.0f);
  EXPECT_EQ(FromBytes<uint16_t>(bytes)[25], 0xa1b2);
  EXPECT_EQ(bytes[52], std::byte{7});
}

TEST_F(SimDeviceTest, CopiesBetweenBuffersAndVariables) {
  TestRun run;
  const uint32_t out = run.Buffer("out", Zeros(48), true), in = run.Buffer("in", ToBytes(Ramp(8))),
                 work = run.Workspace(64);
  run.plan.ops.push_back(core::CopyOp{{work, 16}, {in, 12}, 8, 0});  // 4, 5
  run.plan.ops.push_back(core::SymbolCopyOp{"table", 0, {in, 4}, 16, 0, true});
  run.plan.ops.push_back(core::SymbolCopyOp{"table", 8, {work, 16}, 8, 0, true});
  run.plan.ops.push_back(core::SymbolCopyOp{"ns::factor", 0, {in, 28}, 4, 0, true});
  run.plan.ops.push_back(core::SymbolCopyOp{"dropped", 0, {in, 0}, 4, 0, true});
  run.Launch("use_symbols", {1, 1, 1}, {4, 1, 1}, {TestRun::Pointer(out)});
  run.plan.ops.push_back(core::SymbolCopyOp{"table", 4, {out, 32}, 12, 0, false});
  run.options.counters = true;
  const core::DeviceRun result = run.MustRun(*device_, Module());
  EXPECT_EQ(FromBytes<float>(result.buffers[0]), (std::vector<float>{16, 24, 32, 40, 0, 0, 0, 0, 3, 4, 5, 0}));
  for (const core::StateUse& use : result.state) EXPECT_TRUE(use.inherited.empty()) << use.name;
  const double us = result.time_us;
  run.plan.ops.pop_back();
  EXPECT_LT(run.MustRun(*device_, Module()).time_us, us) << "a copy takes time";
  run.plan.ops.push_back(core::SymbolCopyOp{"dropped", 0, {out, 0}, 4, 0, false});
  EXPECT_NE(run.MustFault(*device_, Module()).message.find("'dropped'"), std::string::npos);
}

// A call that reads constant memory before it copies to it, or beyond what it copied, reads what the last one left.
TEST_F(SimDeviceTest, ConstantMemoryThatCallsLeaveIsTheirState) {
  const auto used = [&](bool early, uint64_t bytes) {
    TestRun run;
    const uint32_t out = run.Buffer("out", Zeros(16), true), in = run.Buffer("in", ToBytes(Ramp(8)));
    run.plan.setup.push_back(core::SymbolUploadOp{"ns::factor", 0, ToBytes(std::vector<float>{1}), 0});
    run.plan.ops.push_back(core::SymbolCopyOp{"table", 0, {in, 0}, bytes, 0, true});
    run.Launch("use_symbols", {1, 1, 1}, {4, 1, 1}, {TestRun::Pointer(out)});
    if (early) std::swap(run.plan.ops[0], run.plan.ops[1]);
    for (const core::StateUse& use : run.MustRun(*device_, Module()).state)
      if (use.name == "table") return use.inherited;
    return std::vector<core::ByteRange>();
  };
  EXPECT_EQ(used(false, 16), std::vector<core::ByteRange>());
  EXPECT_EQ(used(false, 12), (std::vector<core::ByteRange>{{12, 16}}));
  EXPECT_EQ(used(true, 16), (std::vector<core::ByteRange>{{0, 16}}));
}

// A content that is made where it is touched is made for copies.
TEST_F(SimDeviceTest, CopiesReadMoreThanThereIsRoomFor) {
  for (const bool variable : {false, true}) {
    TestRun run;
    const uint32_t out = run.Buffer("out", Zeros(16), true), in = run.Buffer("in", ToBytes(Ramp(8)));
    run.plan.buffers[in].bytes = run.contents[in].repeated_bytes = 96ull << 30;
    run.plan.setup.push_back(core::SymbolUploadOp{"ns::factor", 0, ToBytes(std::vector<float>{1}), 0});
    const core::DevicePointer from = {in, (64ll << 30) + 8};
    if (variable) run.plan.ops.push_back(core::SymbolCopyOp{"table", 0, from, 16, 0, true});
    else run.plan.ops.push_back(core::CopyOp{{out, 0}, from, 16, 0});
    if (variable) run.Launch("use_symbols", {1, 1, 1}, {4, 1, 1}, {TestRun::Pointer(out)});
    EXPECT_EQ(FromBytes<float>(run.MustRun(*device_, Module()).buffers[0]), (std::vector<float>{3, 4, 5, 6}));
  }
}

// Also where all of the destination had values.
TEST_F(SimDeviceTest, CopiesReadWhatEarlierCallsLeft) {
  for (const bool variable : {false, true}) {
    TestRun run;
    const uint32_t out = run.Buffer("out", Zeros(16), true), work = run.Workspace(16);
    run.plan.setup.push_back(core::MemsetOp{{work, 0}, 0, 1, 16, 0});
    if (variable) run.plan.ops.push_back(core::SymbolCopyOp{"ns::factor", 0, {out, 4}, 4, 0, false});
    else run.plan.ops.push_back(core::CopyOp{{out, 4}, {work, 8}, 4, 0});
    const core::DeviceRun result = run.MustRun(*device_, Module());
    ASSERT_EQ(result.state.size(), 1u) << variable;
    EXPECT_EQ(result.state[0].variable, variable);
    EXPECT_EQ(result.state[0].inherited.size(), 1u);
  }
}

TEST_F(SimDeviceTest, PointersInsideStructs) {
  TestRun run;
  const uint32_t out = run.Buffer("out", Zeros(64), true), in = run.Buffer("in", ToBytes(Ramp(16)));
  core::KernelParameter pair;
  pair.bytes.resize(24);
  const int n = 16;
  std::memcpy(pair.bytes.data() + 8, &n, 4);
  pair.pointers[0] = {out, 0};
  pair.pointers[16] = {in, 0};
  run.Launch("by_value", {1, 1, 1}, {32, 1, 1}, {pair});
  EXPECT_EQ(FromBytes<float>(run.MustRun(*device_, Module()).buffers[0]), Ramp(16));
}

TEST_F(SimDeviceTest, DynamicSharedMemory) {
  TestRun run;
  const uint32_t out = run.Buffer("out", Zeros(16), true), in = run.Buffer("in", ToBytes(Ramp(1024)));
  run.Launch("shared_sum", {4, 1, 1}, {256, 1, 1}, {TestRun::Pointer(out), TestRun::Pointer(in)}, 1024);
  run.options.counters = true;
  const core::DeviceRun result = run.MustRun(*device_, Module());
  EXPECT_EQ(FromBytes<float>(result.buffers[0])[0], 256.0f * 257 / 2);
  EXPECT_EQ(result.launches[0].shared_bytes_per_block, 1024u);
  EXPECT_GT(result.launches[0].counters.shared_wavefronts, 0u);
  EXPECT_GT(result.launches[0].counters.barriers, 0u);
}

TEST_F(SimDeviceTest, ResourceLimits) {
  const auto fault = [&](const std::string& kernel, core::Dim3 block, uint32_t shared) {
    TestRun run;
    const uint32_t out = run.Buffer("out", Zeros(4096), true), in = run.Buffer("in", Zeros(4096));
    if (kernel == "bounded") run.Launch(kernel, {1, 1, 1}, block, {TestRun::Pointer(out)}, shared);
    else run.Launch(kernel, {1, 1, 1}, block, {TestRun::Pointer(out), TestRun::Pointer(in)}, shared);
    return run.MustFault(*device_, Module());
  };
  EXPECT_EQ(fault("bounded", {256, 1, 1}, 0).kind, core::Fault::Kind::kResourceLimit);
  EXPECT_EQ(fault("shared_sum", {256, 1, 1}, 229 << 10).kind, core::Fault::Kind::kResourceLimit);
  EXPECT_NE(fault("shared_sum", {256, 1, 1}, 229 << 10).message.find("232448"), std::string::npos);
}

TEST_F(SimDeviceTest, EndlessLoopsEnd) {
  TestRun run;
  const uint32_t out = run.Buffer("out", Zeros(64), true);
  run.contents[0].uninitialized = false;
  run.Launch("forever", {1, 1, 1}, {32, 1, 1}, {TestRun::Pointer(out)});
  run.options.instruction_limit = 1'000'000;
  const core::Fault fault = run.MustFault(*device_, Module());
  EXPECT_EQ(fault.kind, core::Fault::Kind::kInstructionLimit);
}

TEST_F(SimDeviceTest, TheFirstFaultyBlockIsReported) {
  for (int threads : {1, 2, 5}) {
    TestRun run;
    const uint32_t out = run.Buffer("out", Zeros(4000), true);
    run.Launch("faulty_blocks", {1000, 1, 1}, {32, 1, 1},
               {TestRun::Pointer(out), TestRun::Value(1000), TestRun::Value(337)});
    EXPECT_EQ(run.MustFault(*sim::MakeSimDevice(*config::LoadChip("h200"), threads), Module()).block[0], 337u);
  }
}

TEST_F(SimDeviceTest, SamplingExtrapolates) {
  TestRun run = Scale(4'000'000, 15625);
  const core::LaunchReport whole = run.MustRun(*device_, Module()).launches[0];
  run.options.sample_instructions = 3'000'000;
  const core::DeviceRun result = run.MustRun(*device_, Module());
  EXPECT_TRUE(result.sampled);
  const core::LaunchReport& sampled = result.launches[0];
  EXPECT_LT(sampled.blocks_run, whole.blocks_total / 4);
  EXPECT_EQ(sampled.blocks_total, whole.blocks_total);
  const auto expected = core::Fields(whole.counters), found = core::Fields(sampled.counters);
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(static_cast<double>(found[i].value), static_cast<double>(expected[i].value),
                0.02 * static_cast<double>(expected[i].value) + 1)
        << expected[i].name;
  EXPECT_NEAR(sampled.time.total_us, whole.time.total_us, 0.02 * whole.time.total_us);
  for (int threads : {1, 5}) {
    const core::LaunchReport other =
        run.MustRun(*sim::MakeSimDevice(*config::LoadChip("h200"), threads), Module()).launches[0];
    EXPECT_EQ(other.counters, sampled.counters);
    EXPECT_EQ(other.time.total_us, sampled.time.total_us);
  }
}

// Blocks past the end of the data are not representative of the others, nor the others of them.
TEST_F(SimDeviceTest, SamplingSeesIdleBlocks) {
  struct {
    const char* what;
    uint32_t working, x, y;
    uint64_t sample_instructions;
    double tolerance;
  } const rows[] = {
      {"none idle", 64, 64, 1, 1'000'000, 0.02},
      {"one behind the data", 63, 64, 1, 1'000'000, 0.02},
      {"seven of eight behind the data", 64, 512, 1, 1'000'000, 0.02},
      {"all that remain", 8, 512, 1, 1'000'000, 0.02},
      {"half of each row of blocks", 8, 16, 8, 2'000'000, 0.1},  // the sample ends within a row
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const uint32_t columns = row.working * 256;
    TestRun run;
    run.Buffer("out", Zeros(size_t{columns} * row.y * 4), true);
    run.Buffer("in", ToBytes(Ramp(static_cast<int>(columns * 64))));
    run.Launch("column_sums", {row.x, row.y, 1}, {256, 1, 1},
               {TestRun::Pointer(0), TestRun::Pointer(1), TestRun::Value(columns), TestRun::Value(64)});
    run.options.counters = true;
    const core::LaunchReport whole = run.MustRun(*device_, Module()).launches.at(0);
    run.options.sample_instructions = row.sample_instructions;
    const core::LaunchReport sampled = run.MustRun(*device_, Module()).launches.at(0);
    EXPECT_LT(sampled.blocks_run, sampled.blocks_total);
    const auto expected = core::Fields(whole.counters), found = core::Fields(sampled.counters);
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(static_cast<double>(found[i].value), static_cast<double>(expected[i].value),
                  row.tolerance * static_cast<double>(expected[i].value) + 1)
          << expected[i].name;
  }
}

TEST_F(SimDeviceTest, LaterKernelsAreNotBlamedForSampling) {
  constexpr int n = 4'000'000;
  TestRun run;
  const uint32_t out = run.Buffer("out", Zeros(n * 4), true), in = run.Buffer("in", ToBytes(Ramp(n))),
                 work = run.Workspace(n * 4);
  run.Launch("scale", {15625, 1, 1}, {256, 1, 1},
             {TestRun::Pointer(work), TestRun::Pointer(in), TestRun::Value(n), TestRun::Value(2.0f)});
  run.Launch("scale", {15625, 1, 1}, {256, 1, 1},
             {TestRun::Pointer(out), TestRun::Pointer(work), TestRun::Value(n), TestRun::Value(2.0f)});
  run.options.counters = true;
  run.options.sample_instructions = 2'000'000;
  EXPECT_EQ(run.MustRun(*device_, Module()).launches.size(), 2u);
}

TEST_F(SimDeviceTest, ABlockTakesAsLongAsItsBusiestWarp) {
  const auto latency = [&](int workers) {
    TestRun run;
    const uint32_t out = run.Buffer("out", Zeros(4096), true);
    run.Launch("chain", {1, 1, 1}, {1024, 1, 1},
               {TestRun::Pointer(out), TestRun::Value(workers), TestRun::Value(10000)});
    run.options.counters = true;
    return run.MustRun(*device_, Module()).launches.at(0).time.latency_us;
  };
  EXPECT_GT(latency(1), 10000 * 4 / 1980.0);  // 4 cycles a round at 1.98 GHz
  EXPECT_NEAR(latency(1), latency(1024), 0.1 * latency(1024));
}

TEST_F(SimDeviceTest, FloatAtomicsOnOneAddressTakeTurns) {
  const auto atomic_us = [&](const std::string& kernel) {
    TestRun run;
    const uint32_t out = run.Buffer("out", Zeros(4)), in = run.Buffer("in", Zeros(4 * 65536));
    run.contents[out].read_only = false;
    run.Launch(kernel, {256, 1, 1}, {256, 1, 1}, {TestRun::Pointer(out), TestRun::Pointer(in)});
    run.options.counters = true;
    return run.MustRun(*device_, Module()).launches.at(0).time.atomic_us;
  };
  EXPECT_NEAR(atomic_us("add_floats"), 65536 / 1.4 / 1980, 1);  // one lane after the other
  EXPECT_NEAR(atomic_us("add_ints"), 2048 / 1.4 / 1980, 0.1);   // one for each warp
}

TEST_F(SimDeviceTest, SpillsCost) {
  const core::KernelResources* resources = Module().Find("spilling");
  ASSERT_NE(resources, nullptr);
  ASSERT_GT(resources->spill_load_bytes, 0) << "the kernel was meant to spill";
  const auto issue_us = [&](const core::CompiledModule& module) {
    TestRun run;
    const uint32_t out = run.Buffer("out", Zeros(4096), true), in = run.Buffer("in", Zeros(4 * 65536));
    run.Launch("spilling", {132, 1, 1}, {1024, 1, 1}, {TestRun::Pointer(out), TestRun::Pointer(in)});
    run.options.counters = true;
    return run.MustRun(*device_, module).launches.at(0).time.issue_us;
  };
  core::CompiledModule without = Module();
  for (core::KernelResources& kernel : without.kernels) kernel.spill_load_bytes = kernel.spill_store_bytes = 0;
  EXPECT_GT(issue_us(Module()), 1.02 * issue_us(without));
}

// A loop in steps of four does nothing where there are three; that its lines have instructions is known all the same.
TEST_F(SimDeviceTest, TellsWhichLinesRan) {
  const core::CompiledModule module =
      CompileForTest(R"(extern "C" __global__ void sum(float* out, const float* in, int n) {
  float total = 0;
  int k = 0;
  for (; k + 3 < n; k += 4)
    total += in[k] * in[k + 1] + in[k + 2] * in[k + 3];
  for (; k < n; ++k)
    total += in[k];
  out[0] = total;
})",
                     {"sum"}, device_->chip().arch);
  const auto threads = [&](int n, int line) -> std::optional<uint64_t> {
    TestRun run;
    const uint32_t out = run.Buffer("out", Zeros(4), true), in = run.Buffer("in", Zeros(4 * 64));
    run.Launch("sum", {1, 1, 1}, {1, 1, 1}, {TestRun::Pointer(out), TestRun::Pointer(in), TestRun::Value(n)});
    run.options.lines = true;
    for (const core::LineUse& use : run.MustRun(*device_, module).lines)
      if (use.line == line && use.file == "test.cu") return use.threads;
    return std::nullopt;
  };
  EXPECT_EQ(threads(3, 5), 0u);
  EXPECT_GT(threads(3, 7).value_or(0), 0u);
  EXPECT_GT(threads(4, 5).value_or(0), 0u);
  EXPECT_EQ(threads(4, 7), 0u);
  EXPECT_FALSE(threads(4, 99)) << "no line of the kernel";
}

TEST_F(SimDeviceTest, RefusesAPlanThatDoesNotFitTheModule) {
  TestRun run = Scale(100, 1);
  std::get<core::KernelLaunch>(run.plan.ops[0]).parameters.pop_back();
  EXPECT_FALSE(run.Run(*device_, Module()));
  TestRun unknown = Scale(100, 1);
  std::get<core::KernelLaunch>(unknown.plan.ops[0]).kernel = "nothing";
  EXPECT_FALSE(unknown.Run(*device_, Module()));
  TestRun contents = Scale(100, 1);
  contents.contents.pop_back();
  EXPECT_FALSE(contents.Run(*device_, Module()));
}

}  // namespace
}  // namespace warpwright
