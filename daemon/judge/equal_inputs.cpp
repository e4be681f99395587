#include "judge/equal_inputs.h"

#include <fmt/format.h>

namespace warpwright::judge {
namespace {

struct Input {
  size_t buffer = 0;
  std::string name;
  core::DType dtype;
  std::vector<int64_t> shape;
};

// Those of floating-point numbers.
std::vector<Input> InputsOf(const core::KernelSpec& spec, const core::Case& c) {
  std::vector<Input> inputs;
  size_t index = 0;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    const size_t i = index++;
    const auto shape = core::ShapeOf(argument, c);
    if (buffer->role == core::Role::kIn && core::IsFloat(buffer->dtype) && shape)
      inputs.push_back({i, argument.name, buffer->dtype, *shape});
  }
  return inputs;
}

}  // namespace

Result<Failure> CheckEqualInputs(Judge::State& state, CandidateRuns& runs, const Trial& trial) {
  constexpr int kMostPairs = 3;
  int pairs = 0;
  const std::vector<Input> inputs = InputsOf(state.spec, trial.c);
  for (const Input& b : inputs)
    for (const Input& a : inputs) {
      if (a.buffer >= b.buffer || a.dtype != b.dtype || a.shape != b.shape || pairs++ >= kMostPairs) continue;
      WW_ASSIGN(const auto own, state.oracle.InputsOf(trial));
      std::vector<core::BufferContent> contents = *own;
      contents[b.buffer].bytes = contents[a.buffer].bytes;
      const std::string where = fmt::format("{} equal to {}", b.name, a.name);
      WW_ASSIGN(const OracleResult answer, state.oracle.QueryWithContents(trial, std::move(contents), where));
      const auto* known = std::get_if<std::shared_ptr<const TrialReference>>(&answer);
      if (known == nullptr || !(*known)->health.empty()) continue;
      WW_ASSIGN(RunOutcome outcome, runs.Execute(trial, (*known)->inputs, {}));
      if (auto* verdict = std::get_if<core::Verdict>(&outcome)) return Failure(std::move(*verdict));
      const auto& run = std::get<core::Executed>(outcome);
      if (const auto mismatch = state.CompareKnown(trial, **known, run.buffers))
        return Failure(Wrong(core::Check::kDistributions, trial, fmt::format("with {}, {}", where, mismatch->message),
                             mismatch->sample));
    }
  return Failure();
}

}  // namespace warpwright::judge
