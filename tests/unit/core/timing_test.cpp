#include "core/timing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace warpwright {
namespace {

TEST(StudentQuantile, AsInTables) {
  struct Row {
    double alpha;
    int degrees;
    double t;
  };
  // Upper quantiles as printed in statistical tables (Fisher and Yates, table III; NIST handbook, 1.3.6.7.2), three
  // decimals.
  for (const Row& row : {Row{0.05, 1, 6.314},     Row{0.025, 1, 12.706}, Row{0.01, 1, 31.821}, Row{0.005, 1, 63.657},
                         Row{0.001, 1, 318.309},  Row{0.05, 2, 2.920},   Row{0.01, 2, 6.965},  Row{0.001, 2, 22.327},
                         Row{0.025, 3, 3.182},    Row{0.025, 5, 2.571},  Row{0.01, 9, 2.821},  Row{0.025, 9, 2.262},
                         Row{0.001, 9, 4.297},    Row{0.05, 19, 1.729},  Row{0.01, 19, 2.539}, Row{0.025, 29, 2.045},
                         Row{0.005, 30, 2.750},   Row{0.025, 39, 2.023}, Row{0.01, 60, 2.390}, Row{0.025, 120, 1.980},
                         Row{0.05, 100000, 1.645}})
    EXPECT_NEAR(core::StudentQuantile(row.alpha, row.degrees), row.t, 6e-4) << row.alpha << " " << row.degrees;
}

// With one and two degrees of freedom the quantile has a closed form; nightly runs use probabilities as small as these.
TEST(StudentQuantile, FarOutInTheTail) {
  for (const double alpha : {0.3, 0.02, 0.01, 1e-3, 1e-5, 1e-7}) {
    const double cauchy = 1 / std::tan(std::numbers::pi * alpha);
    EXPECT_NEAR(core::StudentQuantile(alpha, 1) / cauchy, 1, 1e-12) << alpha;
    const double two = (1 - 2 * alpha) / std::sqrt(2 * alpha * (1 - alpha));
    EXPECT_NEAR(core::StudentQuantile(alpha, 2) / two, 1, 1e-12) << alpha;
  }
}

core::TimedPair Pair(int block, double original_us, double candidate_us, double original_mhz = 0,
                     double candidate_mhz = 0) {
  return {block, false, original_us, candidate_us, original_mhz, candidate_mhz, {}};
}

TEST(Summarize, MeansOfBlocksAndTheirBounds) {
  // Block values log 1.1 + {-d, 0, d}: standard error d / sqrt 3, two degrees of freedom.
  const double d = 0.003;
  std::vector<core::TimedPair> pairs;
  for (const int block : {0, 1, 2})
    for (int i = 0; i < 3; ++i) pairs.push_back(Pair(block, 110 * std::exp(d * (block - 1)), 100));
  pairs.push_back(Pair(0, 1000, 100));  // an outlier that no median is sensitive to
  const core::TimingSummary summary = core::Summarize(pairs, {}, 0.05);
  EXPECT_NEAR(summary.log_ratio, std::log(1.1), 1e-12);
  EXPECT_NEAR(summary.standard_error, d / std::sqrt(3.0), 1e-12);
  EXPECT_NEAR(summary.upper - summary.lower, 2 * 4.3027 * d / std::sqrt(3.0), 1e-6);
  EXPECT_NEAR(summary.decision_lower, std::log(1.1) - 2.91999 * d / std::sqrt(3.0), 1e-7);
  EXPECT_EQ(summary.decision, core::TimingDecision::kFaster);
  EXPECT_EQ(summary.pairs, 10);
  EXPECT_EQ(summary.blocks, 3);
  EXPECT_EQ(summary.candidate_us, 100);
}

TEST(Summarize, Decisions) {
  struct Row {
    double ratio, spread;
    core::TimingDecision decision;
  };
  for (const Row& row :
       {Row{1.05, 0.001, core::TimingDecision::kFaster}, Row{1.021, 0.0001, core::TimingDecision::kFaster},
        Row{1.019, 0.0001, core::TimingDecision::kSame}, Row{1, 0.001, core::TimingDecision::kSame},
        Row{0.985, 0.001, core::TimingDecision::kSame}, Row{0.95, 0.001, core::TimingDecision::kSlower},
        Row{1.05, 0.2, core::TimingDecision::kInconclusive}, Row{1, 0.2, core::TimingDecision::kInconclusive},
        Row{1.02, 0.001, core::TimingDecision::kInconclusive}}) {
    std::vector<core::TimedPair> pairs;
    for (int block = 0; block < 10; ++block)
      pairs.push_back(Pair(block, 100 * row.ratio * (1 + row.spread * (block % 2 == 0 ? 1 : -1)), 100));
    EXPECT_EQ(core::Summarize(pairs, {}, 0.01).decision, row.decision) << row.ratio << " " << row.spread;
  }
  EXPECT_EQ(core::Summarize({}, {}, 0.01).decision, core::TimingDecision::kInconclusive);
  EXPECT_EQ(core::Summarize(std::vector{Pair(0, 200, 100)}, {}, 0.01).decision, core::TimingDecision::kInconclusive)
      << "one block says nothing";
}

TEST(Summarize, ThrottledPairsDoNotCount) {
  core::TimingRules rules;
  rules.nominal_mhz = 1980;
  struct Row {
    double original_us, original_mhz, candidate_mhz;
    bool counts;
  };
  for (const Row& row : {Row{100, 1980, 1980, true}, Row{100, 1980, 1930, true}, Row{100, 1980, 1900, false},
                         Row{100, 950, 950, false}, Row{100, 1400, 1400, true}, Row{100, 0, 1980, true},
                         Row{0, 1980, 1980, false}, Row{-1, 1980, 1980, false}, Row{NAN, 1980, 1980, false}}) {
    const core::TimingSummary summary =
        core::Summarize(std::vector{Pair(0, row.original_us, 100, row.original_mhz, row.candidate_mhz)}, rules, 0.01);
    EXPECT_EQ(summary.pairs, row.counts ? 1 : 0)
        << row.original_us << " " << row.original_mhz << " " << row.candidate_mhz;
    EXPECT_EQ(summary.discarded, row.counts ? 0 : 1);
  }
  for (const int throttled : {20, 21}) {
    std::vector<core::TimedPair> pairs;
    for (int i = 0; i < 100; ++i)
      pairs.push_back(Pair(i / 10, 150 + i % 3, 100, 1980, i % 5 == 0 || (throttled == 21 && i == 99) ? 900 : 1980));
    EXPECT_EQ(core::Summarize(pairs, rules, 0.01).decision,
              throttled == 20 ? core::TimingDecision::kFaster : core::TimingDecision::kInconclusive)
        << throttled;
  }
}

// Tensor cores draw more power than what they take the place of: on an H100 all pairs of a product 21 times as fast
// were discarded for their clocks.
TEST(Summarize, ACandidateMayRunAtAnotherClock) {
  core::TimingRules rules;
  rules.nominal_mhz = 1980;
  const auto decide = [&](const auto& clocks) {
    std::vector<core::TimedPair> pairs;
    for (int i = 0; i < 60; ++i) {
      const auto [original_mhz, candidate_mhz] = clocks(i);
      pairs.push_back(Pair(i / 6, (2100 + i % 3) * 1980 / original_mhz, 100, original_mhz, candidate_mhz));
    }
    return core::Summarize(pairs, rules, 0.01).decision;
  };
  using Clocks = std::pair<double, double>;
  EXPECT_EQ(decide([](int) { return Clocks(1980, 1410); }), core::TimingDecision::kFaster);
  EXPECT_EQ(decide([](int) { return Clocks(1755, 1980); }), core::TimingDecision::kFaster);
  EXPECT_EQ(decide([](int i) { return Clocks(1755, i % 2 == 0 ? 1980 : 1500); }), core::TimingDecision::kFaster);
  // The original was slowed down in every third pair: too often to believe the others.
  EXPECT_EQ(decide([](int i) { return Clocks(i % 3 == 0 ? 1500 : 1980, 1980); }), core::TimingDecision::kInconclusive);
}

core::TimingSummary OfCase(double ratio, double error, int blocks = 10, int discarded = 0) {
  core::TimingSummary summary;
  summary.log_ratio = std::log(ratio);
  summary.standard_error = error;
  summary.blocks = blocks;
  summary.pairs = 100 - discarded;
  summary.discarded = discarded;
  return summary;
}

TEST(Combine, MeansOfCasesByWeight) {
  struct Row {
    std::vector<core::WeightedTiming> cases;
    core::TimingDecision decision;
  };
  const Row rows[] = {
      {{{1, OfCase(1.10, 0.001)}}, core::TimingDecision::kFaster},
      {{{1, OfCase(1.10, 0.001)}, {1, OfCase(1.00, 0.001)}}, core::TimingDecision::kFaster},
      {{{1, OfCase(1.10, 0.001)}, {9, OfCase(1.00, 0.001)}}, core::TimingDecision::kSame},
      {{{9, OfCase(1.30, 0.001)}, {1, OfCase(0.97, 0.001)}}, core::TimingDecision::kInconclusive},  // one is slower
      {{{9, OfCase(1.30, 0.001)}, {1, OfCase(0.985, 0.001)}}, core::TimingDecision::kFaster},
      {{{1, OfCase(0.80, 0.001)}, {1, OfCase(1.00, 0.001)}}, core::TimingDecision::kSlower},
      {{{1, OfCase(1.10, 0.001)}, {1, OfCase(1.10, 0.2)}}, core::TimingDecision::kInconclusive},
      {{{1, OfCase(1.10, 0.001)}, {1, OfCase(1.10, 0.001, 10, 30)}}, core::TimingDecision::kInconclusive},
      {{{1, OfCase(1.10, 0.001)}, {1, OfCase(1.10, 0.001, 1)}}, core::TimingDecision::kInconclusive},
      {{{0, OfCase(1.10, 0.001)}}, core::TimingDecision::kInconclusive},
      {{}, core::TimingDecision::kInconclusive}};
  for (size_t i = 0; i < std::size(rows); ++i)
    EXPECT_EQ(core::Combine(rows[i].cases, {}, 0.01).decision, rows[i].decision) << i;
  const core::TimingOverall overall =
      core::Combine(std::vector<core::WeightedTiming>{{3, OfCase(1.2, 0.01)}, {1, OfCase(1.1, 0.02)}}, {}, 0.025);
  EXPECT_NEAR(overall.log_ratio, (3 * std::log(1.2) + std::log(1.1)) / 4, 1e-12);
  EXPECT_NEAR(overall.decision_upper - overall.log_ratio, 2.2622 * std::sqrt(9 * 1e-4 + 4e-4) / 4, 1e-6);
}

// The protocol on a simulated GPU: 0.4 % noise, 2 % of the samples up to 50 % longer, and a clock that drifts by
// `drift`.
class Gpu {
 public:
  Gpu(uint64_t seed, double drift) : random_(seed), drift_(drift) {}
  core::TimingDecision Decide(double speedup) {
    std::vector<core::TimedPair> pairs;
    core::TimingSummary summary;
    int done = 0;
    for (const core::TimingLook& look : core::TimingLooks()) {
      for (int block = done; block < look.blocks; ++block)
        for (int i = 0; i < 10; ++i) {
          const double original = Sample(100), candidate = Sample(100 / speedup);
          pairs.push_back(Pair(block, original, candidate));
        }
      done = look.blocks;
      summary = core::Summarize(pairs, {}, look.alpha);
      if (summary.decision != core::TimingDecision::kInconclusive) break;
    }
    return summary.decision;
  }

