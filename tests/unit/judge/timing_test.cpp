// What the judge does on a device that can be timed: the decision, the outputs of timed launches, and what else it
// requires of such a device. The device is scripted.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "judge/timing.h"
#include "tests/support/bytes.h"
#include "tests/unit/judge/judge_bench.h"

namespace warpwright {
namespace {

// Different rounding: off by at most one in the last place.
void AboutTwice(FakeRun& run) {
  for (size_t i = 0; i < run.Size("out"); ++i)
    run.Set(
        "out", i,
        i % 3 == 0 && std::isnormal(run.Get("in", i)) ? 2 * run.Get("in", i) * (1 + 0x1.0p-24) : 2 * run.Get("in", i));
}

struct TimedBench : JudgeBench {
  explicit TimedBench(int64_t n = 1000) : TimedBench(ElementwiseSpec(core::DType::kF32, n)) {}
  explicit TimedBench(core::KernelSpec spec_in, const FakeKernel& original = Twice)
      : JudgeBench(std::move(spec_in), original) {
    device = "cuda:0";
    options.max_long_bytes = 1 << 14;  // these are about times
    options.fresh_worker = [this] { ++fresh_workers; };
  }
  // The candidate takes 100 us, the original `ratio` times that, both with noise.
  void Clock(double ratio, double noise, uint64_t seed) {
    random.seed(seed);
    untrusted.timing = [this, ratio, noise](FakeEvaluator::ScriptedPair p) {
      std::normal_distribution<double> normal(0, noise);
      p.pair.original_us = 100 * ratio * std::exp(normal(random));
      p.pair.candidate_us = 100 * std::exp(normal(random));
    };
  }
  std::mt19937_64 random;
  int fresh_workers = 0;
};

core::Measured MeasuredOf(const Result<core::Verdict>& verdict) {
  EXPECT_TRUE(verdict) << verdict.error().Format();
  if (!verdict) return {};
  EXPECT_TRUE(core::Passed(*verdict)) << core::VerdictMessage(*verdict);
  return core::Passed(*verdict) ? std::get<core::Measured>(*verdict) : core::Measured{};
}
void ExpectCheck(const Result<core::Verdict>& verdict, const std::string& check, const std::string& part = {}) {
  ASSERT_TRUE(verdict) << verdict.error().Format();
  const auto* wrong = std::get_if<core::WrongResult>(&*verdict);
  const auto* refused = std::get_if<core::Refused>(&*verdict);
  ASSERT_TRUE(wrong != nullptr || refused != nullptr) << check << ": " << core::VerdictMessage(*verdict);
  EXPECT_EQ(wrong != nullptr ? std::string(Name(wrong->check)) : refused->check.text(), check)
      << core::VerdictMessage(*verdict);
  EXPECT_NE(core::VerdictMessage(*verdict).find(part), std::string::npos) << core::VerdictMessage(*verdict);
}

TEST(JudgeTiming, ThreePercentFasterIsFasterInTwoProcesses) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    TimedBench bench(100);
    bench.Clock(1.03, 0.004, seed);
    const core::Measured measured = MeasuredOf(bench.Try(AboutTwice));
    EXPECT_EQ(measured.decision, core::TimingDecision::kFaster) << seed;
    EXPECT_EQ(bench.fresh_workers, 1);
    EXPECT_FALSE(measured.modelled);
    ASSERT_EQ(measured.cases.size(), 1u);
    ASSERT_TRUE(measured.cases[0].timing);
    EXPECT_NEAR(measured.cases[0].timing->log_ratio, std::log(1.03), 0.005);
    EXPECT_EQ(measured.cases[0].time_us, measured.cases[0].timing->candidate_us);
    EXPECT_NE(std::find(measured.checks.begin(), measured.checks.end(), core::CheckName(core::Check::kTimedOutput)),
              measured.checks.end());
    std::set<uint64_t> seeds;
    for (const auto& options : bench.untrusted.timed) seeds.insert(options.seed);
    EXPECT_EQ(seeds.size(), 2u) << "each process has inputs of its own";
  }
}

TEST(JudgeTiming, TheSameIsNeverFaster) {
  int same = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    TimedBench bench(100);
    bench.Clock(1, 0.004, seed);
    const core::Measured measured = MeasuredOf(bench.Try(Twice));
    ASSERT_TRUE(measured.decision);
    EXPECT_NE(*measured.decision, core::TimingDecision::kFaster) << seed;
    EXPECT_EQ(bench.fresh_workers, 0);
    same += *measured.decision == core::TimingDecision::kSame;
  }
  EXPECT_GE(same, 99);
}

