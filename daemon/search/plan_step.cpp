// Retrieval and plans. Plans are stored with their step, since experience grows while the task runs.
#include <fmt/format.h>

#include <sstream>

#include "agents/generator.h"
#include "agents/plan_json.h"
#include "agents/planner.h"
#include "search/steps.h"

namespace warpwright::search {
namespace {

constexpr size_t kMaxSeeds = 2;

Result<std::vector<core::Plan>> DecodePlans(const std::string& text) {  // one a line
  std::vector<core::Plan> plans;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    WW_ASSIGN(plans.emplace_back(), agents::DecodePlan(line));
  }
  return plans;
}

}  // namespace

memory::StepRecord RecordOf(memory::StepKind kind, const RefineRun& run, const PlannedRound& round) {
  memory::StepRecord record;
  record.kind = kind;
  record.round = round.number;
  record.base = run.base().candidate.hash;
  record.method = round.plan.method;
  record.evidence_digest = run.base().features.evidence.Digest();
  record.reason = round.plan.why;
  record.evidence = round.plan.evidence;
  return record;
}

skills::MatchResult Retrieve(const RefineRun& run) {
  const core::Evidence& evidence = run.base().features.evidence;
  skills::MatchContext context;
  context.allow = run.task.spec.allow;
  context.built_in_only = true;
  context.applied = run.base().methods;
  if (const auto tried = run.tried.find(evidence.Digest()); tried != run.tried.end()) context.excluded = tried->second;
  return skills::Match(run.services.skills, evidence, context);
}

Result<std::vector<PlannedRound>> SeedStep(RefineRun& run) {
  const agents::ExtractedFeatures& features = run.base().features;
  const skills::MatchResult match = Retrieve(run);
  if (match.at_roofline) return std::vector<PlannedRound>();
  const memory::ExperienceKey key = agents::KeyOf(features.evidence, match);
  memory::StepRecord record = RecordOf(memory::StepKind::kPlan, run, {});
  record.reason = "experience with kernels of this kind";
  const auto generate = [&]() -> Result<memory::StepOutcome> {
    WW_ASSIGN(const auto experience, run.services.experience.Query(key));
    const std::vector<core::Plan> plans = agents::Generate(features.kernel, match, experience, kMaxSeeds);
    memory::StepOutcome outcome;
    outcome.summary = fmt::format("{} methods worked on kernels of this kind", plans.size());
    for (const core::Plan& plan : plans) outcome.data += agents::EncodePlan(plan) + "\n";
    return outcome;
  };
  WW_ASSIGN(const auto step, run.journal.Step(record, generate));
  WW_ASSIGN(auto plans, DecodePlans(step.outcome.data));
  std::vector<PlannedRound> seeds;
  for (core::Plan& plan : plans) seeds.push_back({0, std::move(plan), key});
  return seeds;
}

Result<std::optional<PlannedRound>> PlanStep(RefineRun& run, int round, int dropped, const skills::MatchResult& match) {
  const Base& base = run.base();
  const memory::ExperienceKey key = agents::KeyOf(base.features.evidence, match);
  memory::StepRecord record = RecordOf(memory::StepKind::kPlan, run, {round, {}, key});
  record.attempt = dropped;  // the plans of one round are different steps
  record.reason = match.position;
  const auto make_plan = [&]() -> Result<memory::StepOutcome> {
    WW_ASSIGN(const auto experience, run.services.experience.Query(key));
    const agents::PlanOutcome planned = agents::MakePlan(base.features, match, experience, base.measured.modelled);
    memory::StepOutcome outcome;
    if (const auto* plan = std::get_if<core::Plan>(&planned)) {
      outcome.summary = plan->method + ": " + plan->why;
      outcome.data = agents::EncodePlan(*plan);
    } else {
      outcome.summary = std::get<agents::NoPlan>(planned).reason;
    }
    return outcome;
  };
  WW_ASSIGN(const auto step, run.journal.Step(record, make_plan));
  if (step.outcome.data.empty()) {
    run.out_of_plans = step.outcome.summary;
    return std::optional<PlannedRound>();
  }
  WW_ASSIGN(core::Plan plan, agents::DecodePlan(step.outcome.data));
  return PlannedRound{round, std::move(plan), key};
}

}  // namespace warpwright::search
