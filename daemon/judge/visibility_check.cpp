#include "judge/visibility_check.h"

#include <fmt/format.h>

namespace warpwright::judge {
namespace {

constexpr uint64_t kMostInstructions = 60'000'000;  // beyond, it is not tested

// Of a run that read what was not visible, or that is wrong since it read what may be read.
Result<std::optional<core::Faulted>> HiddenRead(const RunOutcome& outcome, const Trial& trial,
                                                const RunComparison& compare) {
  using Hidden = std::optional<core::Faulted>;
  if (const auto* run = std::get_if<core::Executed>(&outcome)) {
    if (!run->old_read) return Hidden();
    WW_ASSIGN(const std::optional<Mismatch> mismatch, compare(*run));
    if (!mismatch) return Hidden();
    core::Faulted faulted{*run->old_read, trial.Describe()};
    faulted.fault.message += ": " + mismatch->message;
    return Hidden(std::move(faulted));
  }
  const auto* faulted = std::get_if<core::Faulted>(&std::get<core::Verdict>(outcome));
  using Kind = core::Fault::Kind;
  const bool hidden =
      faulted != nullptr && (faulted->fault.kind == Kind::kNotVisible || faulted->fault.kind == Kind::kSharedRace);
  return hidden ? Hidden(*faulted) : Hidden();
}

}  // namespace

Result<Failure> CheckVisibility(Judge::State& state, CandidateRuns& runs, const Trial& trial,
                                const std::vector<core::BufferContent>& inputs, const RunComparison& compare) {
  const std::string device = state.on_simulator() ? state.device : state.options.simulator;
  if (device.empty()) return Failure();
  const auto as_usual = [&](const core::Executed& run) -> Result<std::optional<Mismatch>> {
    WW_ASSIGN(const OracleResult answer, state.oracle.Query(trial, Depth::kBytes));
    const auto* known = std::get_if<std::shared_ptr<const TrialReference>>(&answer);
    if (known == nullptr || !(*known)->health.empty()) return std::optional<Mismatch>();
    auto reference = *known;
    return state.CompareInDepth(trial, reference, run.buffers);
  };
  const RunComparison& comparison = compare ? compare : RunComparison(as_usual);
  const RunKind kind{.visibility = true, .simulated = !state.on_simulator(), .instructions = kMostInstructions};
  WW_ASSIGN(const RunOutcome outcome, runs.Execute(trial, inputs, kind));
  WW_ASSIGN(const std::optional<core::Faulted> hidden, HiddenRead(outcome, trial, comparison));
  if (!hidden) return Failure();
  const RunConfiguration original{
      .source = &state.original, .spec = &state.spec, .c = &trial.c, .device = device, .options = OptionsOf(kind)};
  WW_ASSIGN(const RunOutcome same, RunKernel(state.trusted, original, inputs));
  WW_ASSIGN(const std::optional<core::Faulted> also, HiddenRead(same, trial, comparison));
  if (!also) return Failure(*hidden);
  state.Note(fmt::format("what threads see of each other was not tested with {}: the original does so too: {}",
                         trial.Describe(), also->fault.message));
  return Failure();
}

}  // namespace warpwright::judge
