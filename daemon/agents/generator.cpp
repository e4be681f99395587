#include "agents/generator.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "memory/statistics.h"

namespace warpwright {
namespace {
constexpr size_t kMinSuccesses = 2;
}

Candidate Original(const std::string& text) {
  Candidate original;
  original.hash = Sha256(text);
  original.text = text;
  original.method = "original";
  original.summary = "the original";
  return original;
}

Result<std::vector<Seed>> Generate(const SourceRef& source, const std::string& entry, const Candidate& original, const std::string& kernel,
                                   const MatchResult& match, const ExperienceAnswer& experience, size_t limit, Evaluator& evaluator) {
  std::vector<GradedExperience> exact;
  for (const auto& sample : experience.samples)
    if (sample.grade == Grade::kExact) exact.push_back(sample);
  std::vector<Seed> seeds;
  for (const auto& method : match.methods) {
    if (seeds.size() == limit) break;
    const auto statistics = Statistics(method.card->id, 0, exact, {});
    const auto parameters = RankParameters(method.card->id, exact, {});
    if (statistics.successes < kMinSuccesses || parameters.empty() || parameters.front().posterior <= 0) continue;
    Plan plan;
    plan.method = method.card->id;
    plan.transform = method.card->transform;
    plan.kernel = kernel;
    plan.variants = {parameters.front().parameters};
    plan.evidence = {fmt::format("{} in this state: {}", method.card->id, statistics.Summary())};
    plan.why = "Experience with kernels of this kind [1]";
    plan.bottleneck = match.primary() != nullptr ? match.primary()->id : "";
    WW_ASSIGN(auto attempts, Optimize(source, entry, original, plan, evaluator));
    seeds.push_back({std::move(plan), std::move(attempts.front())});
  }
  return seeds;
}

}  // namespace warpwright
