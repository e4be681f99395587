// Reviewer: candidate -> Verdict. Compiles, verifies and measures by the judge; decides nothing else.
#pragma once

#include "base/result.h"
#include "core/candidate.h"
#include "core/evaluator.h"
#include "core/verdict.h"
#include "judge/judge.h"

namespace warpwright {

// kQuick for the search, kFull before a candidate is accepted. `source` locates the file; its text is ignored.
Result<Verdict> Review(Judge& judge, const SourceRef& source, const Candidate& candidate, Evaluator& evaluator, Effort effort);

}  // namespace warpwright
