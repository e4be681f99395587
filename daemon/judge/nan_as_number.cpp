#include "judge/nan_as_number.h"

#include <limits>
#include <set>

namespace warpwright::judge {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNumbers[] = {0, kInfinite, -kInfinite};
constexpr size_t kMostBuffers = 3;

using IntegerResults = std::vector<base::Bytes>;

// nullopt: the original does not run there.
Result<std::optional<IntegerResults>> ResultsWith(Judge::State& state, const Trial& trial,
                                                  std::vector<core::BufferContent> inputs, size_t buffer,
                                                  core::DType dtype, size_t element, double value) {
  std::vector<std::byte> bytes = inputs[buffer].bytes.Copy();
  core::StoreFromDouble(dtype, bytes.data(), element, value);
  inputs[buffer].bytes = std::move(bytes);
  const RunConfiguration setting{.source = &state.original, .spec = &state.spec, .c = &trial.c, .device = state.device};
  WW_ASSIGN(const RunOutcome outcome, RunKernel(state.trusted, setting, inputs));
  const auto* run = std::get_if<core::Executed>(&outcome);
  if (run == nullptr) return std::optional<IntegerResults>();
  IntegerResults results;
  size_t index = 0;
  for (const core::Argument& argument : state.spec.args) {
    const auto* kind = std::get_if<core::BufferArgument>(&argument.kind);
    if (kind == nullptr) continue;
    const size_t i = index++;
    if (kind->role != core::Role::kIn && kind->role != core::Role::kScratch && !core::IsFloat(kind->dtype))
      results.push_back(run->buffers[i]);
  }
  return std::optional(std::move(results));
}

Result<bool> TryOriginal(Judge::State& state) {
  const Trial& trial = state.verified.front().own;
  WW_ASSIGN(const auto contents, state.oracle.InputsOf(trial));
  std::set<double> numbers(std::begin(kNumbers), std::end(kNumbers));
  size_t index = 0, tried = 0;
  for (const core::Argument& argument : state.spec.args) {
    const auto* kind = std::get_if<core::BufferArgument>(&argument.kind);
    if (kind == nullptr) continue;
    const size_t i = index++;
    const size_t elements = (*contents)[i].bytes.size() / core::SizeOf(kind->dtype);
    const bool is_input = kind->role == core::Role::kIn || kind->role == core::Role::kInOut;
    if (!is_input || !core::IsFloat(kind->dtype) || elements == 0 || tried++ >= kMostBuffers) continue;
    for (const size_t element : {size_t{0}, elements / 2, elements - 1}) {
      WW_ASSIGN(const auto with_nan, ResultsWith(state, trial, *contents, i, kind->dtype, element,
                                                 std::numeric_limits<double>::quiet_NaN()));
      if (!with_nan || with_nan->empty()) return false;
      for (auto number = numbers.begin(); number != numbers.end();) {
        WW_ASSIGN(const auto with_number, ResultsWith(state, trial, *contents, i, kind->dtype, element, *number));
        number = with_number == with_nan ? std::next(number) : numbers.erase(number);
      }
      if (numbers.empty()) return false;
    }
  }
  return tried > 0;
}

}  // namespace

Result<bool> CountsNanAsNumber(Judge::State& state) {
  if (state.counts_nan) return *state.counts_nan;
  state.counts_nan = false;
  if (HasIntegerOutput(state.spec) && state.spec.special != core::SpecialInputs::kFinite) {
    WW_ASSIGN(state.counts_nan, TryOriginal(state));
  }
  return *state.counts_nan;
}

}  // namespace warpwright::judge
