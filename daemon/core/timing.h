// Paired timing of a candidate against its original on a real device, and the conclusions that it supports.
//
// The protocol (after nvbench's cold measurement and the published lessons of GPU kernel contests): original and
// candidate run on the same fresh inputs, in pairs, in random order, from cold caches. Pairs come in blocks; a block's
// value is the difference of its medians of log time, so that slow drift and single outliers cancel. The looks (interim
// analyses) are fixed: after 10, 20 and 40 blocks, with one-sided alpha of 0.01, 0.02 and 0.02, never "until
// significant". A verdict is never forced: kInconclusive is one.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace warpwright::core {

// How far a timed output was from the original's on the same inputs, as computed on the device. Every timed output is
// checked this way; a few are returned completely and compared outside.
struct OutputDeviation {
  double relative_rms = 0;  // rms(candidate - original) / rms(original), over the elements that are finite in both
  // Elements that are NaN or infinite in only one of the two, or infinities of opposite sign.
  uint64_t different_class = 0;
  uint64_t unwritten = 0;  // elements that still hold the poison and are far from the original's
};

// One launch of each side's whole plan on the same inputs.
struct TimedPair {
  int block = 0;
  bool candidate_first = false;
  double original_us = 0, candidate_us = 0;
  double original_mhz = 0, candidate_mhz = 0;  // multiprocessor clock during the launch; 0: unknown
  OutputDeviation drift;                       // the worst over the outputs
};

enum class TimingDecision : uint8_t { kFaster, kSame, kSlower, kInconclusive };
std::string_view Name(TimingDecision decision);  // "faster"

struct TimingRules {
  double min_effect = 0.02;  // FASTER must be faster by more than this
  // A pair is discarded if a clock is below this share of `nominal_mhz`: a brake halves it; power alone takes tensor
  // cores at work to 0.7.
  double throttled_share = 0.5;
  // Or if the original's clock is lower by more than it usually was in these pairs (of few pairs: if the clocks of its
  // two sides differ by more). That a candidate runs at another clock is no accident: it draws another power.
  double clock_difference = 0.03;
  double max_discarded_share = 0.20;  // with more, kInconclusive
  double nominal_mhz = 0;             // 0: only differences are checked
};

// The looks, in blocks; no more blocks than the last one's are ever timed.
struct TimingLook {
  int blocks;
  double alpha;  // one-sided, of this look
};
std::span<const TimingLook> TimingLooks();

struct TimingSummary {
  TimingDecision decision = TimingDecision::kInconclusive;
  double log_ratio = 0;         // mean over blocks of log(original / candidate): > 0 is faster
  double standard_error = 0;    // of log_ratio, over the blocks
  double lower = 0, upper = 0;  // of log_ratio: two-sided 95 % by Student's t over the blocks
  double decision_lower = 0;    // one-sided bound at the look's alpha, which decides
  double decision_upper = 0;
  double original_us = 0, candidate_us = 0;          // medians over the pairs that were not discarded
  double hot_original_us = 0, hot_candidate_us = 0;  // with warm caches, back to back; not part of the decision
  int pairs = 0, discarded = 0, blocks = 0;
  bool operator==(const TimingSummary&) const = default;
};

// `alpha`: of the look that the pairs have reached. kFaster if the lower bound is above log(1 + min_effect), kSlower if
// the upper is below -log(1 + min_effect), kSame if both bounds are within that range; else kInconclusive.
TimingSummary Summarize(std::span<const TimedPair> pairs, const TimingRules& rules, double alpha);

// Combines several cases into one: their weighted mean, with the bound that follows from their standard errors and the
// smallest number of blocks of any case.
struct WeightedTiming {
  double weight = 1;
  TimingSummary summary;
};
struct TimingOverall {
  TimingDecision decision = TimingDecision::kInconclusive;
  double log_ratio = 0;
  double decision_lower = 0, decision_upper = 0;  // one-sided, at alpha
};
// Decides like Summarize, but never kFaster if a case is slower by more than `min_effect`, and kInconclusive if a case
// has too few blocks or lost too many pairs.
TimingOverall Combine(std::span<const WeightedTiming> cases, const TimingRules& rules, double alpha);

// The upper quantile of Student's t distribution with `degrees` (at least 1) degrees of freedom: a larger value has the
// probability `alpha` (between 0 and 1).
double StudentQuantile(double alpha, int degrees);

}  // namespace warpwright::core
