// Diagnoser: failed candidate and its verdict -> Diagnosis. The built-in one knows the failures that the built-in
// transformations can cause; it quotes the evidence verbatim.
#pragma once

#include <string_view>
#include <vector>

#include "core/candidate.h"
#include "core/plan.h"
#include "core/verdict.h"

namespace warpwright::agents {

// `verdict` is not Measured. `file`: the candidate's.
core::Diagnosis Diagnose(const core::Candidate& candidate, const core::Verdict& verdict, std::string_view file);
// The lines of sources that a verdict names, each once, at most eight.
std::vector<core::DiagnosedLine> LinesOf(const core::Candidate& candidate, const core::Verdict& verdict,
                                         std::string_view file);
std::string_view Name(core::Diagnosis::Cause cause);

}  // namespace warpwright::agents
