#include <fmt/format.h>

#include "agents/diagnoser.h"
#include "agents/repairer.h"
#include "memory/step_json.h"
#include "search/steps.h"

namespace warpwright::search {
namespace {

// The text is in the trajectory by its hash. It may have been stored with the parameters of another attempt that gave
// the same text, so the step stores its own.
memory::StepOutcome OutcomeOf(const agents::Repair& repair) {
  memory::StepOutcome outcome;
  std::visit(Overload{[&](const core::Candidate& candidate) {
                        outcome.summary = candidate.summary;
                        outcome.candidate = candidate.hash;
                        outcome.data = memory::EncodeParameters(candidate.parameters);
                      },
                      [&](const agents::Abandon& abandon) { outcome.summary = "abandoned: " + abandon.reason; }},
             repair);
  return outcome;
}

Result<std::optional<core::Candidate>> CandidateOf(RefineRun& run, const memory::StepOutcome& outcome,
                                                   const EvaluatedCandidate& failed) {
  if (outcome.candidate.empty()) return std::optional<core::Candidate>();
  WW_ASSIGN(auto candidate, run.services.trajectory.FindCandidate(run.id, outcome.candidate));
  if (!candidate)
    return Fail(ErrorCode::kCorrupt,
                fmt::format("the repaired candidate {} is not in the trajectory", outcome.candidate));
  candidate->parent = run.base().candidate.hash;
  candidate->method = failed.candidate.method;
  candidate->summary = outcome.summary;
  if (!outcome.data.empty()) {
    WW_ASSIGN(candidate->parameters, memory::DecodeParameters(outcome.data));
  }
  return candidate;
}

}  // namespace

Result<std::optional<core::Candidate>> RepairStep(RefineRun& run, const PlannedRound& round, int attempt,
                                                  const EvaluatedCandidate& failed, const core::Diagnosis& diagnosis) {
  memory::StepRecord record = RecordOf(memory::StepKind::kRepair, run, round);
  record.attempt = attempt;
  record.candidate = failed.candidate.hash;
  record.parameters = failed.candidate.parameters;
  record.reason = fmt::format("{}: {} Fix: {} ({})", agents::Name(diagnosis.cause), diagnosis.root_cause, diagnosis.fix,
                              diagnosis.quote);
  const auto repair_it = [&]() -> Result<memory::StepOutcome> {
    WW_ASSIGN(const agents::Repair repair,
              agents::RepairCandidate(run.task.original, run.task.spec.entry, run.base().candidate, failed.candidate,
                                      round.plan, diagnosis, run.services.candidates));
    if (const auto* candidate = std::get_if<core::Candidate>(&repair))
      WW_TRY(run.services.trajectory.PutCandidate(run.id, *candidate));
    return OutcomeOf(repair);
  };
  WW_ASSIGN(const auto step, run.journal.Step(record, repair_it));
  return CandidateOf(run, step.outcome, failed);
}

}  // namespace warpwright::search
