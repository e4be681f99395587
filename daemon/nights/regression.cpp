#include "nights/regression.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "core/median.h"

namespace warpwright::nights {
namespace {

constexpr double kEfficiency = 0.8;  // of Qn, rounded down

// Few distinct pairs of arguments, requested repeatedly.
double Quantile(double alpha, int degrees) {
  thread_local std::map<std::pair<double, int>, double> known;
  const auto [found, fresh] = known.try_emplace({alpha, degrees}, 0);
  if (fresh) found->second = core::StudentQuantile(alpha, degrees);
  return found->second;
}

double MedianVariance(size_t nights, double qn) {
  return 0.5 * std::numbers::pi * qn * qn / static_cast<double>(nights);
}

// The scale of one run's difference from the level.
double ExpectedOff(std::span<const NightPoint> level, double qn, const NightPoint& night) {
  double within = 0;
  for (const NightPoint& point : level) within += point.error * point.error;
  within /= static_cast<double>(level.size());
  const double between = std::max(0.0, qn * qn - within);
  return std::sqrt(between + night.error * night.error + MedianVariance(level.size(), qn));
}

}  // namespace

double QnScale(std::vector<double> values) {
  const size_t n = values.size();
  if (n < 2) return 0;
  std::vector<double> distances;
  distances.reserve(n * (n - 1) / 2);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = i + 1; j < n; ++j) distances.push_back(std::abs(values[i] - values[j]));
  const size_t h = n / 2 + 1, k = h * (h - 1) / 2;
  std::nth_element(distances.begin(), distances.begin() + static_cast<std::ptrdiff_t>(k - 1), distances.end());
  constexpr double kSmall[] = {0,     0,     0.399, 0.994, 0.512,
                               0.844, 0.611, 0.857, 0.669, 0.872};  // table of the paper, n = 2 to 9
  const double count = static_cast<double>(n);
  const double correction = n <= 9 ? kSmall[n] : n % 2 == 1 ? count / (count + 1.4) : count / (count + 3.8);
  return 2.2219 * correction * distances[k - 1];
}

DriftResult JudgeDrift(std::span<const NightPoint> earlier, const NightPoint& tonight, const DriftRules& rules) {
  DriftResult result;
  const bool enough = static_cast<int>(earlier.size()) > rules.min_nights;
  const NightPoint* before = enough ? &earlier.back() : nullptr;
  const auto level = earlier.first(std::min(earlier.size() - (enough ? 1 : 0), static_cast<size_t>(rules.window)));
  result.nights = static_cast<int>(level.size());
  if (result.nights < rules.min_nights) return result;

  std::vector<double> values;
  for (const NightPoint& point : level) values.push_back(point.log_us);
  result.level = core::Median(values);
  result.scale = std::max(QnScale(values), rules.floor);
  const int degrees = std::max(3, static_cast<int>(kEfficiency * (result.nights - 1)));
  const double off = ExpectedOff(level, result.scale, tonight);
  result.log_ratio = tonight.log_us - result.level;
  result.deviations = result.log_ratio / off;
  const double half = Quantile(0.025, degrees) * off;
  result.lower = result.log_ratio - half;
  result.upper = result.log_ratio + half;

  const double cases = std::max(1, rules.cases), limit = std::log(rules.threshold);
  const auto beyond = [&](double deviations, double alpha) {
    return std::abs(deviations) >= Quantile(alpha / cases, degrees);
  };
  const double median_variance = MedianVariance(level.size(), result.scale);
  result.drift =
      std::abs(result.log_ratio) > limit && beyond(result.deviations, rules.suspect) ? Drift::kSuspect : Drift::kSteady;
  if (result.drift == Drift::kSuspect && rules.noiseless)
    result.drift = result.log_ratio > 0 ? Drift::kSlower : Drift::kFaster;
  if (before == nullptr || rules.noiseless) return result;
  const double last = before->log_us - result.level, mean = 0.5 * (last + result.log_ratio);
  const double last_off = ExpectedOff(level, result.scale, *before);
  const double both_off =
      std::sqrt(0.25 * (off * off + last_off * last_off) + 0.5 * median_variance);  // both share the same median
  const bool same_side = (last > 0) == (result.log_ratio > 0) && beyond(result.deviations, rules.each) &&
                         beyond(last / last_off, rules.each);
  if (same_side && std::abs(mean) > limit && beyond(mean / both_off, rules.alarm))
    result.drift = mean > 0 ? Drift::kSlower : Drift::kFaster;
  return result;
}

CodeJudgement JudgeCode(const PairedResult& paired, double threshold, double alpha) {
  CodeJudgement judgement;
  const auto take = [&](double log_ratio, double lower, double upper) {  // the given ratio is reference / current
    judgement.log_ratio = -log_ratio;
    judgement.lower = -upper;
    judgement.upper = -lower;
  };
  take(paired.overall.log_ratio, paired.overall.decision_lower, paired.overall.decision_upper);
  switch (paired.overall.decision) {
    case core::TimingDecision::kFaster: judgement.decision = CodeDecision::kFaster; break;
    case core::TimingDecision::kSame: judgement.decision = CodeDecision::kSame; break;
    case core::TimingDecision::kSlower: judgement.decision = CodeDecision::kSlower; return judgement;
    case core::TimingDecision::kInconclusive: judgement.decision = CodeDecision::kUnclear; break;
  }
  const double limit = std::log(threshold),
               share = alpha / static_cast<double>(std::max<size_t>(1, paired.cases.size()));
  const PairedCase* worst = nullptr;
  double worst_upper = -limit;
  for (const PairedCase& one : paired.cases) {
    if (one.summary.blocks < 2) continue;
    const double upper =
        one.summary.log_ratio + core::StudentQuantile(share, one.summary.blocks - 1) * one.summary.standard_error;
    if (upper >= worst_upper) continue;
    worst_upper = upper;
    worst = &one;
  }
  if (worst == nullptr) return judgement;
  const double half = worst_upper - worst->summary.log_ratio;
  take(worst->summary.log_ratio, worst->summary.log_ratio - half, worst_upper);
  judgement.worst_case = worst->name;
  judgement.decision = CodeDecision::kSlower;
  return judgement;
}

std::vector<NightPoint> LevelOf(const History& history, const HistoryKey& key, const std::string& slice,
                                const std::string& name) {
  std::string since;
  for (const NightVerdict& night : history.nights)
    if (night.epoch && night.key.SameMachine(key)) since = std::max(since, night.time);
  std::vector<NightPoint> points;
  for (const CaseTime& time : history.cases)
    if (time.key.SameMachine(key) && time.slice == slice && time.case_name == name && time.time >= since)
      points.push_back({time.log_mean, time.log_error});
  return points;
}

}  // namespace warpwright::nights
