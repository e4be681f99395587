#include "memory/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/quantity.h"

namespace warpwright::memory {
namespace {

// One absurd sample must not decide forever.
const double kLargestValue = std::log(1024.0);
constexpr double kParameterPrior = 1;

double ValueOf(const Experience& e) {
  if (e.outcome != core::VerdictKind::kMeasured || e.log_gain <= 2 * e.spread) return 0;
  return std::clamp(e.log_gain, 0.0, kLargestValue);
}

double WeightOf(const GradedExperience& sample, const StatisticsOptions& options) {
  double weight = 0;
  switch (sample.grade) {
    case MatchGrade::kNone: return 0;
    case MatchGrade::kOperation: weight = options.weight_operation; break;
    case MatchGrade::kSimilar: weight = options.weight_similar; break;
    case MatchGrade::kForm: weight = options.weight_form; break;
    case MatchGrade::kExact: weight = options.weight_exact; break;
    case MatchGrade::kShape: weight = options.weight_shape; break;
    case MatchGrade::kFormExact: weight = options.weight_form_exact; break;
    case MatchGrade::kFormAndShape: weight = options.weight_form_and_shape; break;
  }
  return sample.experience.modelled && !options.modelled ? weight * options.modelled_weight : weight;
}

}  // namespace

std::string MethodStatistics::Summary() const {
  if (samples == 0) return "no samples";
  return fmt::format("gave {} ({} sample{}, {} faster, {})", core::FormatGain(std::exp(mean)), samples,
                     samples == 1 ? "" : "s", successes, Name(best));
}

MethodStatistics Statistics(const std::string& method, double prior, const std::vector<GradedExperience>& samples,
                            const StatisticsOptions& options) {
  MethodStatistics s;
  s.method = method;
  s.prior = prior;
  double sum = 0, won = 0;
  for (const GradedExperience& sample : samples) {
    if (sample.experience.method != method || sample.grade == MatchGrade::kNone) continue;
    const double weight = WeightOf(sample, options), value = ValueOf(sample.experience);
    ++s.samples;
    s.successes += value > 0;
    s.weight += weight;
    sum += weight * value;
    won += value > 0 ? weight : 0;
    s.best = std::max(s.best, sample.grade);
  }
  s.mean = s.weight > 0 ? sum / s.weight : 0;
  s.posterior = (options.prior_samples * prior + sum) / (options.prior_samples + s.weight);
  s.success_probability = (1 + won) / (2 + s.weight);
  s.bonus = options.exploration * options.sigma / std::sqrt(options.prior_samples + s.weight);
  return s;
}

std::vector<MethodStatistics> RankByExperience(const std::vector<PriorRank>& order,
                                               const std::vector<GradedExperience>& samples,
                                               const StatisticsOptions& options) {
  std::vector<MethodStatistics> ranked(order.size());
  double floor = 0;
  for (size_t i = order.size(); i-- > 0;) {
    floor = std::max(floor, order[i].expected_log_gain);
    ranked[i] = Statistics(order[i].method, floor, samples, options);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const MethodStatistics& a, const MethodStatistics& b) {
    return a.rank_value() > b.rank_value();
  });
  return ranked;
}

std::vector<ParameterStatistics> RankParameters(const std::string& method, const std::vector<GradedExperience>& samples,
                                                const StatisticsOptions& options) {
  struct Sums {
    size_t samples = 0;
    double weight = 0, sum = 0;
  };
  std::map<std::map<std::string, std::string>, Sums> by_parameters;
  Sums all;
  for (const GradedExperience& sample : samples) {
    if (sample.experience.method != method || sample.grade == MatchGrade::kNone) continue;
    const double weight = WeightOf(sample, options), value = ValueOf(sample.experience);
    for (Sums* sums : {&by_parameters[sample.experience.parameters], &all}) {
      ++sums->samples;
      sums->weight += weight;
      sums->sum += weight * value;
    }
  }
  const double mean = all.weight > 0 ? all.sum / all.weight : 0;
  std::vector<ParameterStatistics> ranked;
  for (const auto& [parameters, sums] : by_parameters)
    ranked.push_back({parameters, sums.samples, (kParameterPrior * mean + sums.sum) / (kParameterPrior + sums.weight)});
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.posterior > b.posterior; });
  return ranked;
}

}  // namespace warpwright::memory
