#include "agents/generator.h"

#include <fmt/format.h>

#include "agents/planner.h"
#include "base/hash.h"
#include "memory/statistics.h"

namespace warpwright::agents {
namespace {
constexpr size_t kMinSuccesses = 2;
constexpr size_t kVariants =
    5;  // of each method: sizes differ between kernels, so the best parameters are not tried alone
}  // namespace

core::Candidate Original(const std::string& text) {
  core::Candidate original;
  original.hash = base::Sha256(text);
  original.text = text;
  original.method = "original";
  original.summary = "the original";
  return original;
}

std::vector<core::Plan> Generate(const std::string& kernel, const skills::MatchResult& match,
                                 const memory::ExperienceMatches& experience, size_t limit) {
  std::vector<memory::GradedExperience> exact;
  for (const auto& sample : experience.samples)
    if (sample.grade >= memory::MatchGrade::kExact) exact.push_back(sample);
  std::vector<core::Plan> plans;
  for (const auto& method : match.methods) {
    if (plans.size() == limit) break;
    const auto statistics = memory::Statistics(method.card->id, 0, exact, {});
    std::vector<core::Parameters> best_known;
    for (const auto& known : memory::RankParameters(method.card->id, exact, {}))
      if (known.posterior > 0) best_known.push_back(known.parameters);
    if (statistics.successes < kMinSuccesses || best_known.empty()) continue;
    core::Plan plan;
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

}  // namespace warpwright::agents
