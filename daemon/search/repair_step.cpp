#include <fmt/format.h>

#include <algorithm>

#include "agents/diagnoser.h"
#include "agents/repairer.h"
#include "memory/step_json.h"
#include "search/steps.h"

namespace warpwright::search {
namespace {

// The text is in the trajectory by its hash. It may have been stored with the parameters of another attempt that gave
// the same text, so the step stores its own.
memory::StepOutcome OutcomeOf(const agents::Proposal<core::Candidate>& repair) {
  memory::StepOutcome outcome;
  if (const auto* candidates = std::get_if<std::vector<core::Candidate>>(&repair)) {
    const core::Candidate& candidate = candidates->front();
    outcome.summary = candidate.summary;
    outcome.candidate = candidate.hash;
    outcome.data = memory::EncodeParameters(candidate.parameters);
  } else if (const auto* none = std::get_if<agents::NoProposal>(&repair)) {
    outcome.summary = "abandoned: " + none->reason;
  }
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

memory::StepRecord RecordOfRepair(const RefineRun& run, const PlannedRound& round, int attempt,
                                  const EvaluatedCandidate& failed) {
  memory::StepRecord record = RecordOf(memory::StepKind::kRepair, run, round);
  record.attempt = attempt;
  record.candidate = failed.candidate.hash;
  record.parameters = failed.candidate.parameters;
  return record;
}

}  // namespace

Result<IfReady<core::Diagnosis>> DiagnoseStep(RefineRun& run, const EvaluatedCandidate& failed) {
  WW_ASSIGN(auto proposal, run.team.diagnoser->Propose({run.At(), failed.candidate, failed.verdict}));
  if (const agents::Waiting* waiting = agents::WaitingFor(proposal)) {
    run.Await(*waiting);
    return IfReady<core::Diagnosis>();
  }
  auto* diagnoses = std::get_if<std::vector<core::Diagnosis>>(&proposal);
  if (diagnoses == nullptr)
    return IfReady<core::Diagnosis>(agents::Diagnose(failed.candidate, failed.verdict, run.At().original.file));
  return IfReady<core::Diagnosis>(*std::max_element(
      diagnoses->begin(), diagnoses->end(),
      [](const core::Diagnosis& a, const core::Diagnosis& b) { return a.confidence < b.confidence; }));
}

Result<IfReady<Repaired>> RepairStep(RefineRun& run, const PlannedRound& round, int attempt,
                                     const EvaluatedCandidate& failed, const core::Diagnosis& diagnosis) {
  memory::StepRecord record = RecordOfRepair(run, round, attempt, failed);
  record.reason = fmt::format("{}: {} Fix: {} ({})", agents::Name(diagnosis.cause), diagnosis.root_cause, diagnosis.fix,
                              diagnosis.quote);
  const auto repair_it = [&]() -> Result<std::optional<memory::StepOutcome>> {
    WW_ASSIGN(const auto repair, run.team.repairer->Propose({.at = run.At(),
                                                             .plan = round.plan,
                                                             .failed = failed.candidate,
                                                             .verdict = failed.verdict,
                                                             .diagnosis = diagnosis}));
    if (const agents::Waiting* waiting = agents::WaitingFor(repair)) {
      run.Await(*waiting);
      return std::optional<memory::StepOutcome>();
    }
    if (const auto* candidates = std::get_if<std::vector<core::Candidate>>(&repair))
      WW_TRY(run.services.trajectory.PutCandidate(run.id, candidates->front()));
    return std::optional<memory::StepOutcome>(OutcomeOf(repair));
  };
  WW_ASSIGN(const auto step, run.journal.StepIfReady(record, repair_it));
  if (!step) return IfReady<Repaired>();
  WW_ASSIGN(auto candidate, CandidateOf(run, step->outcome, failed));
  return IfReady<Repaired>(Repaired{std::move(candidate)});
}

Status LeaveUnmendedStep(RefineRun& run, const PlannedRound& round, int attempt, const EvaluatedCandidate& failed,
                         const std::string& why) {
  memory::StepRecord record = RecordOfRepair(run, round, attempt, failed);
  record.reason = core::VerdictMessage(failed.verdict);
  WW_TRY(run.journal.Step(record, [&] {
    memory::StepOutcome outcome;
    outcome.summary = why;
    return Result<memory::StepOutcome>(std::move(outcome));
  }));
  return {};
}

}  // namespace warpwright::search
