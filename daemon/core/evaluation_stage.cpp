#include "core/evaluation_stage.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/evaluation_reduce.h"

namespace warpwright::core {
namespace {

// Sizes are not bounded: positions wrap, and what is out of bounds is found to be.
int64_t MultiplyAdd(int64_t sum, int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
int64_t FloorQuotient(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// Advances counters over a box, the last one fastest. False: it is done.
bool Advance(std::span<const std::pair<VariableId, int64_t>> box, std::span<int64_t> variables) {
  for (size_t i = box.size(); i-- > 0;) {
    if (++variables[box[i].first] < box[i].second) return true;
    variables[box[i].first] = 0;
  }
  return false;
}

}  // namespace

StageEvaluation::StageEvaluation(const StageProgram& stage, std::span<EvaluationBuffer> buffers,
                                 std::span<const double> scalars, const EvaluateOptions& options)
    : stage_(stage), buffers_(buffers), registers_(stage.registers) {
  if (options.errors) errors_.emplace(*options.errors);
  context_ = {.registers = registers_, .stage = &stage, .count = 1, .rounds = options.rounds};
  for (const auto& preset : stage.presets) {
    LaneValues& out = registers_[preset.out];
    const double real = preset.scalar >= 0 ? scalars[static_cast<size_t>(preset.scalar)] : preset.real;
    out.real.fill(real);
    out.whole.fill(preset.whole);
    out.error.fill(errors_ && !preset.exact ? errors_->OfLiteral(real) : 0);
  }
}

Status StageEvaluation::Run() {
  std::vector<std::pair<VariableId, int64_t>> outer;
  int64_t lanes = 1;
  for (size_t v = 0; v < stage_.extents.size(); ++v) {
    if (stage_.extents[v] == 0) return {};
    if (v == stage_.lane) lanes = stage_.extents[v];
    else outer.emplace_back(static_cast<VariableId>(v), stage_.extents[v]);
  }
  do {
    for (int64_t begin = 0; begin < lanes; begin += kLanes) {
      variables_[stage_.lane] = begin;
      context_.count = std::min(kLanes, lanes - begin);
      WW_TRY(RunGroup());
    }
  } while (Advance(outer, variables_));
  return {};
}

Status StageEvaluation::RunGroup() {
  Lanes<uint8_t> mask;
  mask.fill(1);
  if (Restrict(stage_.domain, mask) == 0) return {};
  RunBlock(0);
  return Store(mask);
}

int64_t StageEvaluation::Numerator(const Position& position) const {
  int64_t sum = position.constant;
  for (uint32_t i = position.first; i < position.first + position.count; ++i) {
    const PositionTerm& term = stage_.terms[i];
    int64_t value = variables_[term.variable];
    if (term.part == Affine::Part::kQuotient) value = FloorQuotient(value, term.modulus);
    if (term.part == Affine::Part::kRemainder) value -= FloorQuotient(value, term.modulus) * term.modulus;
    sum = MultiplyAdd(sum, value, term.coefficient);
  }
  return sum;
}
void StageEvaluation::Coordinates(const Position& position, Lanes<int64_t>& out) {
  if (position.even) {
    const int64_t first = Numerator(position);
    for (int64_t l = 0; l < context_.count; ++l) out[l] = MultiplyAdd(first, l, position.slope);
  } else {
    for (int64_t l = 0; l < context_.count; ++l) {
      out[l] = Numerator(position);
      ++variables_[stage_.lane];
    }
    variables_[stage_.lane] -= context_.count;
  }
  if (position.divisor == 1) return;
  for (int64_t l = 0; l < context_.count; ++l) out[l] = FloorQuotient(out[l], position.divisor);
}

int64_t StageEvaluation::Restrict(std::span<const CompiledGuard> guards, Lanes<uint8_t>& mask) {
  for (const auto& guard : guards) {
    const Position& position = guard.value;
    if (position.even && position.slope == 0) {  // one answer for all lanes
      const int64_t numerator = Numerator(position), value = FloorQuotient(numerator, position.divisor);
      if (value * position.divisor != numerator || value < guard.low || value >= guard.high) return 0;
      continue;
    }
    Lanes<int64_t> values;
    Position whole = position;
    whole.divisor = 1;
    Coordinates(whole, values);
    for (int64_t l = 0; l < context_.count; ++l) {
      const int64_t value = FloorQuotient(values[l], position.divisor);
      if (value * position.divisor != values[l] || value < guard.low || value >= guard.high) mask[l] = 0;
    }
  }
  return std::count(mask.begin(), mask.begin() + context_.count, 1);
}

void StageEvaluation::RunBlock(uint32_t block) {
  for (const auto& step : stage_.blocks[block].steps) {
    switch (step.op) {
      case StepOp::kRead: RunRead(step); break;
      case StepOp::kReduce: RunReduce(step); break;
      case StepOp::kPosition: RunPosition(step); break;
      default:
        RunArithmetic(step, context_);
        if (errors_) RunErrors(step, context_, *errors_);
    }
  }
}

void StageEvaluation::RunPosition(const Step& step) {
  LaneValues& out = registers_[step.out];
  Coordinates(stage_.positions[step.extra], out.whole);
  out.error.fill(0);
}

void StageEvaluation::RunRead(const Step& step) {
  const CompiledRead& read = stage_.reads[step.extra];
  const EvaluationBuffer& buffer = buffers_[read.buffer];
  LaneValues& out = registers_[step.out];
  out.any_missing = false;
  if (!ReadStraight(read, buffer, out)) ReadScattered(read, buffer, out);
}

// Whole coordinates that are linear along the lanes and within bounds at both ends.
bool StageEvaluation::ReadStraight(const CompiledRead& read, const EvaluationBuffer& buffer, LaneValues& out) {
  if (!buffer.complete()) return false;
  int64_t first = 0, slope = 0;
  for (size_t i = 0; i < read.at.size(); ++i) {
    if (read.at[i].gathered) return false;
    const Position& position = stage_.positions[read.at[i].index];
    if (!position.even || position.divisor != 1) return false;
    const int64_t begin = Numerator(position), end = MultiplyAdd(begin, context_.count - 1, position.slope);
    const int64_t extent = buffer.shape->extents[i];
    if (begin < 0 || begin >= extent || end < 0 || end >= extent) return false;
    first += begin * buffer.shape->strides[i];
    slope += position.slope * buffer.shape->strides[i];
  }
  const auto copy = [&](const auto& from, auto& to) {
    if (slope == 1) std::copy_n(from.begin() + first, context_.count, to.begin());
    else if (slope == 0) std::fill_n(to.begin(), context_.count, from[static_cast<size_t>(first)]);
    else
      for (int64_t l = 0; l < context_.count; ++l) to[l] = from[static_cast<size_t>(first + l * slope)];
  };
  if (buffer.shape->integer) copy(buffer.whole, out.whole);
  else copy(buffer.real, out.real);
  if (!errors_) return true;
  if (buffer.errors.empty()) out.error.fill(0);
  else copy(buffer.errors, out.error);
  return true;
}

void StageEvaluation::ReadScattered(const CompiledRead& read, const EvaluationBuffer& buffer, LaneValues& out) {
  Lanes<int64_t> at;
  Lanes<uint8_t> missing;
  Lanes<double> error;
  at.fill(0), missing.fill(0), error.fill(0);
  for (size_t i = 0; i < read.at.size(); ++i) {
    const auto& coordinate = read.at[i];
    Lanes<int64_t> values;
    if (coordinate.gathered) {
      const LaneValues& from = registers_[coordinate.index];
      values = from.whole;
      for (int64_t l = 0; l < context_.count; ++l) {
        if (from.any_missing) missing[l] |= from.missing[l];
        if (errors_ && from.error[l] > 0) error[l] = std::numeric_limits<double>::infinity();
      }
    } else {
      Coordinates(stage_.positions[coordinate.index], values);
    }
    for (int64_t l = 0; l < context_.count; ++l) {
      if (values[l] < 0 || values[l] >= buffer.shape->extents[i]) missing[l] = 1;
      else at[l] += values[l] * buffer.shape->strides[i];
    }
  }
  for (int64_t l = 0; l < context_.count; ++l) {
    const auto index = static_cast<size_t>(at[l]);
    if (missing[l] == 0 && !buffer.complete() && buffer.written[index] == 0) missing[l] = 1;
    if (missing[l] != 0) {
      out.any_missing = true;
      out.real[l] = 0, out.whole[l] = 0, out.error[l] = 0;
      continue;
    }
    if (buffer.shape->integer) out.whole[l] = buffer.whole[index];
    else out.real[l] = buffer.real[index];
    if (errors_) out.error[l] = error[l] + (buffer.errors.empty() ? 0 : buffer.errors[index]);
  }
  out.missing = missing;
}

void StageEvaluation::RunReduce(const Step& step) {
  const CompiledReduce& reduce = stage_.reduces[step.extra];
  LaneReduction lanes(reduce, context_.count, errors_ ? &*errors_ : nullptr);
  const bool empty =
      std::any_of(reduce.variables.begin(), reduce.variables.end(), [](auto& v) { return v.second == 0; });
  for (const auto& [variable, extent] : reduce.variables) variables_[variable] = 0;
  if (!empty) {
    Lanes<int64_t> index;
    do {
      Lanes<uint8_t> mask;
      mask.fill(1);
      if (Restrict(reduce.guards, mask) == 0) continue;
      RunBlock(reduce.block);
      if (IsArg(reduce.op)) Coordinates(reduce.index, index);
      lanes.Add(registers_[reduce.body], mask, index);
    } while (Advance(reduce.variables, variables_));
  }
  lanes.Finish(registers_[step.out]);
}

Status StageEvaluation::Store(const Lanes<uint8_t>& mask) {
  EvaluationBuffer& buffer = buffers_[stage_.buffer];
  const BufferShape& shape = *buffer.shape;
  const LaneValues& result = registers_[stage_.result];
  Lanes<int64_t> at, values;
  Lanes<uint8_t> outside;
  at.fill(0), outside.fill(0);
  const size_t rank = shape.extents.size();
  for (size_t i = 0; i < rank; ++i) {
    if (!stage_.at.empty()) Coordinates(stage_.at[i], values);
    else
      for (int64_t l = 0; l < context_.count; ++l) values[l] = variables_[i] + (i == stage_.lane ? l : 0);
    for (int64_t l = 0; l < context_.count; ++l) {
      if (values[l] < 0 || values[l] >= shape.extents[i]) outside[l] = 1;
      else at[l] += values[l] * shape.strides[i];
    }
  }
  for (int64_t l = 0; l < context_.count; ++l) {
    if (mask[l] == 0) continue;
    const auto index = static_cast<size_t>(at[l]);
    const std::string element = "'" + shape.name + "'";
    const bool missing = result.any_missing && result.missing[l] != 0;
    if (outside[l] != 0) return Fail(ErrorCode::kCorrupt, "an element outside " + element + " is written");
    if (buffer.written[index] != 0) return Fail(ErrorCode::kCorrupt, "an element of " + element + " is written twice");
    if (missing && shape.output)
      return Fail(ErrorCode::kCorrupt, "an element of " + element + " depends on what does not exist");
    if (missing) continue;
    buffer.written[index] = 1;
    ++buffer.count_written;
    if (shape.integer) buffer.stage_whole[index] = result.whole[l];
    else buffer.stage_real[index] = result.real[l];
    if (!errors_) continue;
    const bool narrows = shape.output && MachineEpsilon(shape.dtype) > MachineEpsilon(errors_->accumulation());
    buffer.errors[index] =
        narrows ? errors_->RoundedTo(shape.dtype, result.real[l], result.error[l], false) : result.error[l];
  }
  return {};
}

}  // namespace warpwright::core
