// One round: plan, optimize, review every variant, mend one if all failed, take the best as the new base.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "agents/diagnoser.h"
#include "agents/optimizer.h"
#include "agents/plan_json.h"
#include "agents/repairer.h"
#include "agents/reviewer.h"
#include "search/refine_state.h"

namespace warpwright {
namespace {

std::string Describe(const Parameters& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) text += (text.empty() ? "" : ", ") + name + "=" + value;
  return text;
}

// Evidence and the counters of the hottest launch, by name: what predictions are compared on.
std::map<std::string, double> Numbers(const ExtractedFeatures& features, const Measured& measured) {
  std::map<std::string, double> numbers(features.evidence.values().begin(), features.evidence.values().end());
  for (const auto& c : measured.cases) {
    if (c.case_name != features.case_name) continue;
    Counters total;
    std::set<std::string> unmeasured;
    for (const auto& launch : c.launches) {
      total.Add(launch.counters);
      unmeasured.insert(launch.unmeasured.begin(), launch.unmeasured.end());
    }
    for (const auto& field : Fields(total))
      if (const std::string name(field.name); unmeasured.count(name) == 0) numbers[name] = static_cast<double>(field.value);
  }
  return numbers;
}

double TotalTime(const Measured& measured) {
  double total = 0;
  for (const auto& c : measured.cases) total += c.weight * c.time_us;
  return total;
}

StepRecord Record(StepKind kind, int round, const Base& base, const Plan& plan) {
  StepRecord record;
  record.kind = kind;
  record.round = round;
  record.base = base.candidate.hash;
  record.method = plan.method;
  record.evidence_digest = base.features.evidence.Digest();
  record.reason = plan.why;
  record.evidence = plan.evidence;
  return record;
}

}  // namespace

MatchContext RefineLoop::Context(const std::string& evidence_digest) {
  MatchContext context;
  context.allow = task_.spec.allow;
  context.built_in_only = true;
  context.applied = base_->methods;
  if (const auto found = tried_.find(evidence_digest); found != tried_.end()) context.excluded = found->second;
  return context;
}

Result<RefineLoop::RoundEnd> RefineLoop::Round(int round) {
  const std::string digest = base_->features.evidence.Digest();
  const MatchResult match = Match(services_.skills, base_->features.evidence, Context(digest));
  WW_ASSIGN(const auto plan, PlanStep(round, match));
  if (!plan) return RoundEnd::kNoPlan;
  Say(fmt::format("round {}: {} ({})", round, plan->method, plan->bottleneck));
  WW_ASSIGN(const Tried tried, TryPlan(round, *plan));
  std::string& outcome = tried_[digest][plan->method];
  if (tried.candidates == 0) {
    outcome = fmt::format("could not be carried out in round {}", round);
    return RoundEnd::kNotCarriedOut;
  }
  outcome = tried.best ? fmt::format("gave {:.2f}x in round {}", tried.best->gain, round) : fmt::format("failed in round {}", round);
  if (tried.best) WW_TRY(ConsiderAsBase(round, *tried.best));
  return RoundEnd::kEvaluated;
}

// Optimize, review every variant, and mend one where all failed.
Result<Tried> RefineLoop::TryPlan(int round, const Plan& plan) {
  WW_ASSIGN(const auto candidates, OptimizeStep(round, plan));
  Tried tried;
  tried.candidates = candidates.size();
  std::optional<Reviewed> failed;
  for (const auto& candidate : candidates) {
    if (OutOfTime()) break;
    WW_ASSIGN(Reviewed reviewed, ReviewStep(round, 0, candidate, plan, 0));
    if (reviewed.gain > 0 && (!tried.best || IsBetter(reviewed, *tried.best)))
      tried.best = std::move(reviewed);
    else if (reviewed.gain == 0 && !failed)
      failed = std::move(reviewed);
  }
  if (!tried.best && failed) {
    WW_ASSIGN(tried.best, RepairStep(round, *failed, plan));
  }
  return tried;
}

