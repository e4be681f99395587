// Repairer: failed candidate, Diagnosis -> another candidate, or "abandon". The built-in one either adds a missing
// declaration to the text, or requests a smaller parameter from the same transformation: a smaller tile, a narrower
// vector.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/result.h"
#include "core/candidate.h"
#include "core/evaluator.h"
#include "core/plan.h"

namespace warpwright::agents {

struct Abandon {
  std::string reason;
};
using Repair = std::variant<core::Candidate, Abandon>;

// `base` is what the failed candidate was made from; `plan` is the plan that it followed.
Result<Repair> RepairCandidate(const core::SourceRef& source, const std::string& entry, const core::Candidate& base,
                               const core::Candidate& failed, const core::Plan& plan, const core::Diagnosis& diagnosis,
                               core::Evaluator& evaluator,
                               const std::optional<core::Scheduling>& scheduling = std::nullopt);

// The next smaller value of the parameters that cost resources or alignment; nullopt at the smallest.
std::optional<core::Parameters> Smaller(const core::Parameters& parameters, core::Diagnosis::Cause cause);

}  // namespace warpwright::agents
