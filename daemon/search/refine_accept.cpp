// The end of the loop: splice the best version into the user's file and put it before the full judge, in a fresh worker. If it does not
// pass, the base before it is tried, down to the original.
#include <fmt/format.h>

#include "agents/optimizer.h"
#include "agents/reviewer.h"
#include "search/refine_state.h"

namespace warpwright {

Result<RefineResult> RefineLoop::Accept() {
  history_.push_back(*base_);
  for (size_t i = history_.size(); i-- > 1;) {
    if (Speedup(original_, history_[i].measured) < task_.policy.min_speedup) continue;
    WW_ASSIGN(auto accepted, AcceptOne(history_[i]));
    if (accepted) return std::move(*accepted);
  }
  const double best = Speedup(original_, base_->measured);
  std::string message = fmt::format("no improvement found in {} rounds", rounds_);
  if (history_.size() > 1) message += fmt::format(" (the best candidate gave {:.2f}x; the policy asks for {:.2f}x)", best, task_.policy.min_speedup);
  else if (const double share = base_->features.evidence.GetOr("roofline_pct", 0); share > 0) message += fmt::format("; the original is at {:.0f} % of the roofline", share);
  return Finish({"unchanged", message, {}, 1}, {});
}

// What the tools found speaks against the candidate; what they could not do is said to the reviewer.
void RefineLoop::AskTools(const Candidate& final, StepOutcome& outcome) {
  if (!services_.tools) return;
  Say("accepting: compute-sanitizer and nvcc");
  auto& measured = std::get<Measured>(*outcome.verdict);
  for (ToolFinding& finding : services_.tools({task_.original.root, task_.original.file, final.text}, measured)) {
    switch (finding.outcome) {
      case ToolFinding::Outcome::kClean: measured.checks.push_back(finding.tool); break;
      case ToolFinding::Outcome::kNotRun: measured.notes.push_back(finding.tool + ": did not run: " + finding.message); break;
      case ToolFinding::Outcome::kFound:
        outcome.accepted = false;
        outcome.verdict = Refused{finding.tool, finding.message, task_.original.file, 0};
        outcome.summary = VerdictMessage(*outcome.verdict);
        return;
    }
  }
}

Result<std::optional<RefineResult>> RefineLoop::AcceptOne(const Base& base) {
  Say("accepting: full verification in a fresh worker");
  if (services_.fresh_worker) services_.fresh_worker();
  WW_ASSIGN(const SpliceOutcome spliced, services_.candidates.Splice({task_.original, base.candidate.text, task_.spec.entry}));
  StepRecord record;
  record.kind = StepKind::kAccept;
  record.round = -1;  // the end
  record.base = history_.front().candidate.hash;
  record.candidate = base.candidate.hash;
  record.method = base.candidate.method;
  record.reason = "full verification of the spliced file in a fresh worker";
  WW_ASSIGN(const auto step, services_.trajectory.Begin(task_id_, record));
  StepOutcome outcome;
  if (const auto* refused = std::get_if<Refused>(&spliced)) {
    outcome.verdict = *refused;
    outcome.summary = VerdictMessage(*outcome.verdict);
    if (!step.outcome) WW_TRY(services_.trajectory.Finish(step.id, outcome));
    return std::optional<RefineResult>();
  }
  Candidate final = base.candidate;
  if (const std::string& text = std::get<Rewritten>(spliced).text; text != final.text)
    final = MakeCandidate(text, base.candidate, base.candidate.method, base.candidate.parameters, "spliced into the original file");
  WW_TRY(services_.trajectory.PutCandidate(task_id_, final));
  if (step.outcome && step.outcome->verdict) {
    outcome = *step.outcome;
  } else {
    WW_ASSIGN(outcome.verdict, Review(services_.judge, task_.original, final, services_.candidates, Effort::kFull));
    ++evaluations_;
    GiveNotice();
    outcome.candidate = final.hash;
    outcome.summary = VerdictMessage(*outcome.verdict);
    if (const auto* measured = std::get_if<Measured>(&*outcome.verdict)) {
      outcome.gain = Speedup(original_, *measured);
      // Where a device was timed, a mean is not enough: its bound must say so, in two processes.
      const bool decided = !measured->decision || *measured->decision == TimingDecision::kFaster;
      outcome.accepted = decided && outcome.gain >= task_.policy.min_speedup && WorstCase(original_, *measured) >= kWorstCase;
      const auto& before = history_.front().features.evidence.values();
      const auto& after = base.features.evidence.values();
      outcome.before = {before.begin(), before.end()};
      outcome.after = {after.begin(), after.end()};
    }
    if (outcome.accepted) AskTools(final, outcome);
    WW_TRY(services_.trajectory.Finish(step.id, outcome));
  }
  Say(outcome.summary);
  if (!outcome.accepted) return std::optional<RefineResult>();
  WW_ASSIGN(RefineResult result, Finish({"improved", outcome.summary, final.hash, outcome.gain}, final.text));
  result.accepted = std::get<Measured>(*outcome.verdict);
  result.roofline_pct_before = history_.front().features.evidence.GetOr("roofline_pct", 0);
  result.roofline_pct_after = base.features.evidence.GetOr("roofline_pct", 0);
  return std::optional(std::move(result));
}

}  // namespace warpwright
