#include "search/refine.h"

#include <fmt/format.h>

#include "agents/diagnoser.h"
#include "agents/generator.h"
#include "search/steps.h"

namespace warpwright::search {
namespace {

// A candidate with no loss in any case comes first, whatever another gains over all cases.
std::optional<EvaluatedCandidate> Better(std::optional<EvaluatedCandidate> a, std::optional<EvaluatedCandidate> b) {
  if (!a || !b) return a ? std::move(a) : std::move(b);
  const bool a_sound = a->worst_case >= kMinCaseGain, b_sound = b->worst_case >= kMinCaseGain;
  const bool takes_b = a_sound != b_sound ? b_sound : b->gain > a->gain;
  return takes_b ? std::move(b) : std::move(a);
}

struct Tried {
  size_t candidates = 0;                   // produced by the transformation
  std::optional<EvaluatedCandidate> best;  // of those that were measured
};

// Optimize, review every variant, and repair one if all failed: diagnose, repair, review, a few times.
Result<Tried> Try(RefineRun& run, const PlannedRound& round) {
  WW_ASSIGN(const auto candidates, OptimizeStep(run, round));
  Tried tried{candidates.size(), {}};
  std::optional<EvaluatedCandidate> failed;
  for (const core::Candidate& candidate : candidates) {
    if (run.OutOfTime()) break;
    WW_ASSIGN(EvaluatedCandidate reviewed, ReviewStep(run, round, candidate));
    if (reviewed.gain > 0) tried.best = Better(std::move(tried.best), std::move(reviewed));
    else if (!failed) failed = std::move(reviewed);
  }
  if (tried.best) return tried;
  for (int attempt = 1; failed && attempt <= run.task.policy.max_repairs && !run.OutOfTime(); ++attempt) {
    const core::Diagnosis diagnosis = agents::Diagnose(failed->candidate, failed->verdict);
    WW_ASSIGN(const auto repaired, RepairStep(run, round, attempt, *failed, diagnosis));
    if (!repaired) break;
    WW_ASSIGN(failed, ReviewStep(run, round, *repaired, {attempt, failed->step}));
    if (failed->gain > 0) return Tried{candidates.size(), std::move(failed)};
  }
  return tried;
}

Status Promote(RefineRun& run, int round, const std::optional<EvaluatedCandidate>& best) {
  if (!best) return {};
  WW_ASSIGN(auto base, PromoteStep(run, round, *best));
  if (base) run.bases.push_back(std::move(*base));
  return {};
}

std::string WhatCameOf(const Tried& tried, int round) {
  if (tried.candidates == 0) return "does not apply";
  return tried.best ? fmt::format("gave {:.2f}x in round {}", tried.best->gain, round)
                    : fmt::format("failed in round {}", round);
}

}  // namespace

Result<RefineResult> Refine(const RefineTask& task, const RefineServices& services) {
  const core::Candidate original = agents::Original(task.original.text);
  WW_ASSIGN(const auto begun,
            services.trajectory.BeginTask({task.spec.name, original.hash, task.device, task.config_digest}));
  RefineRun run(task, services, begun.id);
  if (begun.result) return Recall(run, *begun.result);
  WW_TRY(services.trajectory.PutCandidate(run.id, original));

  // Generate, review.
  WW_ASSIGN(auto baseline, BaselineStep(run));
  if (const auto* refused = std::get_if<memory::TaskResult>(&baseline)) return Conclude(run, *refused);
  run.bases.push_back(std::get<Base>(std::move(baseline)));
  WW_TRY(LiftStep(run));
  WW_ASSIGN(const auto seeds, SeedStep(run));
  std::optional<EvaluatedCandidate> best_seed;
  for (const PlannedRound& seed : seeds) {
    run.Say("seed from experience: " + seed.plan.method);
    WW_ASSIGN(Tried tried, Try(run, seed));
    best_seed = Better(std::move(best_seed), std::move(tried.best));
  }
  WW_TRY(Promote(run, 0, best_seed));

  // Rounds: retrieve, plan, optimize, review or repair, promote; profile and features came with the base. A round that
  // evaluated nothing costs only its plan.
  const int max_dropped = 3 * task.policy.max_rounds;
  for (int dropped = 0; dropped <= max_dropped && run.rounds < task.policy.max_rounds && !run.OutOfTime();) {
    const int number = run.rounds + 1;
    WW_ASSIGN(const auto round, PlanStep(run, number, dropped, Retrieve(run)));
    if (!round) break;
    run.Say(fmt::format("round {}: {} ({})", number, round->plan.method, round->plan.bottleneck));
    WW_ASSIGN(const Tried tried, Try(run, *round));
    run.tried[run.base().features.evidence.Digest()][round->plan.method] = WhatCameOf(tried, number);
    ++(tried.candidates > 0 ? run.rounds : dropped);
    WW_TRY(Promote(run, number, tried.best));
  }

  // Accept the best base in a fresh worker; if it does not pass, the one before it, down to the original.
  for (auto base = run.bases.rbegin(); base + 1 != run.bases.rend(); ++base) {
    if (core::Speedup(run.original().measured, base->measured) < task.policy.min_speedup) continue;
    WW_ASSIGN(auto accepted, AcceptStep(run, *base));
    if (accepted) return ConcludeImproved(run, *base, std::move(*accepted));
  }
  return ConcludeUnchanged(run);
}

}  // namespace warpwright::search