Result<std::optional<Plan>> RefineLoop::PlanStep(int round, const MatchResult& match) {
  StepRecord record = Record(StepKind::kPlan, round, *base_, {});
  record.reason = match.position;
  WW_ASSIGN(const auto step, services_.trajectory.Begin(task_id_, record));
  key_ = KeyOf(base_->features.evidence, match);
  if (step.outcome) {
    if (step.outcome->data.empty()) return std::optional<Plan>();
    WW_ASSIGN(Plan plan, DecodePlan(step.outcome->data));
    return std::optional(std::move(plan));
  }
  WW_ASSIGN(const auto experience, services_.experience.Query(key_));
  const PlanOutcome planned = MakePlan(base_->features, match, experience, base_->measured.modelled);
  StepOutcome outcome;
  const auto* plan = std::get_if<Plan>(&planned);
  outcome.summary = plan != nullptr ? plan->method + ": " + plan->why : std::get<NoPlan>(planned).reason;
  if (plan != nullptr) outcome.data = EncodePlan(*plan);
  WW_TRY(services_.trajectory.Finish(step.id, outcome));
  return plan != nullptr ? std::optional(*plan) : std::nullopt;
}

// The candidates of the plan; refusals of the transformation are steps of their own.
Result<std::vector<Candidate>> RefineLoop::OptimizeStep(int round, const Plan& plan) {
  WW_ASSIGN(const auto attempts, Optimize(task_.original, task_.spec.entry, base_->candidate, plan, services_.candidates));
  std::vector<Candidate> candidates;
  std::set<std::string> reasons;
  for (const auto& attempt : attempts) {
    if (const auto* candidate = std::get_if<Candidate>(&attempt.outcome)) {
      candidates.push_back(*candidate);
      continue;
    }
    const auto& refusal = std::get<RewriteRefusal>(attempt.outcome);
    if (refusal.reason == "changes nothing" || !reasons.insert(refusal.reason).second) continue;
    StepRecord record = Record(StepKind::kRewrite, round, *base_, plan);
    record.parameters = attempt.parameters;
    WW_ASSIGN(const auto step, services_.trajectory.Begin(task_id_, record));
    if (step.outcome) continue;
    StepOutcome outcome;
    outcome.summary = refusal.line > 0 ? fmt::format("{} (line {})", refusal.reason, refusal.line) : refusal.reason;
    WW_TRY(services_.trajectory.Finish(step.id, outcome));
  }
  return candidates;
}

Result<Reviewed> RefineLoop::ReviewStep(int round, int attempt, const Candidate& candidate, const Plan& plan, StepId repairs) {
  StepRecord record = Record(StepKind::kEvaluate, round, *base_, plan);
  record.attempt = attempt;
  record.candidate = candidate.hash;
  record.parameters = candidate.parameters;
  record.repairs = repairs;
  if (const MethodCard* card = services_.skills.Find(plan.method)) record.prediction = card->expected;
  WW_TRY(services_.trajectory.PutCandidate(task_id_, candidate));
  WW_ASSIGN(const auto before_step, services_.trajectory.FindEvaluation(task_id_, candidate.hash));
  WW_ASSIGN(const auto step, services_.trajectory.Begin(task_id_, record));
  Reviewed reviewed{candidate, Refused{}, step.id, 0, 0};
  const auto& known = step.outcome ? step.outcome : before_step;
  const auto begin = services_.clock.Steady();
  if (known && known->verdict) {
    reviewed.verdict = *known->verdict;
  } else {
    WW_ASSIGN(reviewed.verdict, Review(services_.judge, task_.original, candidate, services_.candidates, Effort::kQuick));
    ++evaluations_;
    GiveNotice();
  }
  StepOutcome outcome;
  outcome.candidate = candidate.hash;
  outcome.verdict = reviewed.verdict;
  outcome.summary = Passed(reviewed.verdict) ? candidate.summary : VerdictMessage(reviewed.verdict);
  if (const auto* measured = std::get_if<Measured>(&reviewed.verdict)) {
    reviewed.gain = Speedup(base_->measured, *measured);
    reviewed.worst_case = WorstCase(base_->measured, *measured);
    if (reviewed.gain >= kMinStep && reviewed.worst_case < kWorstCase)
      outcome.summary = fmt::format("faster over all cases, but one takes {:.0f} % longer: not taken ({})", 100 / reviewed.worst_case - 100, candidate.summary);
    outcome.gain = reviewed.gain;
    outcome.time_before_us = TotalTime(base_->measured);
    outcome.time_after_us = TotalTime(*measured);
    WW_ASSIGN(const ExtractedFeatures features, Features(candidate, *measured));
    outcome.before = Numbers(base_->features, base_->measured);
    outcome.after = Numbers(features, *measured);
    if (const MethodCard* card = services_.skills.Find(plan.method))
      outcome.prediction = ComparePredictions(*card, outcome.before, outcome.after);
  }
  Say(fmt::format("round {}: {} ({}): {}", round, plan.method, Describe(candidate.parameters),
                  reviewed.gain > 0 ? fmt::format("{:.2f}x", reviewed.gain) : VerdictMessage(reviewed.verdict)));
  if (step.outcome) return reviewed;
  outcome.seconds = std::chrono::duration<double>(services_.clock.Steady() - begin).count();
  WW_TRY(services_.trajectory.Finish(step.id, outcome));
  if (!known) WW_TRY(Remember(reviewed));
  return reviewed;
}

