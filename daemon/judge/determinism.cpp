#include "judge/determinism.h"

#include <fmt/format.h>

#include <utility>

namespace warpwright::judge {

Result<Failure> DeterminismCheck::Differs(const Trial& trial, const TrialReference& reference, const RunKind& kind,
                                          const std::vector<base::Bytes>& first, const std::vector<base::Bytes>& other,
                                          const std::string& when) {
  const auto difference = DifferentOutput(reference, first, other);
  if (!difference) return Failure();
  auto original = Judge::State::Reproducibility::kWithinTolerance;
  if (reference.deterministic) {
    WW_ASSIGN(original, state_.ReproducibilityOfOriginal(trial, reference, OptionsOf(kind)));
  }
  const bool allowed = state_.spec.allow.contains(core::Allow::kNondeterministic);
  if (original == Judge::State::Reproducibility::kBitIdentical && !allowed)
    return Failure(Wrong(core::Check::kDeterminism, trial,
                         fmt::format("{} {}, while the original's does not", *difference, when)));
  if (original != Judge::State::Reproducibility::kBitIdentical &&
      original != Judge::State::Reproducibility::kWithinTolerance) {
    state_.Note(fmt::format("determinism: not tested with {} {}: the original itself gives other results",
                            trial.Describe(), when));
    return Failure();
  }
  if (auto mismatch = state_.CompareKnown(trial, reference, other))
    return Failure(Wrong(core::Check::kDeterminism, trial,
                         fmt::format("{} {}, and is wrong then: {}", *difference, when, mismatch->message)));
  return Failure();
}

Result<Failure> DeterminismCheck::OfFurtherRuns(const Trial& trial, const TrialReference& reference,
                                                const core::Executed& first, const core::Executed& second) {
  RunKind kind;
  kind.runs = state_.on_simulator() ? kSimulatedRuns : kFullRuns;  // the original is given every chance to differ
  WW_ASSIGN(Failure failure,
            Differs(trial, reference, kind, first.buffers, second.buffers, "between two runs on the same inputs"));
  if (failure || first.differing_runs == 0) return failure;
  return Differs(
      trial, reference, kind, first.buffers, first.other_buffers,
      fmt::format("in {} of {} further runs on the same inputs", first.differing_runs, runs_.Count(trial) - 1));
}

Result<Failure> DeterminismCheck::BesideOtherWork(const Trial& trial, const TrialReference& reference,
                                                  const core::Executed& first) {
  for (const auto& [perturbation, when] :
       {std::pair{core::Perturbation::kHalfMultiprocessors, "with half of the multiprocessors occupied"},
        std::pair{core::Perturbation::kNoise, "beside another kernel"}}) {
    RunKind kind;
    kind.perturbation = perturbation;
    WW_ASSIGN(RunOutcome outcome, runs_.Execute(trial, reference.inputs, kind));
    if (auto* verdict = std::get_if<core::Verdict>(&outcome)) {
      WW_ASSIGN(const auto original, state_.ReproducibilityOfOriginal(trial, reference, OptionsOf(kind)));
      if (original != Judge::State::Reproducibility::kFaults) return Failure(std::move(*verdict));
      state_.Note(fmt::format("determinism: not tested with {} {}: the original itself fails", trial.Describe(), when));
      continue;
    }
    const core::Executed& run = std::get<core::Executed>(outcome);
    if (auto failure = CheckSideEffects(state_.spec, trial, reference.inputs, run)) return failure;
    WW_ASSIGN(Failure failure, Differs(trial, reference, kind, first.buffers, run.buffers, when));
    if (failure) return failure;
  }
  return Failure();
}

}  // namespace warpwright::judge
