// Whether an entry became slower. Two questions, each with its own comparison:
//
// 1. Did the code become slower? The current revision and the reference revision are timed side by side, in pairs, in
//    one process, and judged as candidates are (core/timing.h: fixed looks, one-sided bounds over blocks). Nothing that
//    changes between runs is part of it. Slower means beyond the threshold of the manifest's `nightly` policy at the
//    look's alpha, in the mean over the cases or in one of them (alpha divided by their number), and once more in a
//    second process with other inputs. The reference is the fastest known revision: it moves when the current revision
//    is proven faster, and when a regression was open for kAcceptAfterNights runs. A run that is merely the same does
//    not move it, so that many small losses add up and are detected.
//
// 2. Did the environment become slower? Then equal code has different times than in earlier runs. The level is the
//    median of the first 30 runs of equal code on this machine since it last changed; their scale is Qn (Rousseeuw and
//    Croux, JASA 88, 1993: 82 % efficient, half of the runs may be spoiled). The expected deviation of one run has
//    three parts: the night-to-night variance (Qn^2 less the mean squared standard error within the runs, not below
//    zero), the run's own standard error, and that of the median (pi/2 Qn^2/n). Differences are compared with Student's
//    t, with 0.8 (n - 1) degrees of freedom. A change is called if two consecutive runs are on the same side, each at
//    0.02, their mean at 0.00015 and beyond the threshold (all one-sided, divided by the number of cases): a single run
//    may have shared the GPU with another job, and is at most called suspect. Fewer than 8 runs are not enough for a
//    decision. After a change was called the level is restarted, so that it is reported once. Verified by
//    tests/unit/nights/regression_test.cpp on simulated histories: fewer than 1 % of histories of 100 runs without a
//    change have an alarm, also if runs are correlated by 0.3; a step of 5 % is found within two runs in at least 95 %
//    of histories if runs deviate by 0.5 %, and if they deviate by 1 %, in 80 % after 20 runs and 90 % after 60.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/timing.h"
#include "nights/history.h"

namespace warpwright::nights {

inline constexpr int kAcceptAfterNights = 14;

struct DriftRules {
  double threshold = 1.03;
  int cases = 1;  // that are tested in one run
  int min_nights = 8, window = 30;
  double alarm = 1.5e-4, each = 0.02, suspect = 0.0025;  // one-sided
  bool noiseless = false;                                // times are modelled: one run is as good as two
  double floor = 0.001;  // of the scale: clocks have a granularity, and a simulator has no noise
};
struct NightPoint {
  double log_us = 0;  // of the case
  double error = 0;   // its standard error within the run
};
enum class Drift { kTooFew, kSteady, kSuspect, kSlower, kFaster };
struct DriftResult {
  Drift drift = Drift::kTooFew;
  double log_ratio = 0;         // current / level
  double lower = 0, upper = 0;  // of it: two-sided 95 %
  double level = 0, scale = 0;  // of the earlier runs, in log us
  double deviations = 0;        // log_ratio in units of one run's expected deviation
  int nights = 0;
};
// `earlier`: oldest first, all of the current level. The last of them is the previous run, which is part of the
// decision but not of the level.
DriftResult JudgeDrift(std::span<const NightPoint> earlier, const NightPoint& tonight, const DriftRules& rules);

// Qn with its corrections for small samples; 0 for fewer than two values.
double QnScale(std::vector<double> values);

// The paired comparison of one entry: per case and over all of them. log_ratio is log(reference / current) as in
// core/timing.h.
struct PairedCase {
  std::string name;
  double weight = 1;
  core::TimingSummary summary;
};
struct PairedResult {
  core::TimingOverall overall;
  std::vector<PairedCase> cases;
  bool modelled = false;
};
enum class CodeDecision { kFaster, kSame, kSlower, kUnclear };
struct CodeJudgement {
  CodeDecision decision = CodeDecision::kUnclear;
  double log_ratio = 0, lower = 0,
         upper = 0;        // of current / reference, over all cases; of the worst case if only that is slower
  std::string worst_case;  // empty if the mean decides
};
// At the alpha of the look that the pairs have reached.
CodeJudgement JudgeCode(const PairedResult& paired, double threshold, double alpha);

// The times of `name` on equal code on this machine since its level last changed, oldest first.
std::vector<NightPoint> LevelOf(const History& history, const HistoryKey& key, const std::string& slice,
                                const std::string& name);

}  // namespace warpwright::nights
