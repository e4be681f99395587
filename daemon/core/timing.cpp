#include "core/timing.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/students_t.hpp>
#include <climits>
#include <cmath>
#include <map>

#include "core/median.h"

namespace warpwright::core {
namespace {

constexpr size_t kFewPairs = 4;

// 0: too few to tell.
double UsualClockOfOriginal(std::span<const TimedPair> pairs) {
  std::vector<double> clocks;
  for (const TimedPair& pair : pairs)
    if (pair.original_mhz > 0) clocks.push_back(pair.original_mhz);
  return clocks.size() < kFewPairs ? 0 : Median(clocks);
}

bool Counts(const TimedPair& pair, const TimingRules& rules, double usual_mhz) {
  if (!(pair.original_us > 0) || !(pair.candidate_us > 0)) return false;
  const double a = pair.original_mhz, b = pair.candidate_mhz;
  if (a <= 0 || b <= 0) return true;
  if (rules.nominal_mhz > 0 && std::min(a, b) < rules.throttled_share * rules.nominal_mhz) return false;
  if (usual_mhz > 0) return a >= (1 - rules.clock_difference) * usual_mhz;
  return std::abs(a - b) <= rules.clock_difference * std::max(a, b);
}

TimingDecision Decide(double lower, double upper, double min_effect) {
  const double effect = std::log1p(min_effect);
  if (lower > effect) return TimingDecision::kFaster;
  if (upper < -effect) return TimingDecision::kSlower;
  if (lower >= -effect && upper <= effect) return TimingDecision::kSame;
  return TimingDecision::kInconclusive;
}

bool LostTooMany(const TimingSummary& summary, const TimingRules& rules) {
  return summary.discarded > rules.max_discarded_share * static_cast<double>(summary.pairs + summary.discarded);
}

}  // namespace

double StudentQuantile(double alpha, int degrees) {
  return boost::math::quantile(boost::math::complement(boost::math::students_t(degrees), alpha));
}

std::string_view Name(TimingDecision decision) {
  switch (decision) {
    case TimingDecision::kFaster: return "faster";
    case TimingDecision::kSame: return "same";
    case TimingDecision::kSlower: return "slower";
    case TimingDecision::kInconclusive: return "inconclusive";
  }
  return "?";
}

std::span<const TimingLook> TimingLooks() {
  static constexpr std::array<TimingLook, 3> kLooks = {{{10, 0.01}, {20, 0.02}, {40, 0.02}}};
  return kLooks;
}

TimingSummary Summarize(std::span<const TimedPair> pairs, const TimingRules& rules, double alpha) {
  TimingSummary summary;
  struct Block {
    std::vector<double> original, candidate;
  };
  std::map<int, Block> blocks;
  std::vector<double> original, candidate;
  const double usual_mhz = UsualClockOfOriginal(pairs);
  for (const TimedPair& pair : pairs) {
    if (!Counts(pair, rules, usual_mhz)) {
      ++summary.discarded;
      continue;
    }
    ++summary.pairs;
    Block& block = blocks[pair.block];
    block.original.push_back(std::log(pair.original_us));
    block.candidate.push_back(std::log(pair.candidate_us));
    original.push_back(pair.original_us);
    candidate.push_back(pair.candidate_us);
  }
  summary.blocks = static_cast<int>(blocks.size());
  if (summary.pairs == 0) return summary;
  summary.original_us = Median(original);
  summary.candidate_us = Median(candidate);
  std::vector<double> values;
  for (const auto& [index, block] : blocks) values.push_back(Median(block.original) - Median(block.candidate));
  double sum = 0, squares = 0;
  for (const double v : values) sum += v;
  summary.log_ratio = sum / static_cast<double>(values.size());
  if (values.size() < 2) {
    summary.lower = summary.decision_lower = -INFINITY;
    summary.upper = summary.decision_upper = INFINITY;
    return summary;
  }
  for (const double v : values) squares += (v - summary.log_ratio) * (v - summary.log_ratio);
  const auto n = static_cast<double>(values.size());
  const double error = summary.standard_error = std::sqrt(squares / (n - 1) / n);
  const int degrees = static_cast<int>(values.size()) - 1;
  const double shown = error * StudentQuantile(0.025, degrees), deciding = error * StudentQuantile(alpha, degrees);
  summary.lower = summary.log_ratio - shown;
  summary.upper = summary.log_ratio + shown;
  summary.decision_lower = summary.log_ratio - deciding;
  summary.decision_upper = summary.log_ratio + deciding;
  if (!LostTooMany(summary, rules))
    summary.decision = Decide(summary.decision_lower, summary.decision_upper, rules.min_effect);
  return summary;
}

TimingOverall Combine(std::span<const WeightedTiming> cases, const TimingRules& rules, double alpha) {
  TimingOverall overall;
  double weights = 0, variance = 0;
  int blocks = INT_MAX;
  bool usable = true, one_slower = false;
  for (const auto& [weight, summary] : cases) {
    weights += weight;
    overall.log_ratio += weight * summary.log_ratio;
    variance += weight * weight * summary.standard_error * summary.standard_error;
    blocks = std::min(blocks, summary.blocks);
    usable = usable && !LostTooMany(summary, rules);
    one_slower = one_slower || summary.log_ratio < -std::log1p(rules.min_effect);
  }
  if (!(weights > 0)) return overall;
  overall.log_ratio /= weights;
  if (blocks < 2) {
    overall.decision_lower = -INFINITY;
    overall.decision_upper = INFINITY;
    return overall;
  }
  const double deciding = std::sqrt(variance) / weights * StudentQuantile(alpha, blocks - 1);
  overall.decision_lower = overall.log_ratio - deciding;
  overall.decision_upper = overall.log_ratio + deciding;
  if (!usable) return overall;
  overall.decision = Decide(overall.decision_lower, overall.decision_upper, rules.min_effect);
  if (overall.decision == TimingDecision::kFaster && one_slower) overall.decision = TimingDecision::kInconclusive;
  return overall;
}

}  // namespace warpwright::core
