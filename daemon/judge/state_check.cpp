#include "judge/state_check.h"

#include <fmt/format.h>

namespace warpwright::judge {
namespace {

// Counters that wait for a call, and the usual depths of double and triple buffering.
constexpr uint32_t kEarlierCalls[] = {1, 2, 5};

std::optional<std::string> FindIn(const std::vector<core::StateUse>& uses) {
  for (const core::StateUse& use : uses)
    if (const auto byte = core::FirstCommon(use.inherited, use.left))
      return fmt::format("{}, of which byte {} is read before it is written and left with another value", use.name,
                         *byte);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> FindState(const core::Executed& run) {
  if (auto found = FindIn(run.state)) return found;
  if (!run.changed_globals.empty()) return run.changed_globals.front() + " changed";
  return std::nullopt;
}

Result<std::optional<std::string>> StateCheck::Find(const Trial& trial, const TrialReference& reference,
                                                    const core::Executed& run) {
  using Found = std::optional<std::string>;
  std::vector<core::StateUse> uses = run.state;
  if (!run.changed_globals.empty()) {
    RunKind kind;
    kind.simulated = true;
    const bool known = !state_.on_simulator() && !state_.options.simulator.empty();
    if (!known) return FindState(run);
    WW_ASSIGN(const RunOutcome outcome, runs_.Execute(trial, reference.inputs, kind));
    const auto* simulated = std::get_if<core::Executed>(&outcome);
    if (simulated == nullptr) return FindState(run);
    uses = simulated->state;
  }
  // Of workspaces, those of the same size and place among all are the same memory with other shapes.
  if (auto found = FindIn(uses)) return Found(std::move(found));
  core::Merge(uses, known_);
  return FindIn(known_);
}

Result<Failure> StateCheck::Check(const Trial& trial, const std::shared_ptr<const TrialReference>& reference,
                                  const core::Executed& run) {
  WW_ASSIGN(const std::optional<std::string> found, Find(trial, *reference, run));
  if (!found) return Failure();
  if (state_.spec.allow.contains(core::Allow::kState) || !reference->changed_globals.empty())
    return AfterEarlierCalls(trial, reference);
  return Failure(Wrong(core::Check::kModuleState, trial,
                       fmt::format("its result may depend on earlier calls: {}; that needs `allow: [state]` in the "
                                   "manifest",
                                   *found)));
}

Result<Failure> StateCheck::AfterEarlierCalls(const Trial& trial,
                                              const std::shared_ptr<const TrialReference>& reference) {
  if (!state_.on_simulator()) return Failure();  // timed outputs come from calls without reloading there
  WW_ASSIGN(const auto whole, state_.oracle.Deepen(trial, reference, Depth::kHonest));
  for (const uint32_t calls : kEarlierCalls) {
    RunKind kind;
    kind.earlier_calls = calls;
    TrialReference expected = *whole;
    if (!reference->changed_globals.empty()) {
      WW_ASSIGN(const RunOutcome original, state_.oracle.RunAgain(trial, *reference, OptionsOf(kind)));
      const auto* same = std::get_if<core::Executed>(&original);
      if (same == nullptr) return Failure();  // what the original cannot do is not required
      for (size_t o = 0; o < expected.outputs.size(); ++o) {
        expected.references[o].bytes = same->buffers[expected.outputs[o]];
        expected.references[o].ForgetTruth();
      }
    }
    WW_ASSIGN(RunOutcome outcome, runs_.Execute(trial, reference->inputs, kind));
    if (auto* verdict = std::get_if<core::Verdict>(&outcome)) return Failure(std::move(*verdict));
    if (const auto mismatch = state_.Compare(expected, std::get<core::Executed>(outcome).buffers))
      return Failure(Wrong(core::Check::kModuleState, trial,
                           fmt::format("after {} calls on other inputs {}", calls, mismatch->message)));
  }
  return Failure();
}

}  // namespace warpwright::judge
