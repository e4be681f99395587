// Generator: the first candidates. The original is always one; the others are plans for the Optimizer, from what
// measured experience found to work on kernels of the same kind in the same state.
#pragma once

#include <vector>

#include "core/candidate.h"
#include "core/plan.h"
#include "memory/experience.h"
#include "skills/match.h"

namespace warpwright::agents {

core::Candidate Original(const std::string& text);

// Plans for at most `limit` methods with at least two successes under the exact key, each with its best parameters
// first.
std::vector<core::Plan> Generate(const std::string& kernel, const skills::MatchResult& match,
                                 const memory::ExperienceMatches& experience, size_t limit);

}  // namespace warpwright::agents
