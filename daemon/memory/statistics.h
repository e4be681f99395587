// What samples show about methods. The formula is in experience.h.
#pragma once

#include "memory/experience.h"

namespace warpwright::memory {

struct StatisticsOptions {
  double prior_samples = 3;  // k0
  double weight_form_and_shape = 2, weight_form_exact = 1.5, weight_shape = 1.25, weight_exact = 1;
  double weight_form = 0.5, weight_similar = 0.5, weight_operation = 0.15;
  double modelled_weight = 0.5;  // of modelled samples if the question is about a real device
  bool modelled = true;          // the question is about a simulated device
  double exploration = 0;        // c
  double sigma = 0.5;            // typical spread of log gains between kernels
};

struct MethodStatistics {
  std::string method;
  size_t samples = 0, successes = 0;  // unweighted
  double weight = 0;                  // sum of w_i
  double mean = 0;                    // weighted mean of y, 0 without samples
  double prior = 0, posterior = 0;    // m0, E
  double success_probability = 0.5;
  double bonus = 0;
  MatchGrade best = MatchGrade::kNone;
  double rank_value() const { return posterior + bonus; }
  // "gave 1.82x (5 samples, 4 faster, same key)" or "no samples". Modelled or measured, as the device is.
  std::string Summary() const;
};

// For one method; `prior` is m0.
MethodStatistics Statistics(const std::string& method, double prior, const std::vector<GradedExperience>& samples,
                            const StatisticsOptions& options);

struct PriorRank {
  std::string method;
  double expected_log_gain = 0;
};
// Best first. `order` is the policy's; if it puts a small step before a large one, to open the way for it, the small
// one's prior is that of the large one. So priors alone never change the order, only samples do. Ties keep it.
std::vector<MethodStatistics> RankByExperience(const std::vector<PriorRank>& order,
                                               const std::vector<GradedExperience>& samples,
                                               const StatisticsOptions& options);

// Parameter sets of the method that were tried, best first, with the shrunk mean of their values (prior: the method's
// own mean).
struct ParameterStatistics {
  std::map<std::string, std::string> parameters;
  size_t samples = 0;
  double posterior = 0;
};
std::vector<ParameterStatistics> RankParameters(const std::string& method, const std::vector<GradedExperience>& samples,
                                                const StatisticsOptions& options);

}  // namespace warpwright::memory
