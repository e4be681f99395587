#include "judge/absent_buffers.h"

#include <fmt/format.h>

#include "core/execution.h"
#include "judge/plain_difference.h"

namespace warpwright::judge {
namespace {

constexpr uint64_t kInstructions = 200'000'000;

// The first output that is another one; empty: none.
std::string OtherOutput(const core::KernelSpec& spec, const std::vector<core::BufferContent>& inputs,
                        const core::Executed& original, const core::Executed& run) {
  size_t index = 0;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    const size_t i = index++;
    if (buffer->role == core::Role::kScratch || inputs[i].absent) continue;
    if (ArePlainlyOther(buffer->dtype, original.buffers[i], run.buffers[i])) return argument.name;
  }
  return {};
}

// nullptr: it does not do without.
Result<std::shared_ptr<const core::Executed>> OriginalWithout(Judge::State& state, size_t buffer,
                                                              RunConfiguration setting,
                                                              const std::vector<core::BufferContent>& inputs) {
  if (const auto known = state.without_buffer.find(buffer); known != state.without_buffer.end()) return known->second;
  setting.source = &state.original;
  WW_ASSIGN(RunOutcome outcome, RunKernel(state.trusted, setting, inputs));
  auto* run = std::get_if<core::Executed>(&outcome);
  auto& kept = state.without_buffer[buffer];
  if (run != nullptr && !run->uses.contains(core::FailingLaunch()))
    kept = std::make_shared<core::Executed>(std::move(*run));
  return kept;
}

}  // namespace

Result<Failure> CheckAbsentBuffers(Judge::State& state, const core::SourceRef& candidate, core::Evaluator& evaluator,
                                   const Trial& trial) {
  RunConfiguration setting{
      .spec = &state.spec, .c = &trial.c, .device = state.on_simulator() ? state.device : state.options.simulator};
  if (setting.device.empty()) return Failure();
  setting.options.instruction_limit = kInstructions;
  setting.options.seed = trial.seed;
  WW_ASSIGN(const auto contents, state.oracle.InputsOf(trial));
  for (size_t i = 0; i < contents->size(); ++i) {
    std::vector<core::BufferContent> inputs = *contents;
    inputs[i].absent = true;
    WW_ASSIGN(const auto original, OriginalWithout(state, i, setting, inputs));
    if (original == nullptr) continue;
    setting.source = &candidate;
    WW_ASSIGN(RunOutcome outcome, RunKernel(evaluator, setting, inputs));
    const std::string where = fmt::format("a null pointer for {}, which the original handles", inputs[i].name);
    if (auto* verdict = std::get_if<core::Verdict>(&outcome)) {
      if (auto* refused = std::get_if<core::Refused>(verdict)) refused->reason += fmt::format(" (with {})", where);
      if (auto* faulted = std::get_if<core::Faulted>(verdict))
        faulted->case_name = fmt::format("{}, with {}", trial.Describe(), where);
      return Failure(std::move(*verdict));
    }
    const core::Executed& run = std::get<core::Executed>(outcome);
    if (const std::string other = OtherOutput(state.spec, inputs, *original, run); !other.empty())
      return Failure(Wrong(core::Check::kOtherScalars, trial, fmt::format("with {}, {} is another", where, other)));
    const TrialReference known{.inputs = inputs, .uses = original->uses};
    if (auto failure = CheckHostCode(state.spec, known, run)) return failure;
  }
  return Failure();
}

}  // namespace warpwright::judge
