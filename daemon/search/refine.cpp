#include "search/refine.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "agents/diagnoser.h"
#include "agents/generator.h"
#include "agents/planner.h"
#include "core/quantity.h"
#include "core/source_requests.h"
#include "search/steps.h"
#include "search/variants.h"

namespace warpwright::search {
namespace {

// A candidate with no loss in any case comes first, whatever another gains over all cases.
std::optional<EvaluatedCandidate> Better(std::optional<EvaluatedCandidate> a, std::optional<EvaluatedCandidate> b) {
  if (!a || !b) return a ? std::move(a) : std::move(b);
  const bool a_sound = a->worst_case >= kMinCaseGain, b_sound = b->worst_case >= kMinCaseGain;
  const bool takes_b = a_sound != b_sound ? b_sound : b->gain > a->gain;
  return takes_b ? std::move(b) : std::move(a);
}

constexpr size_t kMaxMended = 3;     // failed versions of one plan
constexpr size_t kShownDigits = 10;  // of a version's hash, as reports show it
constexpr int kMaxFruitless = 2;     // rounds of a language model in a row that end the search

struct Tried {
  size_t candidates = 0;                   // produced by whoever carried the plan out
  std::optional<EvaluatedCandidate> best;  // of those that were measured
};

std::string LimitOfRepairs(int limit) {
  return fmt::format("not mended: the limit of {} repair{} is reached", limit, limit == 1 ? "" : "s");
}

// Diagnose, repair, review, a few times.
Result<IfReady<std::optional<EvaluatedCandidate>>> Repair(RefineRun& run, const PlannedRound& round,
                                                          EvaluatedCandidate failed) {
  using Outcome = IfReady<std::optional<EvaluatedCandidate>>;
  const int limit = run.task.policy.max_repairs;
  for (int attempt = 1; attempt <= limit && !run.OutOfTime(); ++attempt) {
    WW_ASSIGN(const auto diagnosis, DiagnoseStep(run, failed));
    if (!diagnosis) return Outcome();
    WW_ASSIGN(const auto repaired, RepairStep(run, round, attempt, failed, *diagnosis));
    if (!repaired) return Outcome();
    if (!repaired->candidate) break;
    WW_ASSIGN(failed, ReviewStep(run, round, *repaired->candidate, {attempt, failed.step}));
    if (failed.gain > 0) return Outcome(std::move(failed));
    if (attempt == limit) WW_TRY(LeaveUnmendedStep(run, round, attempt + 1, failed, LimitOfRepairs(limit)));
  }
  return Outcome(std::optional<EvaluatedCandidate>());
}

// Those of the failed versions that are worth a repair, in their order. Of a transformation: the first, if none passed,
// since its text is not mended but its parameters are changed. Of a model: one of each kind of failure, by what is
// known without asking anybody; of the others the trajectory says why not.
Result<std::vector<EvaluatedCandidate>> ToMend(RefineRun& run, const PlannedRound& round,
                                               std::vector<EvaluatedCandidate> failed, bool any_passed) {
  if (round.plan.author.empty()) {
    if (any_passed) failed.clear();
    if (failed.size() > 1) failed.erase(failed.begin() + 1, failed.end());
    return failed;
  }
  std::map<std::pair<core::VerdictKind, core::Diagnosis::Cause>, std::string> mended;  // by its failure
  std::vector<EvaluatedCandidate> to_mend;
  for (EvaluatedCandidate& one : failed) {
    const auto failure = std::pair(core::KindOf(one.verdict), agents::Diagnose(one.candidate, one.verdict, "").cause);
    std::string why_not;
    if (const auto like = mended.find(failure); like != mended.end())
      why_not = "not mended: the same failure as " + like->second.substr(0, kShownDigits);
    else if (mended.size() == kMaxMended)
      why_not = fmt::format("not mended: {} other failures of this plan's versions come before", kMaxMended);
    if (!why_not.empty()) {
      WW_TRY(LeaveUnmendedStep(run, round, 0, one, why_not));
      continue;
    }
    mended.emplace(failure, one.candidate.hash);
    to_mend.push_back(std::move(one));
  }
  return to_mend;
}

// By the full judge: the same text, or what was wrong already where nothing else could be at fault.
bool WasRefused(const RefineRun& run, const std::vector<RefineRun::NotAccepted>& refused,
                const core::Candidate& candidate) {
  return std::any_of(refused.begin(), refused.end(), [&](const RefineRun::NotAccepted& one) {
    const bool alone = !core::Passed(one.verdict) && one.candidate.parent == run.original().candidate.hash;
    return one.candidate.hash == candidate.hash || (alone && one.candidate.parameters == candidate.parameters);
  });
}

// Optimize, review every variant, and repair what failed. A version that is waited for, or waits for its critic, holds
// up no other; only repairs come after all of them, since their questions tell what came of each.
Result<IfReady<Tried>> Try(RefineRun& run, const Seed& seed) {
  WW_ASSIGN(const auto candidates, OptimizeStep(run, seed));
  Tried tried{candidates.ready.size(), {}};
  std::vector<EvaluatedCandidate> failed;
  const bool built_in = seed.round.plan.author.empty();
  bool waits = candidates.waits;
  Variants variants;
  const auto& refused = run.refused[seed.round.plan.method];
  for (const RefineRun::NotAccepted& one : refused) variants.Learn(one.candidate.parameters, one.verdict);
  std::vector<core::SourceRef> expected;
  for (const core::Candidate& candidate : candidates.ready) expected.push_back(run.task.original.With(candidate.text));
  run.services.judge.Expect(expected);
  for (const core::Candidate& candidate : candidates.ready) {
    if (run.OutOfTime() || (built_in && run.OutOfEvaluations())) break;
    if (built_in && (WasRefused(run, refused, candidate) || !variants.WorthTrying(candidate.parameters))) continue;
    const auto passes = CritiqueStep(run, seed.round, candidate);
    if (!passes && run.journal.at_end()) break;
    if (!passes) return Fail(passes.error());
    waits = waits || !*passes;
    if (!*passes || !**passes) continue;
    auto reviewed = ReviewStep(run, seed.round, candidate);
    if (!reviewed && run.SearchBrokeOff()) {  // what was measured before counts
      run.BeginAcceptance();
      break;
    }
    if (!reviewed) return Fail(reviewed.error());
    variants.Learn(candidate.parameters, reviewed->verdict);
    if (reviewed->gain > 0) tried.best = Better(std::move(tried.best), std::move(*reviewed));
    else failed.push_back(std::move(*reviewed));
  }
  if (waits) return IfReady<Tried>();
  // One after the other: the next one's question tells what came of the one before.
  WW_ASSIGN(std::vector<EvaluatedCandidate> to_mend,
            ToMend(run, seed.round, std::move(failed), tried.best.has_value()));
  for (EvaluatedCandidate& one : to_mend) {
    WW_ASSIGN(auto repaired, Repair(run, seed.round, std::move(one)));
    if (!repaired) return IfReady<Tried>();
    tried.best = Better(std::move(tried.best), std::move(*repaired));
  }
  return IfReady<Tried>(std::move(tried));
}

// All plans of a round, each as if it were the only one.
struct AllTried {
  std::vector<Tried> tried;  // of those plans that do not wait
  bool waits = false;
};
// Of plans of which others are waited for, nothing is told before these are tried too.
Result<AllTried> TryAll(RefineRun& run, const MaybePart<Seed>& seeds) {
  AllTried all;
  std::vector<agents::PastAttempt> past;
  for (const Seed& seed : seeds.ready) {
    run.Say(seed.round.number == 0 ? "seed: " + seed.round.plan.method
                                   : fmt::format("round {}: {} ({})", seed.round.number, seed.round.plan.method,
                                                 seed.round.plan.bottleneck));
    run.tried_for_plan.clear();
    WW_ASSIGN(auto tried, Try(run, seed));
    if (tried) all.tried.push_back(std::move(*tried));
    past.insert(past.end(), run.tried_for_plan.begin(), run.tried_for_plan.end());
  }
  run.tried_for_plan.clear();
  all.waits = seeds.waits || all.tried.size() < seeds.ready.size();
  if (!all.waits) run.history.insert(run.history.end(), past.begin(), past.end());
  return all;
}

Status Promote(RefineRun& run, int round, const std::optional<EvaluatedCandidate>& best) {
  if (!best) return {};
  WW_ASSIGN(auto base, PromoteStep(run, round, *best));
  if (!base) return {};
  run.pool.Add(std::move(*base));
  if (const auto next = run.selector().Next(run.pool)) run.pool.WorkOn(*next);
  return {};
}

// The best of all; where some wait for a model that cannot be asked, of the others, so that acceptance knows it.
Status PromoteBest(RefineRun& run, int round, AllTried& all) {
  if (all.waits && !run.OnlyFailed()) return {};
  std::optional<EvaluatedCandidate> best;
  for (Tried& one : all.tried) best = Better(std::move(best), std::move(one.best));
  return Promote(run, round, best);
}

std::string WhatCameOf(const Tried& tried, int round) {
  if (tried.candidates == 0) return "does not apply";
  return tried.best ? fmt::format("gave {} in round {}", core::FormatGain(tried.best->gain), round)
                    : fmt::format("failed in round {}", round);
}

// The first candidates. False: some wait.
Result<bool> PlantSeeds(RefineRun& run) {
  WW_ASSIGN(const auto seeds, SeedStep(run));
  WW_ASSIGN(AllTried tried, TryAll(run, seeds));
  WW_TRY(PromoteBest(run, 0, tried));
  return !tried.waits;
}

bool MayGoOn(const RefineRun& run) {
  const int limit = run.task.policy.max_rounds;
  if (run.OutOfTime() || run.fruitless >= kMaxFruitless) return false;
  return (run.rounds - run.written_rounds < limit && !run.OutOfEvaluations()) ||
         (run.team.plans_by_model && run.written_rounds < limit);
}

// Retrieve, plan, optimize, review or repair, promote; profile and features came with the base. A round that evaluated
// nothing costs only its plans.
struct RoundOutcome {
  bool waits = false, has_plans = true;
};
Result<RoundOutcome> Round(RefineRun& run) {
  const int number = run.rounds + 1;
  WW_ASSIGN(const auto rounds, PlanStep(run, number));
  if (!rounds.waits && rounds.ready.empty()) return RoundOutcome{.has_plans = false};
  MaybePart<Seed> seeds{.waits = rounds.waits};
  for (const PlannedRound& round : rounds.ready) seeds.ready.push_back({round, {}});
  WW_ASSIGN(AllTried all, TryAll(run, seeds));
  if (all.waits) {
    WW_TRY(PromoteBest(run, number, all));
    return RoundOutcome{.waits = true};
  }
  size_t candidates = 0;
  bool written = false;
  for (size_t i = 0; i < all.tried.size(); ++i) {
    const core::Plan& plan = seeds.ready[i].round.plan;
    written = written || !plan.author.empty();
    if (plan.author.empty()) {  // another's code for the same method may be another
      const std::string outcome = WhatCameOf(all.tried[i], number);
      run.tried[run.base().features.evidence.Digest()][plan.method] = outcome;
      if (plan.transform.starts_with(core::kSchedulePrefix)) run.tried_anew[plan.method] = outcome;
    }
    candidates += all.tried[i].candidates;
  }
  ++(candidates > 0 ? run.rounds : run.dropped);
  if (written && candidates > 0) ++run.written_rounds;
  const size_t before = run.pool.size();
  WW_TRY(PromoteBest(run, number, all));
  if (written) run.fruitless = run.pool.size() > before ? 0 : run.fruitless + 1;
  return RoundOutcome{};
}

// What the full judge rejected, mended by whoever wrote it and judged quickly again. Without a base: it is not worth
// more. nullopt: somebody has not answered yet.
struct Mended {
  std::optional<Base> base;
};
Result<IfReady<Mended>> Mend(RefineRun& run, const Base& base, const Rejected& rejected, int attempt) {
  const bool written = !base.plan.author.empty();
  if (!written || core::Passed(rejected.verdict) || run.OutOfTime()) return IfReady<Mended>(Mended{});
  const PlannedRound round{run.rounds, base.plan, agents::KeyOf(base.features.evidence, Retrieve(run, true))};
  const EvaluatedCandidate failed{.candidate = base.candidate, .verdict = rejected.verdict, .step = rejected.step};
  if (const int limit = run.task.policy.max_repairs; attempt > limit) {
    WW_TRY(LeaveUnmendedStep(run, round, attempt, failed, LimitOfRepairs(limit)));
    return IfReady<Mended>(Mended{});
  }
  WW_ASSIGN(const auto diagnosis, DiagnoseStep(run, failed));
  if (!diagnosis) return IfReady<Mended>();
  WW_ASSIGN(const auto repaired, RepairStep(run, round, attempt, failed, *diagnosis));
  if (!repaired) return IfReady<Mended>();
  if (!repaired->candidate) return IfReady<Mended>(Mended{});
  WW_ASSIGN(const EvaluatedCandidate reviewed, ReviewStep(run, round, *repaired->candidate, {attempt, failed.step}));
  const auto* measured = std::get_if<core::Measured>(&reviewed.verdict);
  if (measured == nullptr || core::Speedup(run.original().measured, *measured) < run.task.policy.min_speedup)
    return IfReady<Mended>(Mended{});
  Base mended = base;
  mended.candidate = reviewed.candidate;
  mended.measured = *measured;
  WW_ASSIGN(mended.features, run.Extract(mended.candidate, mended.measured));
  return IfReady<Mended>(Mended{std::move(mended)});
}

// A model that cannot be asked must not cost what is found already, nor hold up a task whose time is over.
bool MayEndUnanswered(const RefineRun& run) {
  if (!run.OnlyFailed()) return false;
  return run.OutOfTime() || run.BestToAccept();
}

// Seeds, then rounds, as long as there is something to try. False: some wait.
Result<bool> Search(RefineRun& run) {
  if (!run.planted) {
    WW_TRY(LiftStep(run));
    WW_ASSIGN(run.planted, PlantSeeds(run));
    if (!run.planted) return false;
  }
  // Every method from the formula may find that it does not apply, which takes no time.
  const auto& methods = run.services.skills.methods;
  const auto of_the_formula = std::count_if(methods.begin(), methods.end(), [](const auto& method) {
    return method.second.transform.starts_with(core::kSchedulePrefix);
  });
  const int max_dropped = 3 * run.task.policy.max_rounds + static_cast<int>(of_the_formula);
  while (run.dropped <= max_dropped && MayGoOn(run)) {
    WW_ASSIGN(const RoundOutcome round, Round(run));
    if (round.waits) return false;
    if (round.has_plans) continue;
    run.pool.Exhaust();
    const auto next = run.selector().Next(run.pool);
    if (!next) break;
    run.pool.WorkOn(*next);
  }
  return true;
}

// What the full judge refused teaches what to try instead: its method is open again, for other versions than this one,
// and the search goes on from what is left.
void LearnRefusal(RefineRun& run, size_t number, const core::Verdict& verdict) {
  const core::Candidate& refused = run.pool[number].candidate;
  run.refused[refused.method].push_back({refused, verdict});
  run.tried_anew.erase(refused.method);
  for (auto& [evidence, methods] : run.tried) methods.erase(refused.method);
  run.pool.Refuse(number, /*with_descendants=*/!core::Passed(verdict));
  run.found = run.BestToAccept().has_value();
  ++run.dropped;
  run.pool.Reopen();
  if (const auto next = run.selector().Next(run.pool)) run.pool.WorkOn(*next);
}

// Accepts a version in a fresh worker, or what it was mended to. nullopt: neither passes.
Result<std::optional<RefineResult>> Accept(RefineRun& run, size_t number) {
  using Concluded = std::optional<RefineResult>;
  run.pool.WorkOn(number);  // mending starts from what is accepted, whichever was worked on last
  std::optional<Base> base = run.pool[number];
  std::optional<core::Verdict> refused;
  for (int attempt = 1; base; ++attempt) {
    WW_ASSIGN(auto outcome, AcceptStep(run, *base));
    if (auto* accepted = std::get_if<Accepted>(&outcome)) {
      WW_ASSIGN(RefineResult concluded, ConcludeImproved(run, *base, std::move(*accepted)));
      return Concluded(std::move(concluded));
    }
    const Rejected& rejected = std::get<Rejected>(outcome);
    if (!refused) refused = rejected.verdict;
    WW_ASSIGN(auto mended, Mend(run, *base, rejected, attempt));
    if (!mended && !run.OnlyFailed()) {
      WW_ASSIGN(RefineResult paused, Pause(run));
      return Concluded(std::move(paused));
    }
    base = mended ? std::move(mended->base) : std::nullopt;
  }
  LearnRefusal(run, number, *refused);
  return Concluded();
}

// The acceptances that were begun so far, by what they were to accept: whether they came to an end.
Result<std::map<std::string, bool>> Acceptances(const RefineRun& run) {
  WW_ASSIGN(const memory::TrajectoryView view, run.services.trajectory.View(run.id));
  std::map<std::string, bool> ended;
  for (const memory::StepView& step : view.steps)
    if (step.record.kind == memory::StepKind::kAccept && step.record.round == memory::kFinalRound)
      ended[step.record.candidate] = step.outcome.has_value();
  return ended;
}

bool IsAtOne(const std::map<std::string, bool>& acceptances) {
  return std::any_of(acceptances.begin(), acceptances.end(), [](const auto& one) { return !one.second; });
}

// Searches, and puts the best version before the full judge, until one passes or none is left. A language model is not
// asked for more after a refusal: it has mended what it could. Where an earlier run was at an acceptance when its time
// was over, the search before it is repeated as it was, and all of the time is for the acceptance.
Result<RefineResult> SearchAndAccept(RefineRun& run) {
  WW_ASSIGN(const auto before, Acceptances(run));
  bool repeats = IsAtOne(before);
  for (bool refused = false;; refused = true) {
    run.journal.RepeatOnly(repeats);
    const auto searched = refused && run.team.plans_by_model ? Result<bool>(true) : Search(run);
    if (!searched && !run.SearchBrokeOff()) return Fail(searched.error());
    run.journal.RepeatOnly(false);
    if (searched && !*searched && !MayEndUnanswered(run)) return Pause(run);
    run.BeginAcceptance();
    const auto best = run.BestToAccept();
    if (!best) return run.OnlyFailed() && !run.OutOfTime() ? Pause(run) : ConcludeUnchanged(run);
    auto concluded = Accept(run, *best);
    if (!concluded && run.BrokeOff()) {
      WW_ASSIGN(const auto present, Acceptances(run));
      return IsAtOne(present) ? LeaveUnverified(run, *best) : ConcludeUnchanged(run);
    }
    if (!concluded) return Fail(concluded.error());
    if (*concluded) return std::move(**concluded);
    const auto known = before.find(run.pool[*best].candidate.hash);
    repeats = repeats && known != before.end() && known->second;
  }
}

}  // namespace

Result<RefineResult> Refine(const RefineTask& task, const RefineServices& services) {
  const core::Candidate original = agents::Original(task.original.text);
  WW_ASSIGN(const auto begun,
            services.trajectory.BeginTask({task.spec.name, original.hash, task.device, task.config_digest}));
  RefineRun run(task, services, begun.id);
  if (begun.result) return Recall(run, *begun.result);
  WW_TRY(services.trajectory.PutCandidate(run.id, original));
  WW_ASSIGN(run.team, services.team ? services.team(run.journal) : Result<agents::Team>(agents::MakeTeam({})));

  // Generate, review.
  auto measured = BaselineStep(run);
  if (!measured && run.BrokeOff()) return ConcludeUnchanged(run);
  WW_ASSIGN(auto baseline, std::move(measured));
  if (const auto* refused = std::get_if<memory::TaskResult>(&baseline)) return Conclude(run, *refused);
  run.pool.Add(std::get<Base>(std::move(baseline)));
  return SearchAndAccept(run);
}

}  // namespace warpwright::search
