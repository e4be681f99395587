#include "judge/in_place.h"

#include <fmt/format.h>

#include <algorithm>

#include "judge/visibility_check.h"

namespace warpwright::judge {
namespace {

struct Pair {
  size_t output = 0, input = 0;  // buffers
  bool reads_output = false;     // it is `inout`
};

// Those that the manifest says, or every output in the place of an input of the same shape and bytes; the input's old
// content is lost. What is added to itself is in place too.
std::vector<Pair> PairsOf(const core::KernelSpec& spec, const core::Case& c) {
  struct Buffer {
    std::string name;
    core::Role role;
    core::DType dtype;
    std::vector<int64_t> shape;
  };
  std::vector<Buffer> buffers;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    auto shape = core::ShapeOf(argument, c);
    buffers.push_back(
        {argument.name, buffer->role, buffer->dtype, shape ? std::move(*shape) : std::vector<int64_t>{-1}});
  }
  const auto is_wanted = [&](const Buffer& output, const Buffer& input) {
    if (spec.alias)
      return std::any_of(spec.alias->begin(), spec.alias->end(), [&](const core::InPlacePair& pair) {
        return pair.output == output.name && pair.input == input.name;
      });
    return (output.role == core::Role::kOut || output.role == core::Role::kInOut) && input.role == core::Role::kIn;
  };
  std::vector<Pair> pairs;
  for (size_t o = 0; o < buffers.size(); ++o)
    for (size_t i = 0; i < buffers.size(); ++i)
      if (is_wanted(buffers[o], buffers[i]) && core::SizeOf(buffers[o].dtype) == core::SizeOf(buffers[i].dtype) &&
          buffers[o].shape == buffers[i].shape)
        pairs.push_back({o, i, buffers[o].role == core::Role::kInOut});
  return pairs;
}

// What the original gives for the same contents beside each other; nullptr: it does not run with them.
Result<std::shared_ptr<const TrialReference>> BesideEachOther(Judge::State& state, const Trial& trial,
                                                              const std::shared_ptr<const TrialReference>& reference,
                                                              const Pair& pair) {
  if (!pair.reads_output) return reference;
  std::vector<core::BufferContent> contents = reference->inputs;
  contents[pair.output].bytes = contents[pair.input].bytes;
  WW_ASSIGN(const OracleResult known,
            state.oracle.QueryWithContents(trial, std::move(contents), fmt::format("{} as {}", pair.output, pair.input),
                                           Depth::kBytes));
  const auto* beside = std::get_if<std::shared_ptr<const TrialReference>>(&known);
  return beside != nullptr && (*beside)->health.empty() ? *beside : nullptr;
}

// The results of a run in place, where those of a run beside each other would be.
std::vector<base::Bytes> Apart(const Pair& pair, const core::Executed& run) {
  std::vector<base::Bytes> buffers = run.buffers;
  buffers[pair.output] = run.buffers[pair.input];
  return buffers;
}

Result<bool> OriginalIsTheSame(Judge::State& state, const Trial& trial, const TrialReference& reference,
                               const Pair& pair, const std::vector<core::BufferContent>& inputs,
                               core::ExecuteOptions options) {
  const std::string key = fmt::format("{}/{}/{}", trial.Key(), pair.output, pair.input);
  if (const auto known = state.in_place.find(key); known != state.in_place.end()) return known->second;
  options.seed = trial.seed;
  const RunConfiguration setting{
      .source = &state.original, .spec = &state.spec, .c = &trial.c, .device = state.device, .options = options};
  WW_ASSIGN(const RunOutcome outcome, RunKernel(state.trusted, setting, inputs));
  const auto* original = std::get_if<core::Executed>(&outcome);
  bool same = original != nullptr && original->differing_runs == 0;
  if (same) {
    const std::vector<base::Bytes> results = Apart(pair, *original);
    for (size_t o = 0; o < reference.outputs.size(); ++o)
      same = same && results[reference.outputs[o]] == reference.references[o].bytes;
  }
  return state.in_place[key] = same;
}

// Neighbours that one small block reads before another writes them say nothing of a grid: callers cannot tell sizes
// apart, and so the original has to compute the same at its largest verified case as well.
Result<bool> OriginalIsTheSameWhenLarge(Judge::State& state, const Trial& trial, const Pair& pair,
                                        const core::ExecuteOptions& options) {
  const Trial& large = state.verified.back().own;
  if (large.Key() == trial.Key()) return true;
  WW_ASSIGN(const OracleResult known, state.oracle.Query(large, Depth::kBytes));
  const auto* own = std::get_if<std::shared_ptr<const TrialReference>>(&known);
  if (own == nullptr) return false;
  WW_ASSIGN(const auto reference, BesideEachOther(state, large, *own, pair));
  if (reference == nullptr) return false;
  std::vector<core::BufferContent> inputs = reference->inputs;
  inputs[pair.output].same_as = static_cast<uint32_t>(pair.input);
  return OriginalIsTheSame(state, large, *reference, pair, inputs, options);
}

// Not a GPU's case of production size, where a smaller one was simulated before.
bool IsSimulatedWhole(const Judge::State& state, const Trial& trial) {
  return std::any_of(state.verified.begin(), state.verified.end(), [&](const VerifiedCase& one) {
    return one.c->name == trial.c.name &&
           (&one == &state.verified.front() || one.instructions <= kMostInstructionsForInputs);
  });
}

}  // namespace

