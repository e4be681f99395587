#include "judge/buffer_ends.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/execution.h"
#include "judge/lift_shapes.h"

namespace warpwright::judge {
namespace {

constexpr uint64_t kMostInstructionsWhole = 40'000'000;

// Of each buffer the bytes up to the last one that the original touches; empty: not known.
Result<std::vector<uint64_t>> UsedBytes(Judge::State& state, RunConfiguration setting,
                                        const std::vector<core::BufferContent>& inputs) {
  const auto [known, is_new] = state.used_bytes.try_emplace(setting.c->name);
  if (!is_new) return known->second;
  setting.source = &state.original;
  setting.options.extents = true;
  WW_ASSIGN(const RunOutcome outcome, RunKernel(state.trusted, setting, inputs));
  if (const auto* run = std::get_if<core::Executed>(&outcome))
    for (const core::BufferExtent& extent : run->extents)
      known->second.push_back(std::max(extent.read_end, extent.written_end));
  return known->second;
}

// Nothing is cut off a workspace, of which a version may use as much as there is. The names of those that are shorter.
std::string CutOff(const core::KernelSpec& spec, const std::vector<uint64_t>& used,
                   std::vector<core::BufferContent>& inputs) {
  std::string names;
  size_t index = 0;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    const size_t i = index++;
    const uint64_t size = core::SizeOf(buffer->dtype);
    const uint64_t end = i < used.size() ? (used[i] + size - 1) / size * size : 0;
    if (buffer->role == core::Role::kScratch || end == 0 || end >= inputs[i].bytes.size()) continue;
    std::vector<std::byte> shorter = inputs[i].bytes.Copy();
    shorter.resize(end);
    inputs[i].bytes = std::move(shorter);
    names += (names.empty() ? "" : " and ") + argument.name;
  }
  return names;
}

}  // namespace

Result<Failure> CheckBufferEnds(Judge::State& state, const core::SourceRef& candidate, core::Evaluator& evaluator) {
  const std::string device = state.on_simulator() ? state.device : state.options.simulator;
  if (device.empty()) return Failure();
  std::vector<Trial> trials;
  for (const VerifiedCase& verified : state.verified)
    if (verified.instructions <= kMostInstructionsWhole && (state.on_simulator() || verified.instructions > 0))
      trials.push_back(verified.own);
  for (const core::Case& small : SmallCasesLikeTimed(state.spec))
    trials.push_back({.check = core::Check::kOddShape, .c = small, .seed = 1});
  for (const Trial& trial : trials) {
    RunConfiguration setting{.source = &candidate, .spec = &state.spec, .c = &trial.c, .device = device};
    setting.options.instruction_limit = 4 * kMostInstructionsWhole;
    const auto contents = state.oracle.InputsOf(trial);
    if (!contents) continue;  // the manifest does not allow such sizes, or its inputs are files of others
    std::vector<core::BufferContent> inputs = **contents;
    WW_ASSIGN(const std::vector<uint64_t> used, UsedBytes(state, setting, inputs));
    const std::string names = CutOff(state.spec, used, inputs);
    if (names.empty()) continue;
    WW_ASSIGN(RunOutcome outcome, RunKernel(evaluator, setting, inputs));
    auto* verdict = std::get_if<core::Verdict>(&outcome);
    auto* faulted = verdict != nullptr ? std::get_if<core::Faulted>(verdict) : nullptr;
    if (faulted == nullptr || faulted->fault.kind != core::Fault::Kind::kOutOfBounds) continue;
    faulted->case_name =
        fmt::format("{}, with {} ending behind the last element that the original touches", trial.Describe(), names);
    return Failure(std::move(*verdict));
  }
  return Failure();
}

}  // namespace warpwright::judge
