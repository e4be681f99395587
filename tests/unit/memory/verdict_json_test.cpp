#include "memory/verdict_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json_codec.h"
#include "core/verdict_fields.h"

namespace warpwright {
namespace {

std::string Encode(const core::Verdict& verdict) { return base::EncodeJson(memory::Stored(verdict)); }
Result<core::Verdict> Decode(std::string_view text) {
  WW_ASSIGN(nlohmann::json json, base::ParseJson(text));
  memory::UpgradeVerdict(json);
  return base::FromJson<core::Verdict>(json);
}

core::Measured SampleMeasured() {
  core::LaunchReport launch;
  launch.kernel = "ns::softmax<4>";
  launch.registers = 40;
  launch.threads_per_block = 256;
  launch.shared_bytes_per_block = 4096;
  launch.blocks_total = 8192;
  launch.blocks_run = 100;
  uint64_t value = 1;
  for (const core::NamedCounter& counter : core::Fields(launch.counters))
    core::SetField(launch.counters, counter.name, value++ * 1'000'000'007ull);
  for (int i = 0; i < 100; ++i) {
    core::LineCounters line;
    line.file = "kernels/softmax.cu";
    line.line = i;
    line.warp_instructions = 1000 - i;
    line.divergent_branches = 3;
    if (i == 5) {
      line.samples = 12;
      line.stalls = {{"long_scoreboard", 9}, {"barrier", 3}};
    }
    launch.lines.push_back(line);
  }
  launch.occupancy = {.blocks_per_multiprocessor = 8,
                      .theoretical = 1.0,
                      .achieved = 0.87,
                      .limiter = core::OccupancyLimiter::kRegisters,
                      .waves = 7.75};
  launch.time.total_us = 12.345678901234567;
  launch.time.latency_us = std::numeric_limits<double>::infinity();
  launch.time.limiter = "dram";
  launch.metrics = {{"dram__bytes_read.sum", 1e12}, {"stall_memory_pct", 61.5}};
  launch.unmeasured = {"barriers", "latency_us"};
  return {true,
          "sim:h200",
          {{.case_name = "gpt2",
            .weight = 3,
            .time_us = 12.5,
            .host_us = 2.25,
            .sampled = true,
            .launches = {launch, launch}},
           {.case_name = "small", .weight = 1, .time_us = 0.1}},
          {core::Check::kComparison, core::Check::kGuardBands}};
}

core::TimingSummary SampleTiming(core::TimingDecision decision) {
  core::TimingSummary timing;
  timing.decision = decision;
  timing.log_ratio = std::log(1.03);
  timing.standard_error = 1e-3 / 3;
  timing.lower = 0.02;
  timing.upper = 0.04;
  timing.decision_lower = -std::numeric_limits<double>::infinity();
  timing.decision_upper = std::numeric_limits<double>::infinity();
  timing.original_us = 12.345678901234567;
  timing.candidate_us = 11.9;
  timing.hot_original_us = 9;
  timing.hot_candidate_us = 8.5;
  timing.pairs = 97;
  timing.discarded = 3;
  timing.blocks = 10;
  return timing;
}

TEST(VerdictJson, RoundTripOfEveryKind) {
  core::Fault fault;
  fault.kind = core::Fault::Kind::kSharedRace;
  fault.message = "race";
  fault.kernel = "k";
  fault.file = "a.cu";
  fault.line = 12;
  fault.block[1] = 7;
  fault.thread[0] = 31;
  const core::Verdict verdicts[] = {core::CompileFailed{"a.cu(3): error"},
                                    core::Refused{core::Check::kSlice, "uses cuBLAS", "a.cu", 9},
                                    core::WrongResult{core::Check::kComparison, "gpt2", "out[3] is 4, expected 5",
                                                      core::WrongSample{2, 9, "the last 2", {{"out[3]", "4", "5"}}}},
                                    core::Faulted{fault, "small"}, SampleMeasured()};
  for (const core::Verdict& verdict : verdicts) {
    const std::string json = Encode(verdict);
    const auto back = Decode(json);
    ASSERT_TRUE(back) << back.error().Format() << json;
    EXPECT_EQ(back->index(), verdict.index());
    EXPECT_EQ(core::VerdictMessage(*back), core::VerdictMessage(verdict));
    EXPECT_EQ(Encode(*back), json);
  }
}

TEST(VerdictJson, MeasurementsAreExact) {
  const core::Measured before = SampleMeasured();
  const auto back = Decode(Encode(before));
  ASSERT_TRUE(back);
  const core::Measured& after = std::get<core::Measured>(*back);
  ASSERT_EQ(after.cases.size(), 2u);
  const core::LaunchReport& launch = after.cases[0].launches[1];
  EXPECT_EQ(launch.counters, before.cases[0].launches[1].counters);
  EXPECT_EQ(launch.time.total_us, 12.345678901234567);
  EXPECT_TRUE(std::isinf(launch.time.latency_us));
  EXPECT_EQ(launch.lines.size(), 64u) << "the hottest lines";
  EXPECT_EQ(launch.lines[5].warp_instructions, 995u);
  EXPECT_EQ(launch.lines[5].samples, 12u);
  EXPECT_EQ(launch.lines[5].stalls, before.cases[0].launches[1].lines[5].stalls);
  EXPECT_EQ(launch.metrics, before.cases[0].launches[1].metrics);
  EXPECT_EQ(launch.unmeasured, before.cases[0].launches[1].unmeasured);
  EXPECT_EQ(launch.occupancy.limiter, core::OccupancyLimiter::kRegisters);
  EXPECT_EQ(after.checks, before.checks);
}

TEST(VerdictJson, TimingsAreExact) {
  for (const core::TimingDecision decision : {core::TimingDecision::kFaster, core::TimingDecision::kSame,
                                              core::TimingDecision::kSlower, core::TimingDecision::kInconclusive}) {
    core::Measured before = SampleMeasured();
    before.cases[0].timing = SampleTiming(decision);
    before.decision = decision;
    before.notes = {"review: case gpt2 is 11 times as fast"};
    const auto back = Decode(Encode(before));
    ASSERT_TRUE(back) << back.error().Format();
    const core::Measured& after = std::get<core::Measured>(*back);
    EXPECT_EQ(after.cases[0].timing, before.cases[0].timing);
    EXPECT_FALSE(after.cases[1].timing);
    EXPECT_EQ(after.decision, decision);
    EXPECT_EQ(after.notes, before.notes);
  }
  const auto modelled = Decode(Encode(SampleMeasured()));
  ASSERT_TRUE(modelled);
  EXPECT_FALSE(std::get<core::Measured>(*modelled).decision);
  core::Measured odd = SampleMeasured();
  odd.decision = core::TimingDecision::kFaster;
  std::string json = Encode(odd);
  json.replace(json.find("faster"), 6, "faaast");
  EXPECT_FALSE(Decode(json));
}

TEST(VerdictJson, LinesOfEarlierVersionsAreRead) {
  core::Measured before = SampleMeasured();
  std::string json = Encode(before);
  const std::string now =
      "{\"divergent_branches\":3,\"file\":\"kernels/softmax.cu\",\"line\":2,\"warp_instructions\":998}";
  const std::string then = "{\"file\":\"kernels/softmax.cu\",\"line\":2,\"n\":[998,0,0,0,0,0,3]}";
  size_t found = 0;
  for (size_t at = json.find(now); at != std::string::npos; at = json.find(now), ++found)
    json.replace(at, now.size(), then);
  EXPECT_EQ(found, 2u) << json.substr(0, 2000);
  const auto back = Decode(json);
  ASSERT_TRUE(back) << back.error().Format();
  EXPECT_EQ(Encode(*back), Encode(before));
  EXPECT_FALSE(Decode(json.replace(json.find("[998,0,"), 7, "[\"x\",0,")));
}

TEST(VerdictJson, EveryFaultKindIsKnown) {
  for (int kind = 0; core::Name(static_cast<core::Fault::Kind>(kind)) != "?"; ++kind) {
    core::Fault fault;
    fault.kind = static_cast<core::Fault::Kind>(kind);
    const auto back = Decode(Encode(core::Faulted{fault, ""}));
    ASSERT_TRUE(back) << kind;
    EXPECT_EQ(std::get<core::Faulted>(*back).fault.kind, fault.kind);
  }
}

TEST(VerdictJson, InvalidUtf8DoesNotThrow) { EXPECT_TRUE(Decode(Encode(core::CompileFailed{"caf\xe9 \xff"}))); }

TEST(VerdictJson, NonsenseIsAnError) {
  const std::string measured = Encode(SampleMeasured());
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string("[]"), std::string("null"), std::string("{\"verdict\":3}"),
        std::string("{\"verdict\":\"measured\",\"cases\":{}}"), std::string("{\"verdict\":\"measured\",\"cases\":[1]}"),
        std::string("{\"verdict\":\"faulted\"}"), std::string("{\"verdict\":\"faulted\",\"fault\":{\"kind\":\"odd\"}}"),
        std::string("{\"verdict\":\"refused\",\"line\":99999999999}"), std::string("{\"verdict\":\"happy\"}"),
        measured.substr(0, measured.size() - 5)})
    EXPECT_FALSE(Decode(text)) << text.substr(0, 80);
}

}  // namespace
}  // namespace warpwright
