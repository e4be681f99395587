// Generator: the first candidates. The original is always one; the others are what measured experience found to work on kernels of the
// same kind in the same state, with its best parameters.
#pragma once

#include <vector>

#include "agents/optimizer.h"
#include "memory/experience.h"
#include "skills/match.h"

namespace warpwright {

struct Seed {
  Plan plan;                  // with one variant
  Attempt attempt;
};

Candidate Original(const std::string& text);

// At most `limit` methods with at least two successes under the exact key.
Result<std::vector<Seed>> Generate(const SourceRef& source, const std::string& entry, const Candidate& original, const std::string& kernel,
                                   const MatchResult& match, const ExperienceAnswer& experience, size_t limit, Evaluator& evaluator);

}  // namespace warpwright
