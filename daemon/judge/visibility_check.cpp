#include "judge/visibility_check.h"

#include <fmt/format.h>

namespace warpwright::judge {
namespace {

constexpr uint64_t kMostInstructions = 60'000'000;  // beyond, it is not tested

const core::Faulted* HiddenRead(const RunOutcome& outcome) {
  const auto* verdict = std::get_if<core::Verdict>(&outcome);
  const auto* faulted = verdict != nullptr ? std::get_if<core::Faulted>(verdict) : nullptr;
  using Kind = core::Fault::Kind;
  const bool hidden =
      faulted != nullptr && (faulted->fault.kind == Kind::kNotVisible || faulted->fault.kind == Kind::kSharedRace);
  return hidden ? faulted : nullptr;
}

}  // namespace

Result<Failure> CheckVisibility(Judge::State& state, CandidateRuns& runs, const Trial& trial,
                                const std::vector<core::BufferContent>& inputs) {
  const std::string device = state.on_simulator() ? state.device : state.options.simulator;
  if (device.empty()) return Failure();
  const RunKind kind{.visibility = true, .simulated = !state.on_simulator(), .instructions = kMostInstructions};
  WW_ASSIGN(const RunOutcome outcome, runs.Execute(trial, inputs, kind));
  const core::Faulted* hidden = HiddenRead(outcome);
  if (hidden == nullptr) return Failure();
  const RunConfiguration original{
      .source = &state.original, .spec = &state.spec, .c = &trial.c, .device = device, .options = OptionsOf(kind)};
  WW_ASSIGN(const RunOutcome same, RunKernel(state.trusted, original, inputs));
  if (HiddenRead(same) == nullptr) return Failure(*hidden);
  state.Note(fmt::format("what threads see of each other was not tested with {}: the original does so too: {}",
                         trial.Describe(), HiddenRead(same)->fault.message));
  return Failure();
}

}  // namespace warpwright::judge
