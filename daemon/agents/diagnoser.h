// Diagnoser: failed candidate and its verdict -> Diagnosis. The built-in one knows the failures that the built-in
// transformations can cause; it quotes the evidence verbatim.
#pragma once

#include "core/candidate.h"
#include "core/plan.h"
#include "core/verdict.h"

namespace warpwright::agents {

// `verdict` is not Measured.
core::Diagnosis Diagnose(const core::Candidate& candidate, const core::Verdict& verdict);
std::string_view Name(core::Diagnosis::Cause cause);

}  // namespace warpwright::agents
