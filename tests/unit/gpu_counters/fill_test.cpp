// From CUPTI's values to our numbers.
#include <set>

#include "core/evidence.h"
#include "tests/unit/gpu_counters/support.h"

namespace warpwright::gpu {
namespace {

core::Chip TestChip() {
  core::Chip chip;
  chip.id = "test";
  chip.arch = "sm_90";
  chip.multiprocessors = 100;
  chip.clock_ghz = 1;
  chip.fp64_lanes = 64;
  chip.fp16_lanes = 256;
  chip.launch_overhead_us = 3;
  chip.block_launch_cycles = 10;
  return chip;
}
core::LaunchReport Geometry() {
  core::LaunchReport report;
  report.kernel = "k";
  report.threads_per_block = 100;
  report.blocks_total = report.blocks_run = 1000;
  return report;
}
std::string Share(const std::string& unit) { return unit + ".avg.pct_of_peak_sustained_elapsed"; }
std::string Threads(const std::string& operation) {
  return "smsp__sass_thread_inst_executed_op_" + operation + "_pred_on.sum";
}
std::string Stall(const std::string& reason) { return "smsp__warps_issue_stalled_" + reason + ".sum"; }

TEST(Tables, CoverEveryCounterOnce) {
  std::set<std::string> covered = {"warps", "blocks"};  // from the geometry
  std::set<std::string> direct, by_thread;
  for (const auto& f : CounterFormulas()) direct.emplace(f.number);
  for (const auto& f : ThreadClassFormulas()) by_thread.emplace(f.number);
  for (const auto* set : {&direct, &by_thread})
    for (const auto& name : *set) EXPECT_TRUE(covered.insert(name).second) << name << " is filled twice";
  for (const auto& [name, reason] : NotOnHardware()) {
    EXPECT_TRUE(covered.emplace(name).second) << name << " is filled and said not to be";
    EXPECT_FALSE(reason.empty()) << name;
  }
  std::set<std::string> fields;
  for (const auto& field : core::Fields(core::Counters{})) fields.emplace(field.name);
  EXPECT_EQ(covered, fields);
}

TEST(Tables, CollectWhatTheyUseAndUseWhatTheyCollect) {
  std::set<std::string> used = {kDurationMetric, kWarpsActiveMetric, kTensorMetric};
  for (const auto* table :
       {&CounterFormulas(), &ThreadClassFormulas(), &ThroughputFormulas(), &LaneFormulas(), &StallFormulas()})
    for (const auto& formula : *table)
      for (const auto& term : formula.terms) used.insert(term.metric);
  for (const auto* formula : {&LatencyStalls(), &AllStalls()})
    for (const auto& term : formula->terms) used.insert(term.metric);
  const auto list = MetricsOf(CounterTier::kSpeedOfLight);
  std::set<std::string> collected(list.begin(), list.end());
  collected.insert(kThreadInstructionsMetric);  // of the core tier alone
  for (const auto& metric : used) EXPECT_TRUE(collected.count(metric)) << metric << " is in no tier";
  // Shown to users unchanged.
  const std::set<std::string> only_shown = {Share("sm__throughput"),
                                            Share("gpu__compute_memory_throughput"),
                                            Share("l1tex__throughput"),
                                            Share("lts__throughput"),
                                            Stall("not_selected"),
                                            Stall("drain"),
                                            Stall("imc_miss"),
                                            Stall("misc"),
                                            Stall("sleeping"),
                                            Stall("tex_throttle"),
                                            Stall("gmma")};
  for (const auto& metric : collected) EXPECT_NE(used.count(metric), only_shown.count(metric)) << metric;
  for (const auto& f : StallFormulas()) EXPECT_NE(core::FindEvidenceField(f.number), nullptr) << f.number;
}

TEST(Fill, Counters) {
  const struct {
    const char* counter;
    std::map<std::string, double> values;
    uint64_t expected;
  } rows[] = {
      {"flops_fp32", {{Threads("fadd"), 10}, {Threads("fmul"), 20}, {Threads("ffma"), 30}}, 90},
      {"global_load_sectors",
       {{"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", 40},
        {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum", 2}},
       42},
      {"l2_read_bytes", {{"lts__t_sectors_srcunit_tex_op_read.sum", 3}}, 96},
      {"dram_read_bytes", {{"dram__bytes_read.sum", 5e12}}, 5'000'000'000'000},
      {"dram_read_bytes", {{"dram__bytes_op_read.sum", 7}}, 7},
      {"branches",
       {{"smsp__sass_branch_targets_threads_uniform.sum", 5}, {"smsp__sass_branch_targets_threads_divergent.sum", 6}},
       11},
      {"shared_bank_conflicts", {{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 16.4e6}}, 16'400'000},
      {"warps", {}, 4000},
      {"blocks", {}, 1000},
      // 320 integer and 320 bit instructions of threads, at 16 lanes an instruction
      {"warp_instructions_integer",
       {{"smsp__sass_inst_executed.sum", 100},
        {"smsp__sass_thread_inst_executed_pred_on.sum", 1600},
        {Threads("integer"), 320},
        {Threads("bit"), 320}},
       40},
  };
  for (const auto& row : rows) {
    core::LaunchReport report = Geometry();
    Fill(report, row.values, TestChip());
    EXPECT_EQ(report.unmeasured.count(row.counter), 0u) << row.counter;
    for (const auto& field : core::Fields(report.counters))
      if (field.name == row.counter) {
        EXPECT_EQ(field.value, row.expected) << row.counter;
      }
    EXPECT_EQ(report.unmeasured.count("flops_fp64"), 1u) << "what is not there is not measured";
  }
}

TEST(Fill, HalvesThatAreConvertedAreNoArithmetic) {
  EXPECT_FALSE(HasHalfArithmetic("cvt.f32.f16 %f1, %rs1;\nfma.rn.f32 %f2, %f1, %f3, %f2;\nld.global.v2.b32 ..."));
  EXPECT_TRUE(HasHalfArithmetic("{ .reg .b16 a;\n  fma.rn.f16 %rs1, %rs2, %rs3, %rs4;}\n"));
  EXPECT_TRUE(HasHalfArithmetic("@%p1 add{mul.bf16x2 %r1, %r2, %r3;}"));
  EXPECT_FALSE(HasHalfArithmetic("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}"));
}

TEST(Fill, APartialSumIsNotMeasured) {
  core::LaunchReport report = Geometry();
  Fill(report, {{Threads("fadd"), 10}, {Threads("fmul"), 20}}, TestChip());
  EXPECT_EQ(report.counters.flops_fp32, 0u);
  EXPECT_EQ(report.unmeasured.count("flops_fp32"), 1u);
}

TEST(Fill, PartsAreSharesOfTheTime) {
  const std::map<std::string, double> values = {
      {kDurationMetric, 200e3},
      {Share("dram__throughput"), 60},
      {Share("lts__t_sectors"), 30},
      {Share("l1tex__data_pipe_lsu_wavefronts"), 50},
      {Share("l1tex__data_pipe_lsu_wavefronts_mem_shared"), 40},
      {Share("l1tex__t_output_wavefronts"), 5},
      {"lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed",
       104},                     // rounding of the hardware's clocks
      {Threads("fp64"), 64e6},   // 64 lanes * 100 multiprocessors * 1e3 cycles: 10 us
      {Threads("fp16"), 256e6},  // 20 us
      {kWarpsActiveMetric, 87.5}};
  core::LaunchReport own = Geometry(), timed = Geometry();
  timed.time.total_us = 100;  // measured with events
  Fill(own, values, TestChip());
  Fill(timed, values, TestChip());
  EXPECT_DOUBLE_EQ(own.time.total_us, 200);
  EXPECT_DOUBLE_EQ(own.time.dram_us, 120);
  EXPECT_DOUBLE_EQ(timed.time.total_us, 100);
  EXPECT_DOUBLE_EQ(timed.time.dram_us, 60);
  EXPECT_DOUBLE_EQ(timed.time.l2_us, 30);
  EXPECT_DOUBLE_EQ(timed.time.l1_us, 10) << "without shared memory";
  EXPECT_DOUBLE_EQ(timed.time.shared_us, 40);
  EXPECT_DOUBLE_EQ(timed.time.atomic_us, 100);
  EXPECT_DOUBLE_EQ(timed.time.fp64_us, 10);
  EXPECT_DOUBLE_EQ(timed.time.fp16_us, 20);
  EXPECT_DOUBLE_EQ(timed.time.overhead_us, 3 + 10) << "a launch, and 1,000 blocks of 10 ns";
  EXPECT_EQ(timed.time.limiter, "atomic");
  EXPECT_DOUBLE_EQ(timed.occupancy.achieved, 0.875);
  EXPECT_EQ(timed.unmeasured.count("sfu_us"), 1u);
  EXPECT_EQ(timed.unmeasured.count("dram_us"), 0u);
  EXPECT_EQ(timed.metrics.at(kDurationMetric), 200e3);
}

TEST(Fill, APipeCounterBeatsWhatLanesGive) {
  core::LaunchReport report = Geometry();
  Fill(report, {{kDurationMetric, 100e3}, {Threads("fp64"), 64e6}, {Share("sm__inst_executed_pipe_fp64"), 33}},
       TestChip());
  EXPECT_DOUBLE_EQ(report.time.fp64_us, 33);
}

// Latency is the time that the busiest unit idles, times the share of the stalls that wait for something to arrive.
TEST(Fill, LatencyAndStallReasons) {
  std::map<std::string, double> values = {
      {kDurationMetric, 100e3}, {Share("dram__throughput"), 20}, {kTensorMetric, 12}};
  for (const char* reason : {"long_scoreboard", "short_scoreboard", "barrier", "wait", "no_instruction", "membar",
                             "branch_resolving", "dispatch_stall", "mio_throttle", "lg_throttle", "math_pipe_throttle"})
    values[Stall(reason)] = 0;
  values[Stall("long_scoreboard")] = 600;
  values[Stall("short_scoreboard")] = 50;
  values[Stall("barrier")] = 100;
  values[Stall("mio_throttle")] = 150;
  values[Stall("lg_throttle")] = 100;
  values[Stall("not_selected")] = 5000;  // could have issued: not a stall
  core::LaunchReport report = Geometry();
  Fill(report, values, TestChip());
  EXPECT_DOUBLE_EQ(report.time.latency_us, 80 * 0.75);
  EXPECT_EQ(report.time.limiter, "latency");
  EXPECT_DOUBLE_EQ(report.metrics.at("stall_memory_pct"), 60);
  EXPECT_DOUBLE_EQ(report.metrics.at("stall_shared_pct"), 20);
  EXPECT_DOUBLE_EQ(report.metrics.at("stall_barrier_pct"), 10);
  EXPECT_DOUBLE_EQ(report.metrics.at("stall_memory_queue_pct"), 10);
  EXPECT_DOUBLE_EQ(report.metrics.at("tensor_pct"), 12);

  values.erase(Stall("membar"));
  core::LaunchReport partial = Geometry();
  Fill(partial, values, TestChip());
  EXPECT_EQ(partial.unmeasured.count("latency_us"), 1u);
  EXPECT_EQ(partial.metrics.count("stall_memory_pct"), 0u) << "shares of an unknown whole";
}

TEST(Fill, WithoutCountersEverythingIsUnmeasured) {
  core::LaunchReport report = Geometry();
  report.time.total_us = 50;
  Fill(report, {}, TestChip());
  EXPECT_EQ(report.time.total_us, 50);
  EXPECT_EQ(report.time.limiter, "") << "the launch alone says nothing";
  for (const auto& field : core::Fields(report.counters)) {
    const bool geometry = field.name == "warps" || field.name == "blocks";
    EXPECT_EQ(report.unmeasured.count(std::string(field.name)), geometry ? 0u : 1u) << field.name;
  }
  for (const char* name : {"dram_us", "latency_us", "achieved_occupancy"})
    EXPECT_EQ(report.unmeasured.count(name), 1u) << name;
  core::CaseMeasurement measurement;
  measurement.launches = {report};
  const core::Evidence evidence = core::MakeEvidence(TestChip(), core::KernelInfo{}, measurement, core::Roofline{});
  EXPECT_FALSE(evidence.Get("dram_throughput_pct"));
  EXPECT_FALSE(evidence.Get("achieved_occupancy_pct"));
  EXPECT_TRUE(evidence.Get("kernel_time_us"));
  EXPECT_TRUE(evidence.Get("overhead_pct"));
}

}  // namespace
}  // namespace warpwright::gpu
