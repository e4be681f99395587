#include <fmt/format.h>

#include <set>

#include "agents/optimizer.h"
#include "search/steps.h"

namespace warpwright {

Result<std::vector<Candidate>> OptimizeStep(RefineRun& run, const PlannedRound& round) {
  WW_ASSIGN(const auto attempts, Optimize(run.task.original, run.task.spec.entry, run.base().candidate, round.plan,
                                          run.services.candidates));
  std::vector<Candidate> candidates;
  std::set<std::string> reasons;
  for (const Attempt& attempt : attempts) {
    if (const auto* candidate = std::get_if<Candidate>(&attempt.outcome)) {
      candidates.push_back(*candidate);
      continue;
    }
    const auto& refusal = std::get<RewriteRefusal>(attempt.outcome);
    if (refusal.reason == kChangesNothing || !reasons.insert(refusal.reason).second) continue;
    StepRecord record = RecordOf(StepKind::kRewrite, run, round);
    record.parameters = attempt.parameters;
    StepOutcome outcome;
    outcome.summary = refusal.line > 0 ? fmt::format("{} (line {})", refusal.reason, refusal.line) : refusal.reason;
    WW_TRY(run.journal.Step(record, [&] { return outcome; }));
  }
  return candidates;
}

}  // namespace warpwright
