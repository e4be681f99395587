#include <fmt/format.h>

#include "agents/optimizer.h"
#include "core/quantity.h"
#include "search/steps.h"

namespace warpwright::search {
namespace {

// What the tools found is evidence against the candidate; what they could not do is reported to the reviewer.
void AskTools(const RefineRun& run, const core::Candidate& winner, memory::StepOutcome& outcome) {
  auto& measured = std::get<core::Measured>(*outcome.verdict);
  const auto refuse = [&](const core::ToolFinding& finding) {
    outcome.accepted = false;
    outcome.verdict = core::Refused{core::CheckName(finding.tool), finding.message, run.task.original.file, 0};
    outcome.summary = core::VerdictMessage(*outcome.verdict);
  };
  std::vector<core::ToolFinding> findings;
  if (run.services.tools) {
    run.Say("accepting: compute-sanitizer and nvcc");
    findings = run.services.tools(run.task.original.With(winner.text), measured);
  }
  if (const auto unheard = core::FirstUnheard(run.task.policy.require, findings)) return refuse(*unheard);
  for (const core::ToolFinding& finding : findings) {
    switch (finding.outcome) {
      case core::ToolFinding::Outcome::kClean: measured.checks.emplace_back(finding.tool); break;
      case core::ToolFinding::Outcome::kNotRun:
        measured.notes.push_back(finding.tool + ": did not run: " + finding.message);
        break;
      case core::ToolFinding::Outcome::kFound: return refuse(finding);
    }
  }
}

Result<memory::StepOutcome> JudgeWinner(RefineRun& run, const Base& base, const core::Candidate& winner) {
  memory::StepOutcome outcome;
  outcome.candidate = winner.hash;
  WW_ASSIGN(outcome.verdict, run.Review(winner, judge::VerificationLevel::kFull));
  outcome.summary = core::VerdictMessage(*outcome.verdict);
  const auto* measured = std::get_if<core::Measured>(&*outcome.verdict);
  if (measured == nullptr) return outcome;
  const core::Measured& original = run.original().measured;
  outcome.gain = core::Speedup(original, *measured);
  // If a device was timed, a mean is not enough: its confidence bound must agree, in two processes.
  const bool decided = !measured->decision || *measured->decision == core::TimingDecision::kFaster;
  outcome.accepted =
      decided && outcome.gain >= run.task.policy.min_speedup && WorstCase(original, *measured) >= kMinCaseGain;
  const auto &before = run.original().features.evidence.values(), &after = base.features.evidence.values();
  outcome.before = {before.begin(), before.end()};
  outcome.after = {after.begin(), after.end()};
  if (outcome.accepted) AskTools(run, winner, outcome);
  return outcome;
}

Result<memory::StepOutcome> SpliceAndJudge(RefineRun& run, const Base& base) {
  run.BeginAcceptance();
  if (run.services.fresh_worker) run.services.fresh_worker();
  const core::Candidate& best = base.candidate;
  WW_ASSIGN(const core::SpliceOutcome spliced,
            run.services.candidates.Splice({run.task.original, best.text, run.task.spec.entry}));
  if (const auto* refused = std::get_if<core::Refused>(&spliced)) {
    memory::StepOutcome outcome;
    outcome.verdict = *refused;
    outcome.summary = core::VerdictMessage(*outcome.verdict);
    return outcome;
  }
  core::Candidate winner = best;
  if (const std::string& text = std::get<core::Rewritten>(spliced).text; text != best.text) {
    winner = agents::MakeCandidate(text, best, best.method, best.parameters, "spliced into the original file");
    winner.origin = best.origin;
  }
  WW_TRY(run.services.trajectory.PutCandidate(run.id, winner));
  if (run.services.tools) run.services.judge.ExpectRealBuild(run.task.original.With(winner.text));
  return JudgeWinner(run, base, winner);
}

// The full judge measures again, with more pairs and in a fresh process: its gain may be another.
std::string WhyNotAccepted(const memory::StepOutcome& outcome) {
  if (!outcome.verdict || !core::Passed(*outcome.verdict)) return outcome.summary;
  return fmt::format("measured again: {}, {}", core::FormatGain(outcome.gain), outcome.summary);
}

}  // namespace

Result<std::variant<Accepted, Rejected>> AcceptStep(RefineRun& run, const Base& base) {
  run.Say("accepting: full verification in a fresh worker");
  memory::StepRecord record;
  record.kind = memory::StepKind::kAccept;
  record.round = memory::kFinalRound;
  record.base = run.original().candidate.hash;
  record.candidate = base.candidate.hash;
  record.method = base.candidate.method;
  record.reason = "full verification of the spliced file in a fresh worker";
  WW_ASSIGN(auto step, run.journal.Step(record, [&] { return SpliceAndJudge(run, base); }));
  run.Say(step.outcome.summary);
  using Outcome = std::variant<Accepted, Rejected>;
  if (!step.outcome.accepted && step.outcome.verdict) {
    if (run.not_accepted.empty()) run.not_accepted = WhyNotAccepted(step.outcome);
    return Outcome(Rejected{*step.outcome.verdict, step.id});
  }
  WW_ASSIGN(auto winner, run.services.trajectory.FindCandidate(run.id, step.outcome.candidate));
  auto* measured = step.outcome.verdict ? std::get_if<core::Measured>(&*step.outcome.verdict) : nullptr;
  if (!winner || measured == nullptr)
    return Fail(ErrorCode::kCorrupt, fmt::format("step {} of the trajectory accepted what it does not hold", step.id));
  return Outcome(Accepted{.hash = std::move(winner->hash),
                          .text = std::move(winner->text),
                          .measured = std::move(*measured),
                          .gain = step.outcome.gain,
                          .summary = std::move(step.outcome.summary)});
}

}  // namespace warpwright::search