TEST(JudgeTiming, LooksFollowEachOtherUntilItIsDecided) {
  TimedBench bench;
  bench.Clock(1.021, 0.03, 3);  // undecided
  EXPECT_EQ(MeasuredOf(bench.Try(Twice)).decision, core::TimingDecision::kInconclusive);
  std::vector<int> first, blocks;
  std::set<int> pairs;
  for (const auto& options : bench.untrusted.timed) {
    first.push_back(options.first_block);
    blocks.push_back(options.blocks);
    pairs.insert(options.pairs_per_block);
  }
  EXPECT_EQ(first, (std::vector<int>{0, 10, 20}));
  EXPECT_EQ(blocks, (std::vector<int>{10, 10, 20}));
  EXPECT_EQ(pairs.size(), 1u);
  EXPECT_GE(*pairs.begin(), 4);
  EXPECT_TRUE(bench.untrusted.timed[0].hot);

  TimedBench quick;
  quick.Clock(1.1, 0.004, 3);
  EXPECT_EQ(MeasuredOf(quick.Try(Twice, judge::VerificationLevel::kQuick)).decision, core::TimingDecision::kFaster);
  ASSERT_EQ(quick.untrusted.timed.size(), 1u);
  EXPECT_EQ(quick.untrusted.timed[0].blocks, 6);
  EXPECT_EQ(quick.fresh_workers, 0);
}

