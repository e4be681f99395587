// Optimizer: base candidate, Plan -> candidates, one for each parameter set of the plan, by the built-in
// transformations.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/candidate.h"
#include "core/evaluator.h"
#include "core/plan.h"

namespace warpwright::agents {

inline constexpr const char* kChangesNothing = "changes nothing";

struct Attempt {
  core::Parameters parameters;
  std::variant<core::Candidate, core::RewriteRefusal> outcome;
};

core::Candidate MakeCandidate(std::string text, const core::Candidate& parent, std::string method,
                              core::Parameters parameters, std::string summary);

// `source`: the original. Transformations change the base's text; schedules, which write anew, the original's. Attempts
// whose text equals the base's or an earlier attempt's are refused (kChangesNothing). `scheduling`: for schedules, what
// the entry computes.
Result<std::vector<Attempt>> Optimize(const core::SourceRef& source, const std::string& entry,
                                      const core::Candidate& base, const core::Plan& plan, core::Evaluator& evaluator,
                                      const std::optional<core::Scheduling>& scheduling = std::nullopt);

}  // namespace warpwright::agents
