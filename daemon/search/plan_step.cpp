// Retrieval and plans. Plans are stored with their step, since experience grows while the task runs.
#include <fmt/format.h>

#include <sstream>

#include "agents/generator.h"
#include "agents/plan_json.h"
#include "agents/planner.h"
#include "search/steps.h"

namespace warpwright {
namespace {

constexpr size_t kMaxSeeds = 2;

Result<std::vector<Plan>> DecodePlans(const std::string& text) {  // one a line
  std::vector<Plan> plans;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    WW_ASSIGN(plans.emplace_back(), DecodePlan(line));
  }
  return plans;
}

}  // namespace

StepRecord RecordOf(StepKind kind, const RefineRun& run, const PlannedRound& round) {
  StepRecord record;
  record.kind = kind;
  record.round = round.number;
  record.base = run.base().candidate.hash;
  record.method = round.plan.method;
  record.evidence_digest = run.base().features.evidence.Digest();
  record.reason = round.plan.why;
  record.evidence = round.plan.evidence;
  return record;
}

MatchResult Retrieve(const RefineRun& run) {
  const Evidence& evidence = run.base().features.evidence;
  MatchContext context;
  context.allow = run.task.spec.allow;
  context.built_in_only = true;
  context.applied = run.base().methods;
  if (const auto tried = run.tried.find(evidence.Digest()); tried != run.tried.end()) context.excluded = tried->second;
  return Match(run.services.skills, evidence, context);
}

Result<std::vector<PlannedRound>> SeedStep(RefineRun& run) {
  const ExtractedFeatures& features = run.base().features;
  const MatchResult match = Retrieve(run);
  if (match.at_roofline) return std::vector<PlannedRound>();
  const ExperienceKey key = KeyOf(features.evidence, match);
  StepRecord record = RecordOf(StepKind::kPlan, run, {});
  record.reason = "experience with kernels of this kind";
  const auto generate = [&]() -> Result<StepOutcome> {
    WW_ASSIGN(const auto experience, run.services.experience.Query(key));
    const std::vector<Plan> plans = Generate(features.kernel, match, experience, kMaxSeeds);
    StepOutcome outcome;
    outcome.summary = fmt::format("{} methods worked on kernels of this kind", plans.size());
    for (const Plan& plan : plans) outcome.data += EncodePlan(plan) + "\n";
    return outcome;
  };
  WW_ASSIGN(const auto step, run.journal.Step(record, generate));
  WW_ASSIGN(auto plans, DecodePlans(step.outcome.data));
  std::vector<PlannedRound> seeds;
  for (Plan& plan : plans) seeds.push_back({0, std::move(plan), key});
  return seeds;
}

Result<std::optional<PlannedRound>> PlanStep(RefineRun& run, int round, const MatchResult& match) {
  const Base& base = run.base();
  const ExperienceKey key = KeyOf(base.features.evidence, match);
  StepRecord record = RecordOf(StepKind::kPlan, run, {round, {}, key});
  record.reason = match.position;
  const auto make_plan = [&]() -> Result<StepOutcome> {
    WW_ASSIGN(const auto experience, run.services.experience.Query(key));
    const PlanOutcome planned = MakePlan(base.features, match, experience, base.measured.modelled);
    StepOutcome outcome;
    if (const auto* plan = std::get_if<Plan>(&planned)) {
      outcome.summary = plan->method + ": " + plan->why;
      outcome.data = EncodePlan(*plan);
    } else {
      outcome.summary = std::get<NoPlan>(planned).reason;
    }
    return outcome;
  };
  WW_ASSIGN(const auto step, run.journal.Step(record, make_plan));
  if (step.outcome.data.empty()) return std::optional<PlannedRound>();
  WW_ASSIGN(Plan plan, DecodePlan(step.outcome.data));
  return PlannedRound{round, std::move(plan), key};
}

}  // namespace warpwright
