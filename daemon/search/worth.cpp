#include "search/worth.h"

#include <algorithm>
#include <cmath>

#include "core/timing.h"

namespace warpwright::search {
namespace {

constexpr double kAlpha = 0.05;
// Of what a minute has to gain, the part that a plan must promise: expectations are shrunk towards nothing.
constexpr double kWorthwhileShare = 0.1;

}  // namespace

double WorstCase(const core::Measured& before, const core::Measured& after) {
  double worst = 1e300;
  for (const auto& b : before.cases)
    for (const auto& a : after.cases)
      if (a.case_name == b.case_name && a.time_us > 0 && b.weight > 0)
        worst = std::min(worst, std::exp(core::LogGain(b, a)));
  return worst == 1e300 ? 0 : worst;
}

double SureGain(const core::Measured& before, const core::Measured& after) {
  double weights = 0, variance = 0;
  int blocks = 0;
  for (const auto& b : before.cases)
    for (const auto& a : after.cases) {
      if (a.case_name != b.case_name || b.time_us <= 0 || a.time_us <= 0) continue;
      weights += b.weight;
      for (const auto* side : {&b, &a}) {
        if (!side->timing) continue;
        variance += std::pow(b.weight * side->timing->standard_error, 2);
        blocks = blocks == 0 ? side->timing->blocks : std::min(blocks, side->timing->blocks);
      }
    }
  const double gain = core::Speedup(before, after);
  if (blocks == 0 || weights <= 0) return gain;
  const double error = std::sqrt(variance) / weights;
  return gain * std::exp(-core::StudentQuantile(kAlpha, std::max(1, blocks - 1)) * error);
}

bool ReplacesBase(const core::Measured& original, const core::Measured& base, const core::Measured& version) {
  return core::Speedup(base, version) >= kMinGain && SureGain(base, version) > 1 &&
         WorstCase(original, version) >= kMinCaseGain;
}

bool IsWorthItsCost(const core::Plan& plan, double seconds_per_evaluation, const core::Policy& policy) {
  if (!plan.author.empty() || seconds_per_evaluation <= 0) return true;
  const double minutes = seconds_per_evaluation * static_cast<double>(std::max<size_t>(1, plan.variants.size())) / 60;
  const double asked_per_minute = std::log(policy.min_speedup) / policy.max_minutes;
  return plan.score >= kWorthwhileShare * asked_per_minute * minutes;
}

}  // namespace warpwright::search
