// Retrieval and plans. Plans are stored with their step, since experience grows while the task runs.
#include <fmt/format.h>
#include <fmt/ranges.h>

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

// Drops what is not worth its cost. True: nothing is left, and nobody else is waited for.
bool NothingIsWorthItsCost(const RefineRun& run, agents::Proposal<core::Plan>& proposal) {
  std::vector<core::Plan>* const plans = agents::ProposedIn(proposal);
  if (plans == nullptr) return false;
  std::erase_if(*plans, [&](const core::Plan& plan) {
    return !IsWorthItsCost(plan, run.SecondsPerEvaluation(), run.task.policy);
  });
  return plans->empty() && agents::WaitingFor(proposal) == nullptr;
}

// The record of what is remembered for the step of `record`, under a name.
memory::StepRecord RecallRecord(const memory::StepRecord& record, std::string_view name) {
  memory::StepRecord recall;
  recall.kind = memory::StepKind::kRecall;
  recall.round = record.round;
  recall.attempt = record.attempt;
  recall.base = record.base;
  recall.method = name;
  recall.evidence_digest = record.evidence_digest;
  return recall;
}

Status Keep(RefineRun& run, const memory::StepRecord& record, agents::Proposal<core::Plan>& proposal) {
  std::vector<core::Plan>* const plans = agents::ProposedIn(proposal);
  if (plans == nullptr) return {};
  std::vector<ProposalLine> lines;
  for (const core::Plan& plan : *plans) lines.push_back({agents::EncodePlan(plan), plan.author.empty()});
  WW_TRY(KeepStep(run, record, agents::WaitingFor(proposal) != nullptr, lines));
  plans->clear();
  for (const ProposalLine& line : lines) {
    WW_ASSIGN(plans->emplace_back(), agents::DecodePlan(line.text));
  }
  return {};
}

std::string WhyOf(const core::Plan& plan) {
  return plan.kernels.empty() ? plan.why : fmt::format("of {}: {}", fmt::join(plan.kernels, " and "), plan.why);
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
                      ? WhyOf(round.plan)
                      : fmt::format("by the account of {}: {}", round.plan.author, WhyOf(round.plan));
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
  if (const agents::Waiting* waiting = agents::WaitingFor(proposal)) {
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
  WW_ASSIGN(const auto step, run.journal.Step(RecallRecord(record, ""), [&] {
    memory::StepOutcome outcome;
    outcome.data = agents::ExperienceText(experience, run.base().measured.modelled);
    return Result<memory::StepOutcome>(std::move(outcome));
  }));
  return step.outcome.data;
}

Status KeepStep(RefineRun& run, const memory::StepRecord& record, bool waits, std::vector<ProposalLine>& lines) {
  const memory::StepRecord keep = RecallRecord(record, "proposed");
  if (!waits) {
    WW_ASSIGN(const bool kept, run.services.trajectory.IsFinished(run.id, keep));
    if (!kept) return {};
  }
  WW_ASSIGN(const auto step, run.journal.Step(keep, [&] {
    memory::StepOutcome outcome;
    for (const ProposalLine& line : lines)
      if (line.built_in) outcome.data += line.text + "\n";
    return Result<memory::StepOutcome>(std::move(outcome));
  }));
  auto first = std::find_if(lines.begin(), lines.end(), [](const ProposalLine& line) { return line.built_in; });
  if (first == lines.end()) first = lines.begin();
  const auto place = first - lines.begin();
  std::erase_if(lines, [](const ProposalLine& line) { return line.built_in; });
  std::vector<ProposalLine> kept;
  std::istringstream texts(step.outcome.data);
  for (std::string text; std::getline(texts, text);) kept.push_back({text, true});
  lines.insert(lines.begin() + place, kept.begin(), kept.end());
  return {};
}

Result<MaybePart<PlannedRound>> PlanStep(RefineRun& run, int round) {
  using Rounds = MaybePart<PlannedRound>;
  WW_ASSIGN(const bool is_read, ReadStep(run));
  if (!is_read) return Rounds{.waits = true};
  const Base& base = run.base();
  skills::MatchResult match = Retrieve(run, true);
  const memory::ExperienceKey key = agents::KeyOf(base.features.evidence, match);
  memory::StepRecord record = RecordOf(memory::StepKind::kPlan, run, {round, {}, key});
  record.attempt = run.dropped;  // the plans of one round are different steps
  record.reason = match.position;
  if (run.rounds - run.written_rounds >= run.task.policy.max_rounds) match.methods.clear();
  std::vector<core::Plan> plans;
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
    WW_TRY(Keep(run, record, proposal));
    std::string left;
    if (NothingIsWorthItsCost(run, proposal)) {  // who else plans may know more
      left =
          fmt::format("what is left is not expected to be worth its {:.1f} s for each try", run.SecondsPerEvaluation());
      match.methods.clear();
      WW_ASSIGN(proposal, propose());
    }
    memory::StepOutcome outcome;
    if (const agents::Waiting* waiting = agents::WaitingFor(proposal)) {
      run.Await(*waiting);
      if (auto* ready = agents::ProposedIn(proposal)) plans = std::move(*ready);
      return std::optional<memory::StepOutcome>();
    }
    if (auto* none = std::get_if<agents::NoProposal>(&proposal))
      outcome.summary = left.empty() ? std::move(none->reason) : std::move(left);
    else
      for (const core::Plan& plan : std::get<std::vector<core::Plan>>(proposal)) {
        outcome.summary += (outcome.summary.empty() ? "" : "\n") + plan.method + ": " + WhyOf(plan);
        outcome.data += (outcome.data.empty() ? "" : "\n") + agents::EncodePlan(plan);
      }
    return std::optional<memory::StepOutcome>(std::move(outcome));
  };
  WW_ASSIGN(const auto step, run.journal.StepIfReady(record, make_plan));
  if (step) {
    WW_ASSIGN(plans, DecodePlans(step->outcome.data));
    if (plans.empty()) run.out_of_plans = step->outcome.summary;
  }
  Rounds rounds{.waits = !step};
  for (core::Plan& plan : plans) rounds.ready.push_back({round, std::move(plan), key});
  return rounds;
}

}  // namespace warpwright::search
