#include "agents/formula_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "agents/data_block.h"
#include "core/computation_text.h"
#include "core/entry_text.h"

namespace warpwright::agents {
namespace {

constexpr size_t kMaxFormulaBytes = 6'000, kLeastFormulaBytes = 600;
constexpr const char* kUnknown = "What it computes could not be written as a formula: read the code.\n";

// Where a segment's values are computed: the kernels of the original, or its lines if their files are not known.
std::string PlaceOf(const core::Computation& computation, const core::EntryText& original) {
  std::set<int> lines;
  for (const core::Stage& stage : computation.stages)
    if (stage.line > 0) lines.insert(stage.line);
  if (lines.empty() || !original.headers.empty()) return {};  // a line does not say of which file it is
  std::vector<std::string> kernels;
  for (const core::FunctionLines& function : original.functions)
    if (std::any_of(lines.begin(), lines.end(), [&](int l) { return function.first <= l && l <= function.last; }))
      kernels.push_back(fmt::format("{} (lines {} to {} of the original)", Quoted(function.name, 120), function.first,
                                    function.last));
  return kernels.empty() ? std::string() : fmt::format(", in {}", fmt::join(kernels, ", "));
}

}  // namespace

Result<std::string> FormulaText(const Situation& at) {
  if (at.form != nullptr)
    return "What it computes, for all elements:\n" +
           BarredLines(core::ComputationText(at.form->computation), kMaxFormulaBytes);
  if (!at.segments) return kUnknown;
  WW_ASSIGN(const std::vector<core::SegmentForm> segments, at.segments());
  if (segments.empty()) return kUnknown;
  WW_ASSIGN(const core::EntryText original, core::ReadEntryText(at.evaluator, at.original, at.spec.entry));
  const size_t each = std::max(kLeastFormulaBytes, kMaxFormulaBytes / segments.size());
  std::string text =
      "What it computes as a whole could not be written as a formula. Of the statements of the original's launcher "
      "that launch kernels these could, for all elements; x' is what x contains afterwards:\n";
  for (const core::SegmentForm& segment : segments) {
    std::string formula =
        fmt::format("Launching statement {}{}:\n", segment.number + 1, PlaceOf(segment.computation, original)) +
        BarredLines(core::ComputationText(segment.computation), each);
    if (text.size() + formula.size() > kMaxFormulaBytes + each) {
      text += "Others are left out.\n";
      break;
    }
    text += formula;
  }
  return text;
}

}  // namespace warpwright::agents