// Whoever waits for the GPU waits for all of it.
TEST(JudgeTiming, VeryLongKernelsAreTimedInFewPairs) {
  const struct {
    const char* name;
    double original_us;
    judge::VerificationLevel effort;
    int least, most;
  } rows[] = {
      {"short", 100, judge::VerificationLevel::kFull, 4, 10},
      {"long", 10'000, judge::VerificationLevel::kFull, 4, 10},
      {"very long", 300'000, judge::VerificationLevel::kFull, 1, 1},
      {"short, in a search", 100, judge::VerificationLevel::kQuick, 4, 4},
      {"long, in a search", 10'000, judge::VerificationLevel::kQuick, 2, 2},
      {"very long, in a search", 300'000, judge::VerificationLevel::kQuick, 1, 1},
  };
  for (const auto& row : rows) {
    const int pairs = judge::PairsPerBlock(row.effort, row.original_us, 1 << 20);
    EXPECT_GE(pairs, row.least) << row.name;
    EXPECT_LE(pairs, row.most) << row.name;
  }
}

TEST(JudgeTiming, TheSecondProcessDecides) {
  TimedBench bench;
  bench.untrusted.timing = [&](FakeEvaluator::ScriptedPair p) {
    p.pair.original_us = bench.fresh_workers == 0 ? 110 : 100;
  };
  const core::Measured measured = MeasuredOf(bench.Try(Twice));
  EXPECT_EQ(measured.decision, core::TimingDecision::kSame);
  EXPECT_EQ(bench.fresh_workers, 1);
  EXPECT_NEAR(measured.cases[0].timing->log_ratio, 0, 1e-9) << "the confirmation's numbers are the ones that count";
}

TEST(JudgeTiming, ThrottledPairsDoNotCountAndTooManySayNothing) {
  for (const int every : {10, 4}) {
    TimedBench bench;
    bench.options.chip = core::Chip{};
    bench.options.chip->clock_ghz = 1.98;
    bench.untrusted.timing = [&](FakeEvaluator::ScriptedPair p) {
      const bool throttled = p.index % every == 0;
      p.pair.original_us = throttled ? 300 : 110;
      p.pair.original_mhz = throttled ? 900 : 1980;
      p.pair.candidate_mhz = 1980;
    };
    const core::Measured measured = MeasuredOf(bench.Try(Twice));
    EXPECT_EQ(measured.decision, every == 10 ? core::TimingDecision::kFaster : core::TimingDecision::kInconclusive);
    EXPECT_GT(measured.cases[0].timing->discarded, 0);
    EXPECT_NEAR(measured.cases[0].timing->log_ratio, std::log(1.1), 1e-9);
  }
}

TEST(JudgeTiming, CasesCountByWeightAndNoneMayLose) {
  struct Row {
    double small, large;
    core::TimingDecision decision;
  };
  for (const Row& row : {Row{1.1, 1.1, core::TimingDecision::kFaster}, Row{1.0, 1.2, core::TimingDecision::kFaster},
                         Row{0.95, 1.2, core::TimingDecision::kInconclusive},
                         Row{1.2, 1.0, core::TimingDecision::kSame}}) {  // 1.8 % over all
    core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 500);
    spec.cases.push_back(MakeCase("large", {{"n", int64_t{2000}}}));
    spec.cases.back().weight = 9;
    spec.cases.push_back(MakeCase("unweighted", {{"n", int64_t{70}}}));
    spec.cases.back().weight = 0;
    TimedBench bench(spec);
    bench.untrusted.timing = [&](FakeEvaluator::ScriptedPair p) {
      EXPECT_NE(p.request.case_name, "unweighted");
      p.pair.original_us = 100 * (p.request.case_name == "large" ? row.large : row.small) * (1 + 1e-4 * (p.index % 3));
    };
    const auto verdict = bench.Try(Twice);
    const core::Measured measured = MeasuredOf(verdict);
    EXPECT_EQ(measured.decision, row.decision) << row.small << " " << row.large;
    EXPECT_FALSE(measured.cases[2].timing);
  }
}

TEST(JudgeTiming, WhatATimedLaunchGetsWrong) {
  struct Row {
    const char* name;
    FakeKernel kernel;
    const char* check;
    const char* part;
  };
  const auto when_timed = [](auto change) {
    return [change](FakeRun& run) {
      Twice(run);
      if (run.timed) change(run);
    };
  };
  const Row rows[] = {
      {"half precision", when_timed([](FakeRun& run) {
         for (size_t i = 0; i < run.Size("out"); ++i)
           run.Set("out", i, core::HalfToFloat(core::DoubleToHalf(run.Get("out", i))));
       }),
       "timed-output", "off by"},
      {"one NaN", when_timed([](FakeRun& run) { run.Set("out", 5, NAN); }), "timed-output", "not finite"},
      // Too small to be detected in the whole: the comparator detects it in the output that is returned.
      {"one element", when_timed([](FakeRun& run) { run.Set("out", 5, run.Get("out", 5) * (1 + 1e-6)); }),
       "timed-output", "out[5]"},
      {"changes its input", when_timed([](FakeRun& run) { run.Set("in", 5, 1); }), "input-hash", "timed launch"},
      {"writes outside", when_timed([](FakeRun& run) { run.guards.push_back({"out", 4000, 4}); }), "guard-bands",
       "timed launch"},
  };
  for (const Row& row : rows)
    for (const judge::VerificationLevel effort : {judge::VerificationLevel::kQuick, judge::VerificationLevel::kFull}) {
      SCOPED_TRACE(row.name);
      TimedBench bench;
      ExpectCheck(bench.Try(row.kernel, effort), row.check, row.part);
    }
  TimedBench unwritten;
  unwritten.untrusted.timing = [](FakeEvaluator::ScriptedPair p) { p.pair.drift.unwritten = p.index == 7 ? 3 : 0; };
  ExpectCheck(unwritten.Try(Twice), "timed-output", "timed pair 7, 3 elements were not written");
  TimedBench late;
  late.untrusted.timing = [](FakeEvaluator::ScriptedPair p) {
    p.pair.drift.relative_rms = p.index == 99 ? 1e-4 : 1e-8;
  };
  ExpectCheck(late.Try(AboutTwice), "timed-output");
}

TEST(JudgeTiming, FewElementsMayComeOutNearZeroNowAndThen) {
  struct Row {
    int every;  // one in this many pairs is off
    double off;
    bool wrong;
  };
  for (const Row& row : {Row{3, 1e-4, false}, Row{1, 1e-4, true}, Row{2, 1e-3, true}, Row{1, 1e-7, false}}) {
    TimedBench bench(8);
    bench.untrusted.timing = [&](FakeEvaluator::ScriptedPair p) {
      p.pair.drift.relative_rms = p.index % row.every == 0 ? row.off : 1e-8;
    };
    const auto verdict = bench.Try(Twice);
    if (row.wrong) {
      ExpectCheck(verdict, "timed-output", "half of the timed pairs");
    } else {
      MeasuredOf(verdict);
    }
  }
}

// An error that is small relative to the usual output is large relative to one that is small by chance in every pair.
TEST(JudgeTiming, AnOutputThatIsSmallInEveryPairIsHeldToItsUsualSize) {
  int small = 0;
  for (uint64_t secret = 1; secret <= 40; ++secret) {
    TimedBench bench(1);
    bench.options.secret_seed = secret;
    bench.untrusted.timing = [&](FakeEvaluator::ScriptedPair p) {
      float in = 0;
      std::memcpy(&in, p.request.buffers[1].bytes.data(), sizeof in);
      p.pair.drift.relative_rms = 1e-8 / std::fabs(2 * static_cast<double>(in));
      small += p.index == 0 && std::fabs(in) < 0.1F;
    };
    MeasuredOf(bench.Try(Twice));
  }
  EXPECT_GT(small, 0);
}

TEST(JudgeTiming, OriginalsOutputsFromTheCandidatesProcessAreNotTrusted) {
  // The candidate has overwritten the original's timed output with its own wrong one.
  TimedBench bench;
  bench.untrusted.after_timing = [](core::Timed& timed) {
    for (auto& kept : timed.kept) {
      StoreIn(kept.candidate[0], core::DType::kF32, 3, 0);
      kept.original[0] = kept.candidate[0];
    }
  };
  ExpectCheck(bench.Try(Twice), "timed-output", "out[3]");
  // The same with inputs that are easier than those that were sent.
  TimedBench inputs;
  inputs.untrusted.after_timing = [](core::Timed& timed) {
    for (auto& kept : timed.kept)
      for (auto* side : {&kept.original, &kept.candidate})
        for (auto& buffer : *side) buffer = std::vector<std::byte>(buffer.size());
  };
  ExpectCheck(inputs.Try(Twice), "input-hash");
}

TEST(JudgeTiming, IntegersAndInOutBuffersAreCompared) {
  for (const bool wrong : {false, true}) {
    core::KernelSpec spec = ElementwiseSpec(core::DType::kI32, 1000);
    TimedBench integers(spec);
    const auto verdict = integers.Try([&](FakeRun& run) {
      Twice(run);
      if (run.timed && wrong) run.Set("out", 999, 1 + run.Get("out", 999));
    });
    if (wrong) ExpectCheck(verdict, "timed-output", "verification allowed 0");
    else MeasuredOf(verdict);

    spec = ElementwiseSpec(core::DType::kF32, 1000);
    std::get<core::BufferArgument>(spec.args[0].kind).role = core::Role::kInOut;
    const auto add = [](FakeRun& run) {
      for (size_t i = 0; i < run.Size("out"); ++i) run.Set("out", i, run.Get("out", i) + run.Get("in", i));
    };
    TimedBench in_place(spec, add);
    const auto other = in_place.Try([&](FakeRun& run) {
      add(run);
      if (run.timed && wrong) run.Set("out", 999, 3e-5 + run.Get("out", 999));
    });
    if (wrong) ExpectCheck(other, "timed-output", "out[999]");
    else MeasuredOf(other);
  }
}

TEST(JudgeTiming, WorkersThatAnswerSomethingElseAreAnError) {
  for (int what = 0; what < 4; ++what) {
    TimedBench bench;
    bench.untrusted.after_timing = [&](core::Timed& timed) {
      if (what == 0) timed.pairs.pop_back();
      if (what == 1) timed.pairs.back().block = 77;
      if (what == 2) timed.kept.clear();
      if (what == 3) timed.kept[0].candidate[0] = std::vector<std::byte>(3);
    };
    const auto verdict = bench.Try(Twice);
    ASSERT_FALSE(verdict) << what;
    EXPECT_EQ(verdict.error().code, ErrorCode::kCorrupt);
  }
}

TEST(JudgeTiming, NothingIsFasterThanItsTraffic) {
  const auto traffic = [](double share) {
    return [share](FakeRun& run) {
      Twice(run);
      run.counters.dram_read_bytes = run.counters.l2_read_bytes =
          static_cast<uint64_t>(share * 4.0 * static_cast<double>(run.Size("in")));
      run.counters.dram_write_bytes = 4 * run.Size("out");
    };
  };
  struct Row {
    double candidate_us, l2_bytes, original_share;
    bool refused;
  };
  // 40 kB in and out at 10 GB/s: 8 us.
  for (const Row& row : {Row{9, 0, 1, false}, Row{7.7, 0, 1, false}, Row{7.5, 0, 1, true}, Row{7.5, 1e4, 1, false},
                         Row{6, 1e4, 1, true}, Row{1, 5e4, 1, false}, Row{6, 0, 0.25, false}}) {
    TimedBench bench(ElementwiseSpec(core::DType::kF32, 10'000), traffic(row.original_share));
    bench.options.chip = core::Chip{};
    bench.options.chip->name = "test chip";
    bench.options.chip->dram_bytes_per_second = 1e10;
    bench.options.chip->l2_bytes = row.l2_bytes;
    bench.untrusted.timing = [&](FakeEvaluator::ScriptedPair p) {
      p.pair.original_us = 10;
      p.pair.candidate_us = row.candidate_us;
    };
    const auto verdict = bench.Try(traffic(1), judge::VerificationLevel::kQuick);
    SCOPED_TRACE(row.candidate_us);
    if (row.refused) ExpectCheck(verdict, "roofline-floor", "test chip");
    else MeasuredOf(verdict);
  }
}

TEST(JudgeTiming, TenfoldGainsAreForReview) {
  TimedBench bench;
  bench.untrusted.timing = [](FakeEvaluator::ScriptedPair p) { p.pair.original_us = 1500; };
  const core::Measured measured = MeasuredOf(bench.Try(Twice));
  EXPECT_EQ(measured.decision, core::TimingDecision::kFaster);
  ASSERT_FALSE(measured.notes.empty());
  EXPECT_TRUE(measured.notes.back().starts_with("review: case n is 15.0 times as fast")) << measured.notes.back();
}

}  // namespace
}  // namespace warpwright