Status RefineLoop::Remember(const Reviewed& reviewed) {
  Experience experience;
  experience.key = key_;
  experience.method = reviewed.candidate.method;
  experience.parameters = reviewed.candidate.parameters;
  experience.outcome = std::string(VerdictName(reviewed.verdict));
  experience.log_gain = reviewed.gain > 0 ? std::log(reviewed.gain) : 0;
  experience.modelled = base_->measured.modelled;
  experience.kernel = task_.spec.name;
  experience.source = base_->candidate.hash;
  experience.toolchain = task_.toolchain;
  experience.version = task_.version;
  experience.time = FormatUtc(services_.clock.Now());
  return services_.experience.Append(experience);
}

// Diagnose, repair, review, at most max_repairs times.
Result<std::optional<Reviewed>> RefineLoop::RepairStep(int round, const Reviewed& first, const Plan& plan) {
  Reviewed failed = first;
  for (int attempt = 1; attempt <= task_.policy.max_repairs && !OutOfTime(); ++attempt) {
    const Diagnosis diagnosis = Diagnose(failed.candidate, failed.verdict);
    StepRecord record = Record(StepKind::kRepair, round, *base_, plan);
    record.attempt = attempt;
    record.candidate = failed.candidate.hash;
    record.parameters = failed.candidate.parameters;
    record.reason = fmt::format("{}: {} Fix: {} ({})", Name(diagnosis.cause), diagnosis.root_cause, diagnosis.fix, diagnosis.quote);
    WW_ASSIGN(const auto step, services_.trajectory.Begin(task_id_, record));
    WW_ASSIGN(const Repair repair, RepairCandidate(task_.original, task_.spec.entry, base_->candidate, failed.candidate, plan, diagnosis,
                                                   services_.candidates));
    const auto* candidate = std::get_if<Candidate>(&repair);
    if (!step.outcome) {
      StepOutcome outcome;
      outcome.summary = candidate != nullptr ? candidate->summary : "abandoned: " + std::get<Abandon>(repair).reason;
      if (candidate != nullptr) outcome.candidate = candidate->hash;
      WW_TRY(services_.trajectory.Finish(step.id, outcome));
    }
    if (candidate == nullptr) return std::optional<Reviewed>();
    WW_ASSIGN(failed, ReviewStep(round, attempt, *candidate, plan, failed.step));
    if (failed.gain > 0) return std::optional(std::move(failed));
  }
  return std::optional<Reviewed>();
}

Status RefineLoop::ConsiderAsBase(int round, const Reviewed& best) {
  if (best.gain < kMinStep || best.worst_case < kWorstCase) return {};
  const auto& measured = std::get<Measured>(best.verdict);
  StepRecord record;
  record.kind = StepKind::kAccept;
  record.round = round;
  record.base = base_->candidate.hash;
  record.candidate = best.candidate.hash;
  record.method = best.candidate.method;
  record.parameters = best.candidate.parameters;
  WW_ASSIGN(const auto step, services_.trajectory.Begin(task_id_, record));
  WW_ASSIGN(ExtractedFeatures features, Features(best.candidate, measured));
  if (!step.outcome) {
    StepOutcome outcome;
    outcome.candidate = best.candidate.hash;
    outcome.gain = best.gain;
    outcome.accepted = true;
    outcome.summary = fmt::format("new base, {:.2f}x over the one before", best.gain);
    WW_TRY(services_.trajectory.Finish(step.id, outcome));
  }
  history_.push_back(*base_);
  std::set<std::string> methods = base_->methods;
  methods.insert(best.candidate.method);
  base_ = Base{best.candidate, measured, std::move(features), std::move(methods)};
  return {};
}

}  // namespace warpwright
