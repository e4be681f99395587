// Repairer: failed candidate, Diagnosis -> another candidate, or "abandon". The built-in one either adds a missing declaration to the
// text, or asks the same transformation for a smaller parameter: a smaller tile, a narrower vector.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/result.h"
#include "core/candidate.h"
#include "core/evaluator.h"
#include "core/plan.h"

namespace warpwright {

struct Abandon {
  std::string reason;
};
using Repair = std::variant<Candidate, Abandon>;

// `base` is what the failed candidate was made from; `plan` the plan that it follows.
Result<Repair> RepairCandidate(const SourceRef& source, const std::string& entry, const Candidate& base, const Candidate& failed,
                               const Plan& plan, const Diagnosis& diagnosis, Evaluator& evaluator);

// The next smaller value of the parameters that cost resources or alignment; nullopt at the smallest.
std::optional<Parameters> Smaller(const Parameters& parameters, Diagnosis::Cause cause);

}  // namespace warpwright
