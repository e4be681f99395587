// Whether an entry became slower. Two questions, each with its own comparison:
//
// 1. Did the code become slower? Tonight's revision and the reference revision are timed side by side, in pairs, in one
// process, and
//    judged as candidates are (core/timing.h: fixed looks, one-sided bounds over blocks). Nothing that changes between
//    nights is part of it. Slower means beyond the threshold of the manifest's `nightly` policy at the look's alpha, in
//    the mean over the cases or in one of them (alpha divided by their number), and once more in a second process with
//    other inputs. The reference ("anchor") is the fastest revision that is known: it moves where tonight is proven
//    faster, and where a regression was open for kAcceptAfterNights nights. A night that is merely the same does not
//    move it, so that many small losses add up and are seen.
//
// 2. Did the surroundings become slower? Then equal code has other times than in the nights before. The level is the
// median of the first
//    30 nights of equal code on this machine since it last changed; their scale is Qn (Rousseeuw and Croux, JASA 88,
//    1993: 82 % efficient, half of the nights may be spoiled). What one night is expected to be off by has three parts:
//    the night-to-night variance (Qn^2 less the mean squared standard error within the nights, not below zero), the
//    night's own standard error, and that of the median (pi/2 Qn^2/n). Differences are compared with Student's t, with
//    0.8 (n - 1) degrees of freedom. A change is called where two nights in succession are on the same side, each at
//    0.02, their mean at 0.00015 and beyond the threshold (all one-sided, divided by the number of cases): a single
//    night may be somebody else's job on the GPU, and is called suspect at the most. Fewer than 8 nights say nothing.
//    After a change was called the level begins anew, so that it is reported once. Stated, and held by
//    tests/unit/nights/regression_test.cpp on simulated histories: fewer than 1 % of histories of 100 nights without a
//    change have an alarm, also where nights are correlated by 0.3; a step of 5 % is found within two nights in at
//    least 95 % of histories where nights deviate by 0.5 %, and where they deviate by 1 %, in 80 % after 20 nights and
//    90 % after 60.
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
  int cases = 1;  // that are looked at in one night
  int min_nights = 8, window = 30;
  double alarm = 1.5e-4, each = 0.02, suspect = 0.0025;  // one-sided
  bool noiseless = false;                                // times are modelled: one night is as good as two
  double floor = 0.001;  // of the scale: clocks have a grain, and a simulator has no noise
};
struct NightPoint {
  double log_us = 0;  // of the case
  double error = 0;   // its standard error within the night
};
enum class Drift { kTooFew, kSteady, kSuspect, kSlower, kFaster };
struct DriftResult {
  Drift drift = Drift::kTooFew;
  double log_ratio = 0;         // tonight / level
  double lower = 0, upper = 0;  // of it: two-sided 95 %
  double level = 0, scale = 0;  // of the nights before, in log us
  double deviations = 0;        // log_ratio in units of what is expected of one night
  int nights = 0;
};
// `earlier`: oldest first, all of the present level. The last of them is the night before, which takes part in the
// decision and not in the level.
DriftResult JudgeDrift(std::span<const NightPoint> earlier, const NightPoint& tonight, const DriftRules& rules);

// Qn with its corrections for small samples; 0 for fewer than two values.
double QnScale(std::vector<double> values);

// The paired comparison of one entry: per case and over all of them. log_ratio is log(reference / tonight) as in
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
         upper = 0;        // of tonight / reference, over all cases; of the worst case where only that is slower
  std::string worst_case;  // empty where the mean decides
};
// At the alpha of the look at which the pairs stand.
CodeJudgement JudgeCode(const PairedResult& paired, double threshold, double alpha);

// The times of `name` on equal code on this machine since its level last changed, oldest first.
std::vector<NightPoint> LevelOf(const History& history, const HistoryKey& key, const std::string& slice,
                                const std::string& name);

}  // namespace warpwright::nights
