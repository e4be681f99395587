#include <fmt/format.h>

#include "agents/diagnoser.h"
#include "agents/repairer.h"
#include "memory/step_json.h"
#include "search/steps.h"

namespace warpwright {
namespace {

// The text is in the trajectory by its hash. It may have been put there with the parameters of another attempt that
// gave the same text, so the step keeps its own.
StepOutcome OutcomeOf(const Repair& repair) {
  StepOutcome outcome;
  std::visit(Overload{[&](const Candidate& candidate) {
                        outcome.summary = candidate.summary;
                        outcome.candidate = candidate.hash;
                        outcome.data = EncodeParameters(candidate.parameters);
                      },
                      [&](const Abandon& abandon) { outcome.summary = "abandoned: " + abandon.reason; }},
             repair);
  return outcome;
}

Result<std::optional<Candidate>> CandidateOf(RefineRun& run, const StepOutcome& outcome, const Reviewed& failed) {
  if (outcome.candidate.empty()) return std::optional<Candidate>();
  WW_ASSIGN(auto candidate, run.services.trajectory.FindCandidate(run.id, outcome.candidate));
  if (!candidate)
    return Fail(ErrorCode::kCorrupt,
                fmt::format("the repaired candidate {} is not in the trajectory", outcome.candidate));
  candidate->parent = run.base().candidate.hash;
  candidate->method = failed.candidate.method;
  candidate->summary = outcome.summary;
  if (!outcome.data.empty()) {
    WW_ASSIGN(candidate->parameters, DecodeParameters(outcome.data));
  }
  return candidate;
}

}  // namespace

Result<std::optional<Candidate>> RepairStep(RefineRun& run, const PlannedRound& round, int attempt,
                                            const Reviewed& failed, const Diagnosis& diagnosis) {
  StepRecord record = RecordOf(StepKind::kRepair, run, round);
  record.attempt = attempt;
  record.candidate = failed.candidate.hash;
  record.parameters = failed.candidate.parameters;
  record.reason =
      fmt::format("{}: {} Fix: {} ({})", Name(diagnosis.cause), diagnosis.root_cause, diagnosis.fix, diagnosis.quote);
  const auto repair_it = [&]() -> Result<StepOutcome> {
    WW_ASSIGN(const Repair repair, RepairCandidate(run.task.original, run.task.spec.entry, run.base().candidate,
                                                   failed.candidate, round.plan, diagnosis, run.services.candidates));
    if (const auto* candidate = std::get_if<Candidate>(&repair))
      WW_TRY(run.services.trajectory.PutCandidate(run.id, *candidate));
    return OutcomeOf(repair);
  };
  WW_ASSIGN(const auto step, run.journal.Step(record, repair_it));
  return CandidateOf(run, step.outcome, failed);
}

}  // namespace warpwright
