// Diagnoser: failed candidate and its verdict -> Diagnosis. The built-in one knows the failures that the built-in transformations can
// cause; it quotes the evidence verbatim.
#pragma once

#include "core/candidate.h"
#include "core/plan.h"
#include "core/verdict.h"

namespace warpwright {

// `verdict` is not Measured.
Diagnosis Diagnose(const Candidate& candidate, const Verdict& verdict);
std::string_view Name(Diagnosis::Cause cause);

}  // namespace warpwright
