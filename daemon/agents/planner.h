// Planner: Evidence, long-term memory (skills and experience) and earlier attempts -> a Plan with one method, or the
// reason why there is none.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "agents/feature_extractor.h"
#include "core/plan.h"
#include "memory/experience.h"
#include "skills/match.h"

namespace warpwright::agents {

struct NoPlan {
  std::string reason;  // "92 % of the roofline", "no method is left: ..."
};
using PlanOutcome = std::variant<core::Plan, NoPlan>;

// `match` ranks by policy; `experience` (of the same operation) reorders methods as its samples grow. `modelled`: the
// question is about a simulated device.
PlanOutcome MakePlan(const ExtractedFeatures& features, const skills::MatchResult& match,
                     const memory::ExperienceMatches& experience, bool modelled);

// The parameter sets of a card that are worth trying, at most `limit`: the default, each value of each parameter alone,
// then the same around the other values of the first parameter (which tends to select the mode). The best according to
// experience comes first.
std::vector<core::Parameters> ParameterSets(const skills::MethodCard& card,
                                            const std::vector<core::Parameters>& best_known, size_t limit);

memory::ExperienceKey KeyOf(const core::Evidence& evidence, const skills::MatchResult& match);

}  // namespace warpwright::agents
