// Retrieval and plans. Plans are stored with their step, since experience grows while the task runs.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "agents/experience_text.h"
#include "agents/plan_json.h"
#include "agents/planner.h"
#include "search/steps.h"

namespace warpwright::search {
namespace {

Result<std::vector<core::Plan>> DecodePlans(const std::string& text) {  // one a line
  std::vector<core::Plan> plans;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    WW_ASSIGN(plans.emplace_back(), agents::DecodePlan(line));
  }
  return plans;
}

bool NothingIsWorthItsCost(const RefineRun& run, const agents::Proposal<core::Plan>& proposal) {
  const auto* plans = std::get_if<std::vector<core::Plan>>(&proposal);
  return plans != nullptr && std::none_of(plans->begin(), plans->end(), [&](const core::Plan& plan) {
           return IsWorthItsCost(plan, run.SecondsPerEvaluation(), run.task.policy);
         });
}

}  // namespace

memory::StepRecord RecordOf(memory::StepKind kind, const RefineRun& run, const PlannedRound& round) {
  memory::StepRecord record;
  record.kind = kind;
  record.round = round.number;
  record.base = run.base().candidate.hash;
  record.method = round.plan.method;
  record.evidence_digest = run.base().features.evidence.Digest();
  // What a model says is not measured: readers should know.
  record.reason = round.plan.author.empty()
                      ? round.plan.why
                      : fmt::format("by the account of {}: {}", round.plan.author, round.plan.why);
  record.evidence = round.plan.evidence;
  return record;
}

skills::MatchResult Retrieve(const RefineRun& run, bool built_in) {
  const core::Evidence& evidence = run.base().features.evidence;
  skills::MatchContext context;
  context.allow = run.task.spec.allow;
  context.built_in_only = built_in;
  context.lacking = {std::string(skills::kClusters)};
  if (!run.task.spec.build.ArchitectureOf(run.task.chip.arch).ends_with('a')) context.lacking.emplace(skills::kWgmma);
  if (run.base().measured.modelled) context.lacking.emplace(skills::kBulkCopies);
  context.applied = run.base().methods;
  if (const auto tried = run.tried.find(evidence.Digest()); tried != run.tried.end()) context.excluded = tried->second;
  context.excluded.insert(run.tried_anew.begin(), run.tried_anew.end());
  return skills::Match(run.services.skills, evidence, context);
}

Result<bool> ReadStep(RefineRun& run) {
  if (run.base().read || Retrieve(run, true).at_roofline) return true;  // nobody is asked for what nobody can gain
  WW_ASSIGN(auto proposal, run.team.extractor->Propose({run.At()}));
  if (const auto* waiting = std::get_if<agents::Waiting>(&proposal)) {
    run.Await(*waiting);
    return false;
  }
  auto* features = std::get_if<std::vector<agents::ExtractedFeatures>>(&proposal);
  if (features != nullptr) run.pool.Read(std::move(features->back()));
  else run.pool.Read(run.base().features);
  return true;
}

Result<std::string> RecallStep(RefineRun& run, const memory::StepRecord& record,
                               const memory::ExperienceMatches& experience) {
  if (!run.team.learns_by_text) return std::string();
  memory::StepRecord recall;
  recall.kind = memory::StepKind::kRecall;
  recall.round = record.round;
  recall.attempt = record.attempt;
  recall.base = record.base;
  recall.evidence_digest = record.evidence_digest;
  WW_ASSIGN(const auto step, run.journal.Step(recall, [&] {
    memory::StepOutcome outcome;
    outcome.data = agents::ExperienceText(experience, run.base().measured.modelled);
    return Result<memory::StepOutcome>(std::move(outcome));
  }));
  return step.outcome.data;
}

Result<IfReady<std::vector<PlannedRound>>> PlanStep(RefineRun& run, int round) {
  using Rounds = std::vector<PlannedRound>;
  WW_ASSIGN(const bool is_read, ReadStep(run));
  if (!is_read) return IfReady<Rounds>();
  const Base& base = run.base();
  skills::MatchResult match = Retrieve(run, true);
  const memory::ExperienceKey key = agents::KeyOf(base.features.evidence, match);
  memory::StepRecord record = RecordOf(memory::StepKind::kPlan, run, {round, {}, key});
  record.attempt = run.dropped;  // the plans of one round are different steps
  record.reason = match.position;
  if (run.rounds - run.written_rounds >= run.task.policy.max_rounds) match.methods.clear();
  const auto make_plan = [&]() -> Result<std::optional<memory::StepOutcome>> {
    if (match.at_roofline) {  // nobody is asked for what nobody can gain
      memory::StepOutcome nothing_left;
      nothing_left.summary = match.at_roofline->message;
      return std::optional<memory::StepOutcome>(std::move(nothing_left));
    }
    WW_ASSIGN(const auto experience, run.services.experience.Query(key));
    WW_ASSIGN(const std::string learned, RecallStep(run, record, experience));
    const auto propose = [&] {
      return run.team.planner->Propose({.at = run.At(),
                                        .match = match,
                                        .by_hand = Retrieve(run, false),
                                        .experience = experience,
                                        .learned = learned});
    };
    WW_ASSIGN(auto proposal, propose());
    std::string left;
    if (NothingIsWorthItsCost(run, proposal)) {  // who else plans may know more
      left =
          fmt::format("what is left is not expected to be worth its {:.1f} s for each try", run.SecondsPerEvaluation());
      match.methods.clear();
      WW_ASSIGN(proposal, propose());
    }
    memory::StepOutcome outcome;
    if (const auto* waiting = std::get_if<agents::Waiting>(&proposal)) {
      run.Await(*waiting);
      return std::optional<memory::StepOutcome>();
    }
    if (auto* none = std::get_if<agents::NoProposal>(&proposal))
      outcome.summary = left.empty() ? std::move(none->reason) : std::move(left);
    else
      for (const core::Plan& plan : std::get<std::vector<core::Plan>>(proposal)) {
        outcome.summary += (outcome.summary.empty() ? "" : "\n") + plan.method + ": " + plan.why;
        outcome.data += (outcome.data.empty() ? "" : "\n") + agents::EncodePlan(plan);
      }
    return std::optional<memory::StepOutcome>(std::move(outcome));
  };
  WW_ASSIGN(const auto step, run.journal.StepIfReady(record, make_plan));
  if (!step) return IfReady<Rounds>();
  WW_ASSIGN(std::vector<core::Plan> plans, DecodePlans(step->outcome.data));
  if (plans.empty()) run.out_of_plans = step->outcome.summary;
  Rounds rounds;
  for (core::Plan& plan : plans) rounds.push_back({round, std::move(plan), key});
  return IfReady<Rounds>(std::move(rounds));
}

}  // namespace warpwright::search