Result<Failure> CheckInPlace(Judge::State& state, CandidateRuns& runs, const Trial& trial,
                             const std::shared_ptr<const TrialReference>& own, bool& tried) {
  for (const Pair& pair : PairsOf(state.spec, trial.c)) {
    WW_ASSIGN(const auto beside, BesideEachOther(state, trial, own, pair));
    if (beside == nullptr) continue;
    const TrialReference& reference = *beside;
    std::vector<core::BufferContent> inputs = reference.inputs;
    inputs[pair.output].same_as = static_cast<uint32_t>(pair.input);
    RunKind kind;
    kind.runs = state.on_simulator() ? kSimulatedRuns : kQuickRuns;  // a race may have no effect in one
    WW_ASSIGN(bool same, OriginalIsTheSame(state, trial, reference, pair, inputs, OptionsOf(kind)));
    const std::string where =
        fmt::format("with {} in the place of {}", inputs[pair.output].name, inputs[pair.input].name);
    if (!same && state.spec.alias)
      return Fail(Error{.code = ErrorCode::kConfig,
                        .message = fmt::format("kernel {}, case {}: {} the original computes something else, and the "
                                               "manifest says that callers do that",
                                               state.spec.name, trial.c.name, where),
                        .file = kManifestFile,
                        .line = state.spec.line,
                        .remedy = "remove the pair from `alias`"});
    if (same && !state.spec.alias) {
      WW_ASSIGN(same, OriginalIsTheSameWhenLarge(state, trial, pair, OptionsOf(kind)));
    }
    if (!same) continue;  // its callers cannot do that
    tried = true;
    WW_ASSIGN(RunOutcome outcome, runs.Execute(trial, inputs, kind));
    if (auto* verdict = std::get_if<core::Verdict>(&outcome)) {
      if (auto* refused = std::get_if<core::Refused>(verdict))
        refused->reason += fmt::format(" ({}, which the original handles)", where);
      return Failure(std::move(*verdict));
    }
    const core::Executed& run = std::get<core::Executed>(outcome);
    std::optional<Mismatch> mismatch = state.CompareKnown(trial, reference, Apart(pair, run));
    if (!mismatch && run.differing_runs > 0) {
      core::Executed other = run;
      other.buffers = run.other_buffers;
      mismatch = state.CompareKnown(trial, reference, Apart(pair, other));
    }
    if (mismatch)
      return Failure(
          Wrong(core::Check::kInPlace, trial, fmt::format("{}, {}", where, mismatch->message), mismatch->sample));
    if (!runs.full() || !IsSimulatedWhole(state, trial)) continue;
    const auto apart = [&](const core::Executed& one) -> Result<std::optional<Mismatch>> {
      return state.CompareKnown(trial, reference, Apart(pair, one));
    };
    WW_ASSIGN(Failure failure, CheckVisibility(state, runs, trial, inputs, apart));
    if (failure) return failure;
  }
  return Failure();
}

}  // namespace warpwright::judge
