#include "judge/shared_outputs.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpwright::judge {
namespace {

constexpr int kMostPairs = 4;

struct Output {
  size_t buffer = 0;
  std::string name;
  core::DType dtype;
  std::vector<int64_t> shape;
};

std::vector<Output> OutputsOf(const core::KernelSpec& spec, const core::Case& c) {
  std::vector<Output> outputs;
  size_t index = 0;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    const size_t i = index++;
    const auto shape = core::ShapeOf(argument, c);
    if (buffer->role == core::Role::kOut && shape) outputs.push_back({i, argument.name, buffer->dtype, *shape});
  }
  return outputs;
}

struct Setting {
  Judge::State& state;
  const Trial& trial;
  const TrialReference& reference;  // of all outputs apart
  std::string device;
  std::set<std::string> read_back;  // outputs that the original reads
};

Result<std::set<std::string>> ReadBack(Judge::State& state, const Trial& trial, const std::string& device,
                                       const std::vector<core::BufferContent>& inputs) {
  RunConfiguration setting{.source = &state.original, .spec = &state.spec, .c = &trial.c, .device = device};
  setting.options.extents = true;
  WW_ASSIGN(const RunOutcome outcome, RunKernel(state.trusted, setting, inputs));
  std::set<std::string> names;
  if (const auto* run = std::get_if<core::Executed>(&outcome))
    for (const core::BufferExtent& extent : run->extents)
      if (extent.read_bytes > 0) names.insert(extent.buffer);
  return names;
}

const base::Bytes& BytesOf(const TrialReference& reference, size_t buffer) {
  const auto at = std::find(reference.outputs.begin(), reference.outputs.end(), buffer);
  return reference.references[static_cast<size_t>(at - reference.outputs.begin())].bytes;
}

// The outputs that are what they are apart when `b` is in the place of `a`; the shared one stands under the buffer
// whose value it has. Empty: callers get nothing that they could use.
Result<std::vector<size_t>> Kept(const Setting& setting, const Output& a, const Output& b,
                                 const std::vector<core::BufferContent>& inputs, const core::ExecuteOptions& options) {
  const auto& [state, trial, reference, device, read_back] = setting;
  const std::string key = fmt::format("{}/{}/{}", trial.Key(), a.buffer, b.buffer);
  if (const auto known = state.shared_outputs.find(key); known != state.shared_outputs.end()) return known->second;
  RunConfiguration configuration{
      .source = &state.original, .spec = &state.spec, .c = &trial.c, .device = device, .options = options};
  configuration.options.seed = trial.seed;
  WW_ASSIGN(const RunOutcome outcome, RunKernel(state.trusted, configuration, inputs));
  const auto* run = std::get_if<core::Executed>(&outcome);
  std::vector<size_t> kept;
  if (run != nullptr && run->differing_runs == 0 && !run->uses.contains(core::FailingLaunch())) {
    for (const size_t output : reference.outputs)
      if (output != a.buffer && output != b.buffer && run->buffers[output] == BytesOf(reference, output))
        kept.push_back(output);
    if (read_back.contains(a.name) || read_back.contains(b.name))
      for (const size_t value : {a.buffer, b.buffer})
        if (run->buffers[a.buffer] == BytesOf(reference, value)) kept.push_back(value);
  }
  return state.shared_outputs[key] = kept;
}

// A run's results, where those of a run of all outputs apart would be; what nobody asks for is as it should be.
std::vector<base::Bytes> Apart(const TrialReference& reference, const std::vector<size_t>& kept, size_t shared,
                               size_t other, const std::vector<base::Bytes>& buffers) {
  std::vector<base::Bytes> apart = buffers;
  for (const size_t output : reference.outputs)
    if (std::find(kept.begin(), kept.end(), output) == kept.end()) apart[output] = BytesOf(reference, output);
    else if (output == other) apart[output] = buffers[shared];
  return apart;
}

Result<Failure> CheckPair(const Setting& setting, CandidateRuns& runs, const Output& a, const Output& b) {
  const auto& [state, trial, reference, device, read_back] = setting;
  std::vector<core::BufferContent> inputs = reference.inputs;
  inputs[b.buffer].same_as = static_cast<uint32_t>(a.buffer);
  const RunKind kind{.runs = kSimulatedRuns, .simulated = !state.on_simulator()};
  WW_ASSIGN(const std::vector<size_t> kept, Kept(setting, a, b, inputs, OptionsOf(kind)));
  if (kept.empty()) return Failure();
  const std::string where = fmt::format("with one buffer for {} and {}", a.name, b.name);
  WW_ASSIGN(RunOutcome outcome, runs.Execute(trial, inputs, kind));
  if (auto* verdict = std::get_if<core::Verdict>(&outcome)) {
    if (auto* refused = std::get_if<core::Refused>(verdict))
      refused->reason += fmt::format(" ({}, which the original handles)", where);
    return Failure(std::move(*verdict));
  }
  const auto& run = std::get<core::Executed>(outcome);
  auto mismatch = state.CompareKnown(trial, reference, Apart(reference, kept, a.buffer, b.buffer, run.buffers));
  if (!mismatch && run.differing_runs > 0)
    mismatch = state.CompareKnown(trial, reference, Apart(reference, kept, a.buffer, b.buffer, run.other_buffers));
  if (!mismatch) return Failure();
  return Failure(
      Wrong(core::Check::kInPlace, trial, fmt::format("{}, {}", where, mismatch->message), mismatch->sample));
}

}  // namespace

Result<Failure> CheckSharedOutputs(Judge::State& state, CandidateRuns& runs, const Trial& trial) {
  const std::string device = state.on_simulator() ? state.device : state.options.simulator;
  const std::vector<Output> outputs = OutputsOf(state.spec, trial.c);
  if (device.empty() || outputs.size() < 2 || state.spec.alias) return Failure();
  WW_ASSIGN(const OracleResult answer, state.oracle.Query(trial));
  const auto* known = std::get_if<std::shared_ptr<const TrialReference>>(&answer);
  if (known == nullptr || !(*known)->health.empty()) return Failure();
  std::optional<Setting> setting;
  int pairs = 0;
  for (const Output& a : outputs)
    for (const Output& b : outputs) {
      const bool alike = core::SizeOf(a.dtype) == core::SizeOf(b.dtype) && a.shape == b.shape;
      if (a.buffer >= b.buffer || !alike || pairs++ >= kMostPairs) continue;
      if (!setting) {
        WW_ASSIGN(auto read_back, ReadBack(state, trial, device, (*known)->inputs));
        setting.emplace(Setting{state, trial, **known, device, std::move(read_back)});
      }
      WW_ASSIGN(Failure failure, CheckPair(*setting, runs, a, b));
      if (failure) return failure;
    }
  return Failure();
}

}  // namespace warpwright::judge
