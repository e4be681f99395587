#include "search/refine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "agents/plan_json.h"
#include "search/refine_state.h"

namespace warpwright {

double WorstCase(const Measured& before, const Measured& after) {
  double worst = 1e300;
  for (const auto& b : before.cases)
    for (const auto& a : after.cases)
      if (a.case_name == b.case_name && a.time_us > 0 && b.weight > 0) worst = std::min(worst, std::exp(LogGain(b, a)));
  return worst == 1e300 ? 0 : worst;
}

Result<RefineResult> Refine(const RefineTask& task, const RefineServices& services) { return RefineLoop(task, services).Run(); }

void RefineLoop::Say(const std::string& text) const {
  if (services_.progress) services_.progress(task_.spec.name + ": " + text);
}

void RefineLoop::GiveNotice() {
  for (const std::string& note : services_.judge.notes())
    if (note.starts_with(kCountersNote) && noticed_.insert(note).second && services_.notice) services_.notice(task_.spec.name + ": " + note);
}

bool RefineLoop::OutOfTime() const {
  const auto spent = std::chrono::duration<double>(services_.clock.Steady() - started_).count();
  return spent > 60 * task_.policy.max_minutes;
}

Result<ExtractedFeatures> RefineLoop::Features(const Candidate& candidate, const Measured& measured) {
  WW_ASSIGN(const Inspection inspection, services_.candidates.Inspect({task_.original.root, task_.original.file, candidate.text}));
  const Roofline* roofline = base_ ? &base_->features.roofline : nullptr;
  return ExtractFeaturesOf(task_.spec, task_.chip, inspection, measured, roofline);
}

Result<RefineResult> RefineLoop::Run() {
  started_ = services_.clock.Steady();
  const Candidate original = Original(task_.original.text);
  WW_ASSIGN(const auto begun, services_.trajectory.BeginTask({task_.spec.name, original.hash, task_.device, task_.config_digest}));
  task_id_ = begun.id;
  if (begun.result) {
    Say("this task is finished already");
    std::string text;
    if (!begun.result->best_hash.empty()) {
      WW_ASSIGN(const auto best, services_.trajectory.FindCandidate(task_id_, begun.result->best_hash));
      if (best) text = best->text;
    }
    return Finish(*begun.result, std::move(text));
  }
  WW_TRY(services_.trajectory.PutCandidate(task_id_, original));
  WW_ASSIGN(const auto refused, PrepareBaseline());
  if (refused) return Finish(*refused, {});
  WW_TRY(Seeds());
  WW_TRY(Rounds());
  return Accept();
}

// The original, measured and able to be judged; else what is wrong with it.
Result<std::optional<TaskResult>> RefineLoop::PrepareBaseline() {
  Say("measuring the original");
  StepRecord record;
  record.kind = StepKind::kBaseline;
  record.candidate = Original(task_.original.text).hash;
  WW_ASSIGN(const auto step, services_.trajectory.Begin(task_id_, record));
  // The judge needs the original's outputs in memory, so this step acts also in a run that goes on.
  WW_ASSIGN(baseline_, services_.judge.Prepare());
  GiveNotice();
  StepOutcome outcome;
  outcome.verdict = baseline_.original;
  outcome.candidate = record.candidate;
  outcome.summary = VerdictMessage(baseline_.original);
  if (!Passed(baseline_.original)) {
    if (!step.outcome) WW_TRY(services_.trajectory.Finish(step.id, outcome));
    return std::optional(TaskResult{"refused", outcome.summary, {}, 1});
  }
  original_ = std::get<Measured>(baseline_.original);
  const Candidate original = Original(task_.original.text);
  WW_ASSIGN(ExtractedFeatures features, Features(original, original_));
  outcome.after = {features.evidence.values().begin(), features.evidence.values().end()};
  if (!step.outcome) WW_TRY(services_.trajectory.Finish(step.id, outcome));
  base_ = Base{original, original_, std::move(features), {}};
  return std::optional<TaskResult>();
}

// Round 0: what experience says of kernels like this one. Written down like any plan, since the store grows while the task runs.
Status RefineLoop::Seeds() {
  const std::string digest = base_->features.evidence.Digest();
  const MatchResult match = Match(services_.skills, base_->features.evidence, Context(digest));
  if (match.at_roofline) return {};
  key_ = KeyOf(base_->features.evidence, match);
  StepRecord record;
  record.kind = StepKind::kPlan;
  record.base = base_->candidate.hash;
  record.evidence_digest = digest;
  record.reason = "experience with kernels of this kind";
  WW_ASSIGN(const auto step, services_.trajectory.Begin(task_id_, record));
  std::vector<Plan> plans;
  if (step.outcome) {
    std::istringstream lines(step.outcome->data);
    for (std::string line; std::getline(lines, line);) {
      WW_ASSIGN(Plan plan, DecodePlan(line));
      plans.push_back(std::move(plan));
    }
  } else {
    WW_ASSIGN(const auto experience, services_.experience.Query(key_));
    plans = Generate(base_->features.kernel, match, experience, 2);
    StepOutcome outcome;
    outcome.summary = fmt::format("{} methods worked on kernels of this kind", plans.size());
    for (const auto& plan : plans) outcome.data += EncodePlan(plan) + "\n";
    WW_TRY(services_.trajectory.Finish(step.id, outcome));
  }
  std::optional<Reviewed> best;
  for (const auto& plan : plans) {
    Say(fmt::format("seed from experience: {}", plan.method));
    WW_ASSIGN(const auto tried, TryPlan(0, plan));
    if (tried.best && (!best || IsBetter(*tried.best, *best))) best = tried.best;
  }
  return best ? ConsiderAsBase(0, *best) : Status{};
}

Status RefineLoop::Rounds() {
  const int max_plans = 4 * task_.policy.max_rounds;
  for (int plans = 1; plans <= max_plans && rounds_ < task_.policy.max_rounds && !OutOfTime(); ++plans) {
    WW_ASSIGN(const RoundEnd end, Round(plans));
    if (end == RoundEnd::kNoPlan) break;
    if (end == RoundEnd::kEvaluated) ++rounds_;
  }
  return {};
}

Result<RefineResult> RefineLoop::Finish(TaskResult result, std::string text) {
  WW_TRY(services_.trajectory.FinishTask(task_id_, result));
  RefineResult out;
  out.task = task_id_;
  out.result = std::move(result);
  out.text = std::move(text);
  out.baseline = baseline_;
  out.rounds = rounds_;
  out.evaluations = evaluations_;
  out.seconds = std::chrono::duration<double>(services_.clock.Steady() - started_).count();
  return out;
}

}  // namespace warpwright
