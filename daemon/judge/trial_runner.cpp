#include "judge/trial_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "judge/shapes.h"
#include "judge/special_values.h"
#include "judge/visibility_check.h"

namespace warpwright::judge {
namespace {

constexpr uint64_t kWholeRun = 240'000'000;  // instructions of a candidate of several launches, at a long shape
// Where what it wrote is wrong: blocks that did not run may have to add to it.
constexpr uint64_t kWholeWrongRun = 2'500'000'000;

// Sizes that the manifest's author did not choose.
bool HasGeneratedShape(const Trial& trial) {
  return trial.check == core::Check::kOddShape || trial.check == core::Check::kReducedShape;
}

// Unwritten poison explains more than a wrong value.
void ExplainPoison(const TrialReference& reference, const core::Executed& run, Mismatch& mismatch) {
  for (size_t o = 0; o < reference.outputs.size(); ++o) {
    const core::BufferContent& poison = reference.inputs[reference.outputs[o]];
    const OutputLayout& layout = reference.layouts[o];
    const size_t size = core::SizeOf(layout.dtype), at = mismatch.index * size;
    if (poison.uninitialized && mismatch.output == layout.name && at + size <= poison.bytes.size() &&
        std::memcmp(run.buffers[reference.outputs[o]].data() + at, poison.bytes.data() + at, size) == 0)
      mismatch.message = fmt::format("{} is not written; {}", ElementName(layout, mismatch.index), mismatch.message);
  }
}

}  // namespace

void TrialRunner::Passed(core::Check check) {
  if (std::find(measured_.checks.begin(), measured_.checks.end(), core::CheckName(check)) == measured_.checks.end())
    measured_.checks.emplace_back(check);
}

// The original's result; nullptr with a note if it has none that says anything.
Result<std::shared_ptr<const TrialReference>> TrialRunner::Reference(const Trial& trial) {
  const auto untested = [&](const std::string& why) -> std::shared_ptr<const TrialReference> {
    state_.Note(fmt::format("{}: not tested with {}: {}", Name(trial.check), trial.Describe(), why));
    return nullptr;
  };
  const Result<OracleResult> asked = state_.oracle.Query(trial, Depth::kBytes);
  // A negative extent, an empty range of integers, a file of another shape: the manifest is not wrong, such sizes are
  // none of its.
  if (!asked && asked.error().code == ErrorCode::kConfig && HasGeneratedShape(trial))
    return untested("the manifest does not allow it: " + asked.error().message);
  WW_ASSIGN(const OracleResult answer, asked);
  if (const auto* verdict = std::get_if<core::Verdict>(&answer))
    return untested("the original itself: " + core::VerdictMessage(*verdict));
  const auto reference = std::get<std::shared_ptr<const TrialReference>>(answer);
  // It goes on without it, or tells its caller: what is left in the results is nothing that callers ask for.
  if (HasGeneratedShape(trial) && reference->uses.contains(core::FailingLaunch()))
    return untested("a launch of the original fails there");
  return reference->health.empty() ? reference : untested(reference->health);
}

// Without a truth the comparison has the table alone, which knows nothing of how the rounding of one step grows in the
// next: an exponential makes a relative error of the absolute one of a long dot product. What fails by it is compared
// again with all that can be known.
Result<std::optional<Mismatch>> TrialRunner::Compare(const Trial& trial,
                                                     std::shared_ptr<const TrialReference>& reference,
                                                     const core::Executed& run) {
  WW_ASSIGN(auto mismatch, state_.CompareInDepth(trial, reference, run.buffers));
  if (!mismatch || !LacksTruth(trial) || HasInfiniteScalar(trial)) return mismatch;
  Trial careful = trial;
  careful.bare = false;
  careful.careful = true;
  WW_ASSIGN(const OracleResult answer, state_.oracle.Query(careful, Depth::kBytes));
  auto known = reference;
  if (const auto* found = std::get_if<std::shared_ptr<const TrialReference>>(&answer)) {
    known = *found;
    WW_ASSIGN(mismatch, state_.CompareInDepth(careful, known, run.buffers));
  }
  if (!mismatch || !HasSpecialInputs(trial)) return mismatch;
  return CompareFinite(trial, *known, run, std::move(*mismatch));
}

// What only the order of operations on infinite inputs makes (special_values.h).
Result<std::optional<Mismatch>> TrialRunner::CompareFinite(const Trial& trial, const TrialReference& reference,
                                                           const core::Executed& run, Mismatch mismatch) {
  const std::string names = NonFiniteInputs(state_.spec, reference.inputs);
  if (names.empty()) return std::optional(std::move(mismatch));
  mismatch.message += fmt::format(" (infinities or NaN are in {}; `special: {}`)", names, Name(state_.spec.special));
  if (state_.spec.special == core::SpecialInputs::kStrict) return std::optional(std::move(mismatch));
  Trial finite = trial;
  finite.variant = InputVariant::kNormal;  // with some of the special values that are numbers
  finite.careful = true;
  WW_ASSIGN(const OracleResult answer,
            state_.oracle.QueryWithContents(finite, WithFiniteInputs(state_.spec, trial.seed, reference.inputs)));
  const auto* known = std::get_if<std::shared_ptr<const TrialReference>>(&answer);
  if (known == nullptr) return std::optional(std::move(mismatch));
  const Relaxed relaxed = RelaxNonFinite(reference, **known, run.buffers, trial.variant);
  if (relaxed.elements == 0 || state_.Compare(reference, relaxed.buffers)) return std::optional(std::move(mismatch));
  WW_ASSIGN(const RunOutcome outcome, runs_.Execute(trial, (*known)->inputs, {}));
  const auto* right = std::get_if<core::Executed>(&outcome);
  if (right == nullptr || state_.Compare(**known, right->buffers)) return std::optional(std::move(mismatch));
  measured_.notes.push_back(
      fmt::format("special-values: {} results are NaN where the original has an infinity or leaves {} out; with finite "
                  "numbers there they agree",
                  relaxed.elements, names));
  return std::optional<Mismatch>();
}

std::vector<double> TrialRunner::TakeCompared() {
  std::vector<double> limits;
  for (const auto& [number, trials] : std::exchange(compared_, {}))
    if (trials > 1) limits.push_back(number);
  return limits;
}

Result<Failure> TrialRunner::TryAll(const std::vector<Trial>& trials) {
  for (size_t i = 0; i < trials.size(); ++i) {
    WW_ASSIGN(Failure failure, Try(trials[i], std::span(trials).subspan(i + 1)));
    if (failure) return failure;
  }
  return Failure();
}

Result<Failure> TrialRunner::Try(const Trial& trial, std::span<const Trial> later) {
  WW_ASSIGN(auto reference, Reference(trial));
  if (reference == nullptr) return Failure();
  state_.oracle.Prefetch(later);
  WW_ASSIGN(RunOutcome outcome, runs_.Execute(trial, reference->inputs,
                                              {.sample_instructions = trial.sample_instructions, .later = later}));
  if (auto* verdict = std::get_if<core::Verdict>(&outcome)) {
    if (auto* refused = std::get_if<core::Refused>(verdict))
      refused->reason += fmt::format(" (with {}, which the original handles)", trial.Describe());
    return Failure(std::move(*verdict));
  }
  core::Executed& run = std::get<core::Executed>(outcome);
  for (const double number : ComparedAnew(trial, *reference, run)) ++compared_[number];
  if (auto failure = CheckSideEffects(state_.spec, trial, reference->inputs, run)) return failure;
  // Of several launches, or where blocks add to one result, blocks that did not run are missed: all of them run, or,
  // if that is several times the original's work, only faults count.
  Trial whole = trial;
  whole.sample_instructions = std::max(trial.sample_instructions, kWholeRun);
  const bool may_run_whole = run.sampled && whole.sample_instructions > trial.sample_instructions;
  if (run.sampled && (run.launches.size() > 1 || state_.spec.allow.contains(core::Allow::kNondeterministic)))
    return may_run_whole ? Try(whole) : Failure();
  if (run.sampled) CompleteSample(*reference, run);
  WW_ASSIGN(Failure stale, state_check_.Check(trial, reference, run));
  if (stale) return stale;
  WW_ASSIGN(auto mismatch, Compare(trial, reference, run));
  if (mismatch && run.sampled && trial.sample_instructions < kWholeWrongRun) {
    whole.sample_instructions = kWholeWrongRun;
    return Try(whole);
  }
  if (mismatch) {
    ExplainPoison(*reference, run, *mismatch);
    return Failure(Wrong(trial.check, trial, mismatch->message, mismatch->sample));
  }
  WW_ASSIGN(Failure shared, state_check_.CheckOverlapping(trial, reference, run));
  if (shared) return shared;
  if (auto failure = CheckPoison(trial, *reference, run)) return failure;
  if (auto failure = CheckOrder(state_.spec, *reference, run)) return failure;
  if (auto failure = CheckPrecision(state_.spec, *reference, run)) return failure;
  // A launcher may return something else, or use something else, with other arguments alone.
  if (auto failure = CheckHostCode(state_.spec, *reference, run)) return failure;
  // A launcher or kernel that goes another way with other sizes may do without a fence there.
  if (runs_.full() && !run.sampled && runs_.TookNewPath(run)) {
    WW_ASSIGN(Failure hidden, CheckVisibility(state_, runs_, trial, reference->inputs));
    if (hidden) return hidden;
  }
  if (!state_.on_simulator() && trial.check == core::Check::kSecretSeed)
    timing_.AddVerified(trial.c.name, *reference, run.buffers);
  Passed(trial.check);
  return Failure();
}

}  // namespace warpwright::judge
