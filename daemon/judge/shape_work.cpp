#include "judge/shape_work.h"

#include <algorithm>

#include "core/computation_program.h"
#include "judge/judge_state.h"
#include "judge/shapes.h"

namespace warpwright::judge {

void ShapeWork::AddMeasured(const core::Case& c, uint64_t instructions) {
  if (instructions <= instructions_) return;
  measured_ = c;
  instructions_ = instructions;
}

std::optional<double> ShapeWork::StepsAt(const core::Case& c) const {
  if (form_ == nullptr) return std::nullopt;
  const core::SizeValues sizes = core::IntegerScalars(c);
  if (core::BrokenAssumption(*form_, sizes)) return std::nullopt;
  const auto program = core::CompileProgram(*form_, sizes);
  return program && program->work > 0 ? std::optional(static_cast<double>(program->work)) : std::nullopt;
}

double ShapeWork::SizesAt(const core::Case& c) const {
  double product = 1;
  const auto sizes = core::IntegerScalars(c);
  for (const std::string& name : ShapeScalars(spec_))
    if (const auto found = sizes.find(name); found != sizes.end())
      product *= static_cast<double>(std::max<int64_t>(found->second, 1));
  return product;
}

std::optional<double> ShapeWork::InstructionsAt(const core::Case& c) const {
  if (!measured_) return std::nullopt;
  const auto known = static_cast<double>(instructions_);
  const auto steps = StepsAt(c), measured_steps = StepsAt(*measured_);
  if (steps && measured_steps) return known * *steps / *measured_steps;
  double ratio = SizesAt(c) / SizesAt(*measured_);
  const auto bytes = CaseBytes(spec_, c), measured_bytes = CaseBytes(spec_, *measured_);
  if (bytes && measured_bytes && *measured_bytes > 0)
    ratio = std::max(ratio, static_cast<double>(*bytes) / static_cast<double>(*measured_bytes));
  return known * ratio;
}

}  // namespace warpwright::judge
