#include <fmt/format.h>

#include <set>

#include "agents/optimizer.h"
#include "base/utf8.h"
#include "search/steps.h"

namespace warpwright::search {
namespace {

// The attempts; who proposes none gives one refusal.
Result<MaybePart<agents::Attempt>> AttemptsAt(RefineRun& run, const Seed& seed) {
  using Attempts = MaybePart<agents::Attempt>;
  if (!seed.written.empty()) return Attempts{seed.written};
  WW_ASSIGN(auto proposal,
            run.team.optimizer->Propose({run.At(), seed.round.plan, run.services.skills.Find(seed.round.plan.method)}));
  return std::visit(Overload{[](std::vector<agents::Attempt>& attempts) { return Attempts{std::move(attempts)}; },
                             [](agents::NoProposal& none) {
                               return Attempts{{{{}, core::RewriteRefusal{std::move(none.reason), 0}}}};
                             },
                             [&](agents::Waiting& waiting) {
                               run.Await(waiting);
                               return Attempts{.waits = true};
                             },
                             [&](agents::Part<agents::Attempt>& part) {
                               run.Await(part.waiting);
                               return Attempts{std::move(part.proposed), true};
                             }},
                    proposal);
}

}  // namespace

Result<MaybePart<core::Candidate>> OptimizeStep(RefineRun& run, const Seed& seed) {
  const PlannedRound& round = seed.round;
  WW_ASSIGN(const auto attempts, AttemptsAt(run, seed));
  MaybePart<core::Candidate> candidates{.waits = attempts.waits};
  std::set<std::string> reasons;
  for (const agents::Attempt& attempt : attempts.ready) {
    if (const auto* candidate = std::get_if<core::Candidate>(&attempt.outcome)) {
      candidates.ready.push_back(*candidate);
      continue;
    }
    const auto& refusal = std::get<core::RewriteRefusal>(attempt.outcome);
    if (refusal.reason == agents::kChangesNothing || !reasons.insert(refusal.reason).second) continue;
    // Each base has another text, so that the method is asked again; the same answer is no other attempt.
    if (!run.inapplicable.emplace(std::pair(round.plan.method, refusal.reason), refusal.line).second) continue;
    memory::StepRecord record = RecordOf(memory::StepKind::kRewrite, run, round);
    record.parameters = attempt.parameters;
    memory::StepOutcome outcome;
    outcome.summary = refusal.line > 0 ? fmt::format("{} (line {})", refusal.reason, refusal.line) : refusal.reason;
    run.Note({.base = run.base_number(),
              .method = round.plan.method,
              .parameters = attempt.parameters,
              .gain = 0,
              .outcome = "does not apply: " + outcome.summary});
    WW_TRY(run.journal.Step(record, [&] { return outcome; }));
  }
  return candidates;
}

Result<IfReady<bool>> CritiqueStep(RefineRun& run, const PlannedRound& round, const core::Candidate& candidate) {
  if (run.team.critic == nullptr || round.plan.author.empty()) return IfReady<bool>(true);
  WW_ASSIGN(const auto proposal, run.team.critic->Propose({run.At(), round.plan, candidate}));
  if (const agents::Waiting* waiting = agents::WaitingFor(proposal)) {
    if (agents::OnlyFailed(*waiting)) return IfReady<bool>(true);
    run.Await(*waiting);
    return IfReady<bool>();
  }
  const auto* critiques = std::get_if<std::vector<agents::Critique>>(&proposal);
  if (critiques == nullptr) return IfReady<bool>(true);  // advice that nobody gave holds up nothing
  for (const agents::Critique& critique : *critiques) {
    const std::string said = base::CleanText(critique.reason, 800);
    if (!said.empty()) run.Say(fmt::format("critic: {}", said));
    if (!critique.refuse) continue;
    memory::StepRecord record = RecordOf(memory::StepKind::kRewrite, run, round);
    record.candidate = candidate.hash;
    record.parameters = candidate.parameters;
    memory::StepOutcome outcome;
    outcome.summary = "refused by the critic: " + said;
    run.Note({.base = run.base_number(),
              .method = round.plan.method,
              .parameters = candidate.parameters,
              .gain = 0,
              .outcome = outcome.summary});
    WW_TRY(run.journal.Step(record, [&] { return outcome; }));
    return IfReady<bool>(false);
  }
  return IfReady<bool>(true);
}

}  // namespace warpwright::search