 private:
  double Sample(double us) {
    walk_ = 0.999 * walk_ + drift_ * 0.0447 * normal_(random_);  // standard deviation: drift
    const double outlier = uniform_(random_) < 0.02 ? 1 + 0.5 * uniform_(random_) : 1;
    return us * std::exp(walk_ + 0.004 * normal_(random_)) * outlier;
  }
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
  const double drift_;
  double walk_ = 0;
};

TEST(TimingProtocol, NeverCallsTheSameFasterAndFindsWhatIs) {
  struct Row {
    double drift, speedup;
  };
  constexpr int kRuns = 400;
  for (const Row& row : {Row{0, 1}, Row{0.005, 1}, Row{0.01, 1}, Row{0.02, 1}, Row{0.01, 1.015}, Row{0, 1.05},
                         Row{0.01, 1.05}, Row{0.02, 1.05}, Row{0.01, 0.95}}) {
    int faster = 0, slower = 0;
    for (int run = 0; run < kRuns; ++run) {
      const core::TimingDecision decision = Gpu(static_cast<uint64_t>(run) * 977 + 5, row.drift).Decide(row.speedup);
      faster += decision == core::TimingDecision::kFaster;
      slower += decision == core::TimingDecision::kSlower;
    }
    SCOPED_TRACE(testing::Message() << "drift " << row.drift << ", speed-up " << row.speedup << ": " << faster
                                    << " faster, " << slower << " slower");
    if (row.speedup >= 1.05) {
      EXPECT_GE(faster, kRuns * 99 / 100);
    } else {
      EXPECT_EQ(faster, 0);
    }
    if (row.speedup < 1) {
      EXPECT_GE(slower, kRuns * 99 / 100);
    } else {
      EXPECT_EQ(slower, 0);
    }
  }
}

}  // namespace
}  // namespace warpwright
