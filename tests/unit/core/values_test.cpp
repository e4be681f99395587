#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/counters.h"
#include "core/evidence.h"
#include "core/kernel_spec.h"
#include "core/verdict.h"

namespace warpwright {
namespace {

TEST(Counters, EveryFieldIsNamedOnceAndCanBeSet) {
  std::set<std::string_view> names;
  uint64_t value = 1;
  core::Counters counters;
  for (const auto& field : core::Fields(counters)) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_TRUE(core::SetField(counters, field.name, value++));
  }
  value = 1;
  for (const auto& field : core::Fields(counters)) EXPECT_EQ(field.value, value++) << field.name;
  EXPECT_EQ(sizeof(core::Counters), names.size() * sizeof(uint64_t)) << "a counter has no name";
  EXPECT_FALSE(core::SetField(counters, "no_such", 1));
  core::Counters twice = counters;
  twice.Add(counters);
  counters.Scale(2.0);
  EXPECT_EQ(twice, counters);
}

TEST(Evidence, FieldsAreUniqueAndHaveARange) {
  std::set<std::string_view> names;
  for (const auto& field : core::EvidenceFields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_LT(field.low, field.high) << field.name;
  }
  core::Evidence evidence;
  EXPECT_THROW(evidence.Set("dram", 1), std::logic_error);
}

TEST(Evidence, DigestIgnoresNoiseAndSeesChange) {
  core::Evidence a, b, c;
  a.Set("dram_throughput_pct", 50.01);
  b.Set("dram_throughput_pct", 50.02);
  c.Set("dram_throughput_pct", 60);
  EXPECT_EQ(a.Digest(), b.Digest());
  EXPECT_NE(a.Digest(), c.Digest());
}

// Every field that MakeEvidence can fill stays inside the range that the list gives it.
TEST(Evidence, MakeEvidenceStaysInRange) {
  core::Chip chip;
  chip.id = "x";
  chip.arch = "sm_90";
  chip.multiprocessors = 132;
  chip.clock_ghz = 1.98;
  chip.dram_bytes_per_second = 4e12;
  chip.launch_overhead_us = 2;
  core::LaunchReport launch;
  launch.counters.warp_instructions = 10;
  launch.counters.thread_instructions = 320;
  launch.counters.global_load_requests = 1;
  launch.counters.global_load_sectors = 40;
  launch.counters.global_load_bytes = 100000;
  launch.time.total_us = 3;
  launch.time.dram_us = 9;  // more than the total: must be clamped to 100 %
  launch.threads_per_block = 256;
  core::CaseMeasurement measurement;
  measurement.launches = {launch};
  const core::Evidence e =
      core::MakeEvidence(chip, core::KernelInfo{}, measurement, core::ComputeRoofline(chip, 1000, launch.counters));
  EXPECT_GT(e.values().size(), 50u);
  for (const auto& [name, value] : e.values()) {
    const auto* field = core::FindEvidenceField(name);
    EXPECT_GE(value, field->low) << name;
    EXPECT_LE(value, field->high) << name;
  }
}

// What a device could not count is absent, not zero; what it measured beyond the counters becomes evidence by its name.
TEST(Evidence, WhatWasNotCountedIsAbsent) {
  core::LaunchReport launch;
  launch.time.total_us = 10;
  launch.time.dram_us = 5;
  launch.counters.warp_instructions = 10;
  launch.counters.thread_instructions = 160;
  launch.metrics = {{"stall_barrier_pct", 25}, {"tensor_pct", 130}, {"dram__bytes_read.sum", 7}};
  const struct {
    const char *unmeasured, *gone, *kept;
  } rows[] = {{"dram_us", "dram_throughput_pct", "l2_throughput_pct"},
              {"dram_write_bytes", "memory_excess", "dram_throughput_pct"},
              {"barriers", "barriers_per_warp", "warp_efficiency_pct"},
              {"achieved_occupancy", "achieved_occupancy_pct", "theoretical_occupancy_pct"},
              {"flops_fp32", "arithmetic_intensity", "load_reuse"},
              {"warp_instructions_control", "control_instruction_pct", "conversion_instruction_pct"}};
  for (const auto& row : rows) {
    core::LaunchReport report = launch;
    report.unmeasured = {row.unmeasured};
    core::CaseMeasurement measurement;
    measurement.launches = {report};
    const core::Evidence e = core::MakeEvidence(core::Chip{}, core::KernelInfo{}, measurement, core::Roofline{});
    EXPECT_FALSE(e.Get(row.gone)) << row.gone;
    EXPECT_TRUE(e.Get(row.kept)) << row.kept;
    EXPECT_EQ(e.Get("stall_barrier_pct"), 25);
    EXPECT_EQ(e.Get("tensor_pct"), 100) << "inside the field's range";
  }
}

TEST(Verdict, SpeedupIsTheWeightedGeometricMean) {
  core::Measured before, after;
  before.cases = {{"a", 3, 8, false, {}}, {"b", 1, 10, false, {}}, {"only before", 1, 5, false, {}}};
  after.cases = {{"a", 3, 4, false, {}}, {"b", 1, 10, false, {}}};
  EXPECT_NEAR(core::Speedup(before, after), std::pow(2.0, 0.75), 1e-12);
  EXPECT_EQ(core::Speedup(before, core::Measured{}), 1.0);
}

TEST(KernelSpec, ShapesAndScalarBytes) {
  core::Argument argument{"out", core::BufferArgument{}, 7};
  std::get<core::BufferArgument>(argument.kind).shape = {*core::Expression::Parse("N"),
                                                         *core::Expression::Parse("N - 5")};
  core::Case c;
  c.name = "c";
  c.scalars = {{"N", int64_t{8}}, {"eps", 0.5}};
  EXPECT_EQ(*core::ShapeOf(argument, c), (std::vector<int64_t>{8, 3}));
  c.scalars["N"] = int64_t{3};
  const auto bad = core::ShapeOf(argument, c);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().line, 7);
  EXPECT_NE(bad.error().message.find("'N - 5' is negative (-2)"), std::string::npos) << bad.error().message;
  EXPECT_EQ(core::ScalarBytes({core::DType::kI32, {}}, int64_t{-2}),
            (std::vector<std::byte>{std::byte{0xfe}, std::byte{0xff}, std::byte{0xff}, std::byte{0xff}}));
  EXPECT_EQ(core::ScalarBytes({core::DType::kF32, {}}, int64_t{1}), core::ScalarBytes({core::DType::kF32, {}}, 1.0));
}

TEST(Verdict, ACompilersErrorIsNamedNotItsFirstLine) {
  const core::Verdict verdict = core::CompileFailed{
      "In file included from src/k.cu:1:\nsrc/k.cu(3): warning #177-D: variable \"x\" was declared but never used\n"
      "src/k.cu(9): error: identifier \"y\" is undefined\n1 error detected"};
  EXPECT_EQ(core::VerdictMessage(verdict), "does not compile: src/k.cu(9): error: identifier \"y\" is undefined");
  EXPECT_EQ(core::VerdictMessage(core::CompileFailed{"killed\nafter 60 s"}), "does not compile: killed");
}

}  // namespace
}  // namespace warpwright
