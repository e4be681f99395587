#include "agents/generator.h"

#include <fmt/format.h>

#include "agents/planner.h"
#include "base/hash.h"
#include "memory/statistics.h"

namespace warpwright {
namespace {
constexpr size_t kMinSuccesses = 2;
constexpr size_t kVariants = 5;  // of each method: sizes differ between kernels, so its best parameters get some company
}

Candidate Original(const std::string& text) {
  Candidate original;
  original.hash = Sha256(text);
  original.text = text;
  original.method = "original";
  original.summary = "the original";
  return original;
}

std::vector<Plan> Generate(const std::string& kernel, const MatchResult& match, const ExperienceAnswer& experience, size_t limit) {
  std::vector<GradedExperience> exact;
  for (const auto& sample : experience.samples)
    if (sample.grade == Grade::kExact) exact.push_back(sample);
  std::vector<Plan> plans;
  for (const auto& method : match.methods) {
    if (plans.size() == limit) break;
    const auto statistics = Statistics(method.card->id, 0, exact, {});
    std::vector<Parameters> best_known;
    for (const auto& known : RankParameters(method.card->id, exact, {}))
      if (known.posterior > 0) best_known.push_back(known.parameters);
    if (statistics.successes < kMinSuccesses || best_known.empty()) continue;
    Plan plan;
    plan.method = method.card->id;
    plan.transform = method.card->transform;
    plan.kernel = kernel;
    plan.variants = ParameterSets(*method.card, best_known, kVariants);
    plan.evidence = {fmt::format("{} in this state: {}", method.card->id, statistics.Summary())};
    plan.why = "Experience with kernels of this kind [1]";
    plan.bottleneck = match.primary() != nullptr ? match.primary()->id : "";
    plans.push_back(std::move(plan));
  }
  return plans;
}

}  // namespace warpwright
