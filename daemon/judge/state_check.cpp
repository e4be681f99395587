#include "judge/state_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/rotated_contents.h"

namespace warpwright::judge {
namespace {

// Counters that wait for a call, and the usual depths of double and triple buffering; a GPU makes the most of them.
constexpr uint32_t kEarlierCalls[] = {1, 2, 5};
// What a simulator is asked on behalf of a GPU: less than a second.
constexpr uint64_t kSimulatedBytes = 1 << 18, kSimulatedInstructions = 100'000'000;

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

// How a GPU's run used its state, byte by byte. None: it takes a simulator too long.
Result<std::optional<std::vector<core::StateUse>>> StateCheck::Simulated(const Trial& trial,
                                                                         const TrialReference& reference) {
  using Uses = std::optional<std::vector<core::StateUse>>;
  uint64_t bytes = 0;
  for (const core::BufferContent& input : reference.inputs) bytes += input.bytes.size();
  if (bytes > kSimulatedBytes) return Uses();
  RunKind kind;
  kind.simulated = true;
  kind.instructions = kSimulatedInstructions;
  WW_ASSIGN(const RunOutcome outcome, runs_.Execute(trial, reference.inputs, kind));
  const auto* simulated = std::get_if<core::Executed>(&outcome);
  return simulated == nullptr ? Uses() : Uses(simulated->state);
}

Result<StateCheck::Finding> StateCheck::Find(const Trial& trial, const TrialReference& reference,
                                             const core::Executed& run) {
  std::vector<core::StateUse> uses = run.state;
  if (!run.changed_globals.empty()) {
    const bool known = !state_.on_simulator() && !state_.options.simulator.empty();
    if (!known) return Finding{FindState(run)};
    WW_ASSIGN(auto simulated, Simulated(trial, reference));
    if (!simulated) return Finding{.unknown = true};
    uses = std::move(*simulated);
  }
  // Of workspaces, those of the same size and place among all are the same memory with other shapes.
  if (auto found = FindIn(uses)) return Finding{std::move(found)};
  core::Merge(uses, known_);
  return Finding{FindIn(known_)};
}

Result<Failure> StateCheck::Check(const Trial& trial, const std::shared_ptr<const TrialReference>& reference,
                                  const core::Executed& run) {
  WW_ASSIGN(const Finding found, Find(trial, *reference, run));
  if (found.unknown) return run.sampled ? Failure() : AfterEarlierCalls(trial, reference, run);
  if (!found.state) return Failure();
  if (state_.spec.allow.contains(core::Allow::kState) || !reference->changed_globals.empty())
    return state_.on_simulator() ? AfterEarlierCalls(trial, reference, run) : Failure();  // timed outputs tell there
  return Failure(Wrong(core::Check::kModuleState, trial,
                       fmt::format("its result may depend on earlier calls: {}; that needs `allow: [state]` in the "
                                   "manifest",
                                   *found.state)));
}

Result<Failure> StateCheck::AfterEarlierCalls(const Trial& trial,
                                              const std::shared_ptr<const TrialReference>& reference,
                                              const core::Executed& run) {
  for (const uint32_t calls : kEarlierCalls) {
    if (!state_.on_simulator() && calls != kEarlierCalls[std::size(kEarlierCalls) - 1]) continue;
    RunKind kind;
    kind.earlier_calls = calls;
    WW_ASSIGN(RunOutcome outcome, runs_.Execute(trial, reference->inputs, kind));
    if (auto* verdict = std::get_if<core::Verdict>(&outcome)) return Failure(std::move(*verdict));
    const auto& later = std::get<core::Executed>(outcome);
    const bool stateful = !reference->changed_globals.empty();
    const bool equal = std::all_of(reference->outputs.begin(), reference->outputs.end(),
                                   [&](size_t output) { return later.buffers[output] == run.buffers[output]; });
    if (equal && !stateful) continue;
    WW_ASSIGN(const auto whole, state_.oracle.Deepen(trial, reference, Depth::kHonest));
    TrialReference expected = *whole;
    if (stateful) {
      WW_ASSIGN(const RunOutcome original, state_.oracle.RunAgain(trial, *reference, OptionsOf(kind)));
      const auto* same = std::get_if<core::Executed>(&original);
      if (same == nullptr) return Failure();  // what the original cannot do is not required
      for (size_t o = 0; o < expected.outputs.size(); ++o) {
        expected.references[o].bytes = same->buffers[expected.outputs[o]];
        expected.references[o].ForgetTruth();
      }
    }
    if (const auto mismatch = state_.CompareKnown(trial, expected, later.buffers))
      return Failure(Wrong(core::Check::kModuleState, trial,
                           fmt::format("after {} calls on other inputs {}", calls, mismatch->message)));
  }
  return Failure();
}

Result<Failure> StateCheck::CheckOverlapping(const Trial& trial, const std::shared_ptr<const TrialReference>& reference,
                                             const core::Executed& run) {
  constexpr int kMostTrials = 6;
  if (state_.spec.allow.contains(core::Allow::kSharedWorkspace) || run.sampled || overlapping_ >= kMostTrials)
    return Failure();
  std::string names = run.changed_globals.empty() ? "" : run.changed_globals.front();
  for (const core::StateUse& use : run.state)
    if (!use.left.empty()) names += (names.empty() ? "" : ", ") + use.name;
  if (names.empty()) return Failure();
  ++overlapping_;
  Trial other = trial;
  other.seed = ~trial.seed;
  WW_ASSIGN(const auto inputs, state_.oracle.InputsOf(other));
  const std::vector<core::BufferContent> beside = core::Rotated(*inputs, 1);
  uint64_t bytes = 0;
  for (const core::BufferContent& input : beside) bytes += input.Size();
  RunKind kind{.beside = &beside};
  if (!state_.on_simulator()) {
    if (state_.options.simulator.empty() || bytes > kSimulatedBytes) return Failure();
    kind.simulated = true;
    kind.instructions = kSimulatedInstructions;
  }
  WW_ASSIGN(const RunOutcome outcome, runs_.Execute(trial, reference->inputs, kind));
  const auto mismatch_of = [&](const RunOutcome& of) -> std::optional<std::string> {
    const auto* both = std::get_if<core::Executed>(&of);
    if (both == nullptr) return core::VerdictMessage(std::get<core::Verdict>(of));
    const auto mismatch = state_.CompareKnown(trial, *reference, both->buffers);
    return mismatch ? std::optional(mismatch->message) : std::nullopt;
  };
  const auto mismatch = mismatch_of(outcome);
  if (!mismatch) return Failure();
  RunConfiguration original{.source = &state_.original,
                            .spec = &state_.spec,
                            .c = &trial.c,
                            .device = state_.on_simulator() ? state_.device : state_.options.simulator,
                            .options = OptionsOf(kind),
                            .beside = &beside};
  WW_ASSIGN(const RunOutcome same, RunKernel(state_.trusted, original, reference->inputs));
  if (mismatch_of(same)) return Failure();  // its callers cannot do that
  return Failure(Wrong(core::Check::kModuleState, trial,
                       fmt::format("its calls share {}, which the original's do not: while another call runs on "
                                   "another stream, {}; where no two calls ever overlap, `allow: [{}]` in the manifest "
                                   "says so",
                                   names, *mismatch, core::Name(core::Allow::kSharedWorkspace))));
}

}  // namespace warpwright::judge
