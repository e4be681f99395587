#include "judge/candidate_runs.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpwright::judge {
namespace {

constexpr int kMostFollowedRuns = 8;

std::vector<std::string> PathOf(const core::Executed& run) {
  std::vector<std::string> path;
  for (const core::LaunchReport& launch : run.launches) path.push_back(launch.kernel);
  for (const core::LineUse& line : run.lines) path.push_back(fmt::format("{}:{}", line.file, line.line));
  return path;
}

}  // namespace

core::ExecuteOptions OptionsOf(const RunKind& kind) {
  core::ExecuteOptions options;
  options.page_guard = kind.exact;
  options.runs = kind.runs;
  options.perturbation = kind.perturbation;
  options.earlier_calls = kind.earlier_calls;
  options.sample_instructions = kind.sample_instructions;
  options.decisions = kind.decisions;
  options.visibility = kind.visibility;
  return options;
}

Result<RunOutcome> CandidateRuns::Execute(const Trial& trial, const std::vector<core::BufferContent>& inputs,
                                          RunKind kind) {
  RunConfiguration setting{.source = &candidate_, .spec = &state_.spec, .c = &trial.c, .device = state_.device};
  if (kind.simulated) setting.device = state_.options.simulator;
  setting.options = OptionsOf(kind);
  setting.upcoming = UpcomingCalls(state_.spec, kind.later);
  const bool exact = state_.on_simulator() || kind.simulated;
  setting.options.guard_bytes = exact && !kind.guarded ? 0 : state_.options.guard_bytes;
  setting.options.seed = kind.second ? ~trial.seed : trial.seed;
  setting.options.lines = state_.on_simulator() && added_.any();
  setting.beside = kind.beside;
  uint64_t usual = 0;
  for (const VerifiedCase& verified : state_.verified) usual = std::max(usual, verified.instructions);
  setting.options.instruction_limit =
      kind.instructions.value_or(2'500'000'000 + 64 * usual);  // a whole tile for a few long rows
  WW_ASSIGN(RunOutcome outcome, RunKernel(evaluator_, setting, inputs));
  followed_runs_ += kind.visibility;
  if (auto* verdict = std::get_if<core::Verdict>(&outcome)) {
    if (auto* faulted = std::get_if<core::Faulted>(verdict)) faulted->case_name = trial.Describe();
  } else {
    const auto& run = std::get<core::Executed>(outcome);
    kernels_.insert(run.kernels.begin(), run.kernels.end());
    for (const core::LaunchReport& launch : run.launches) launched_.insert(launch.kernel);
    if (!kind.simulated) added_.Saw(run.lines, SizesOf(trial));
    if (kind.visibility)
      for (std::string& place : PathOf(run)) followed_.insert(std::move(place));
  }
  return outcome;
}

Status CandidateRuns::ReadAdded() {
  WW_ASSIGN(auto lines, core::ReadAddedLines(evaluator_, state_.original, candidate_.text));
  added_ = AddedCode(std::move(lines), candidate_.file);
  return {};
}

bool CandidateRuns::TookNewPath(const core::Executed& run) const {
  const std::vector<std::string> path = PathOf(run);
  return followed_runs_ < kMostFollowedRuns &&
         std::any_of(path.begin(), path.end(), [&](const std::string& place) { return !followed_.contains(place); });
}

std::string CandidateRuns::IdleKernel() const {
  for (const std::string& kernel : kernels_)
    if (!launched_.contains(kernel)) return kernel;
  return {};
}

AddedCode::Sizes CandidateRuns::SizesOf(const Trial& trial) const {
  if (trial.check == core::Check::kOddShape || trial.check == core::Check::kReducedShape ||
      trial.check == core::Check::kOtherScalars)
    return AddedCode::Sizes::kOther;
  // Where no case of this device counts, as on a simulator beside a GPU's, all are what callers have.
  const auto& cases = std::get<core::Measured>(state_.baseline->original).cases;
  const bool none = std::none_of(cases.begin(), cases.end(), [](const auto& c) { return c.weight > 0; });
  for (const core::CaseMeasurement& c : cases)
    if (c.case_name == trial.c.name && (none || c.weight > 0)) return AddedCode::Sizes::kOfCountedCase;
  return AddedCode::Sizes::kOther;
}

uint32_t CandidateRuns::Count(const Trial& trial) const {
  const bool full = effort_ == VerificationLevel::kFull;
  if (state_.on_simulator()) return full ? kSimulatedRuns : trial.c.name == state_.verified.front().c->name ? 2 : 1;
  return full ? kFullRuns : kQuickRuns;
}

Result<RunOutcome> CandidateRuns::ExecuteExactly(const Trial& trial, const TrialReference& reference,
                                                 const std::vector<core::BufferContent>& inputs, RunKind kind) {
  if (state_.on_simulator()) kind.exact = core::PageGuard::kNone;
  WW_ASSIGN(RunOutcome outcome, Execute(trial, inputs, kind));
  if (kind.exact == core::PageGuard::kNone || !std::holds_alternative<core::Verdict>(outcome)) return outcome;
  WW_ASSIGN(const auto original, state_.ReproducibilityOfOriginal(trial, reference, OptionsOf(kind)));
  if (original != Judge::State::Reproducibility::kFaults) return outcome;
  state_.Note(fmt::format("guard-bands: not tested exactly with {}: the original itself reads outside its buffers",
                          trial.Describe()));
  kind.exact = core::PageGuard::kNone;
  return Execute(trial, inputs, kind);
}

}  // namespace warpwright::judge
