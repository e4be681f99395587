#include "core/evaluation_stage.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "core/evaluation_reduce.h"
#include "core/term_order.h"

namespace warpwright::core {

StageEvaluation::StageEvaluation(const StageProgram& stage, std::span<const BufferShape> shapes,
                                 std::span<EvaluationBuffer> buffers, std::span<const double> scalars,
                                 const EvaluateOptions& options)
    : stage_(stage), buffers_(buffers), options_(options), registers_(stage.registers), group_(stage, shapes) {
  if (options.errors) errors_.emplace(*options.errors);
  context_ = {.registers = registers_, .stage = &stage, .count = 1, .rounds = options.rounds};
  if (options.trial) context_.rounding = &rounding_;
  dense_ = stage.at.empty() && stage.extents == shapes[stage.buffer].extents && !NarrowsErrors();
  for (const auto& preset : stage.presets) {
    LaneValues& out = registers_[preset.out];
    double real = preset.scalar >= 0 ? scalars[static_cast<size_t>(preset.scalar)] : preset.real;
    if (options.trial) real = static_cast<float>(real);
    out.real.fill(real);
    out.whole.fill(preset.whole);
    out.exact = !errors_ || preset.exact;
    if (!out.exact) out.error.fill(errors_->OfLiteral(real));
  }
}

Status StageEvaluation::Run(int64_t first, int64_t end) {
  for (; first < end; first += kLanes) {
    group_.SetRun(first, std::min(kLanes, end - first));
    WW_TRY(RunGroup(first, Group::kRun));
  }
  return {};
}
Status StageEvaluation::Run(std::span<const int64_t> points) {
  while (!points.empty()) {
    const auto group = points.first(std::min<size_t>(points.size(), kLanes));
    group_.Set(group);
    WW_TRY(RunGroup(group.front(), Group::kPoints));
    points = points.subspan(group.size());
  }
  return {};
}

Status StageEvaluation::RunGroup(int64_t first, Group group) {
  context_.count = group_.count();
  // Of the elements alone, so that threads do not change a result.
  if (options_.trial) rounding_ = LaneRounding(*options_.trial, static_cast<uint64_t>(first));
  Lanes<uint8_t> mask;
  mask.fill(1);
  const int64_t left = group_.Restrict(stage_.domain, mask);
  if (left == 0) return {};
  RunBlock(0);
  const bool whole = left == context_.count && !registers_[stage_.result].any_missing;
  return group == Group::kRun && whole && dense_ ? StoreRun(first) : Store(mask);
}

void StageEvaluation::RunBlock(uint32_t block) {
  for (const auto& step : stage_.blocks[block].steps) {
    switch (step.op) {
      case StepOp::kRead: RunRead(step); break;
      case StepOp::kReduce: RunReduce(step); break;
      case StepOp::kPosition: group_.Coordinates(step.extra, registers_[step.out].whole); break;
      default:
        RunArithmetic(step, context_);
        if (errors_) RunErrors(step, context_, *errors_);
    }
  }
}

void StageEvaluation::RunRead(const Step& step) {
  const CompiledRead& read = stage_.reads[step.extra];
  const EvaluationBuffer& buffer = buffers_[read.buffer];
  LaneValues& out = registers_[step.out];
  out.any_missing = false;
  if (!ReadDirect(step.extra, buffer, out)) ReadScattered(read, buffer, out);
}

bool StageEvaluation::ReadDirect(uint32_t read, const EvaluationBuffer& buffer, LaneValues& out) {
  const LaneGroup::Place place = group_.PlaceOf(read);
  if (place.lanes == nullptr) return false;
  const Lanes<int64_t>& lanes = *place.lanes;
  const int64_t count = context_.count, first = lanes[0] + place.offset;
  const auto copy = [&](const auto& from, auto& to) {
    if (place.uniform) std::fill_n(to.begin(), count, from[static_cast<size_t>(first)]);
    else if (place.contiguous) std::copy_n(from.begin() + first, count, to.begin());
    else
      for (int64_t l = 0; l < count; ++l) to[l] = from[static_cast<size_t>(lanes[l] + place.offset)];
  };
  if (!buffer.complete()) {
    copy(buffer.written.span(), out.missing);
    for (int64_t l = 0; l < count; ++l) {
      out.missing[l] ^= 1;
      out.any_missing = out.any_missing || out.missing[l] != 0;
    }
  }
  if (buffer.shape->integer) copy(buffer.whole, out.whole);
  else copy(buffer.real, out.real);
  out.exact = !errors_ || buffer.errors.empty();
  if (!out.exact) copy(buffer.errors, out.error);
  for (int64_t l = 0; out.any_missing && l < count; ++l)
    if (out.missing[l] != 0) out.real[l] = 0, out.whole[l] = 0, out.error[l] = 0;
  return true;
}

void StageEvaluation::ReadScattered(const CompiledRead& read, const EvaluationBuffer& buffer, LaneValues& out) {
  Lanes<int64_t> at;
  Lanes<uint8_t> missing;
  Lanes<double> error;
  at.fill(0), missing.fill(0), error.fill(0);
  out.exact = !errors_ || buffer.errors.empty();
  for (size_t i = 0; i < read.at.size(); ++i) {
    const auto& coordinate = read.at[i];
    Lanes<int64_t> values;
    if (coordinate.gathered) {
      const LaneValues& from = registers_[coordinate.index];
      values = from.whole;
      for (int64_t l = 0; l < context_.count; ++l) {
        if (from.any_missing) missing[l] |= from.missing[l];
        if (from.Errors()[l] > 0) error[l] = std::numeric_limits<double>::infinity();
      }
      out.exact = out.exact && from.exact;
    } else {
      group_.Coordinates(coordinate.index, values);
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
    if (!out.exact) out.error[l] = error[l] + (buffer.errors.empty() ? 0 : buffer.errors[index]);
  }
  out.missing = missing;
}

void StageEvaluation::RunReduce(const Step& step) {
  const CompiledReduce& reduce = stage_.reduces[step.extra];
  LaneReduction lanes(reduce, context_.count, errors_ ? &*errors_ : nullptr, context_.rounding);
  TermOrder order(reduce, options_.trial ? options_.trial->order : 0);
  Lanes<int64_t> index;
  for (bool more = order.Begin(group_.shared()); more; more = order.Next(group_.shared())) {
    Lanes<uint8_t> mask;
    bool all = true;
    if (!reduce.guards.empty()) {
      mask.fill(1);
      const int64_t left = group_.Restrict(reduce.guards, mask);
      if (left == 0) continue;
      all = left == context_.count;
    }
    RunBlock(reduce.block);
    if (IsArg(reduce.op)) group_.Coordinates(reduce.position, index);
    lanes.Add(registers_[reduce.body], all ? nullptr : &mask, index);
  }
  lanes.Finish(registers_[step.out]);
}

// Whether nothing was written there yet; from now on something is.
bool StageEvaluation::Claim(const EvaluationBuffer& buffer, size_t index, bool missing) const {
  uint8_t& written = buffer.written[index];
  if (missing) return written == 0;
  // Where elements go to places of their own choice, two threads may choose the same; then one of them sees it.
  if (!stage_.at.empty()) return std::atomic_ref(written).exchange(1, std::memory_order_relaxed) == 0;
  return std::exchange(written, uint8_t{1}) == 0;
}

bool StageEvaluation::NarrowsErrors() const {
  const BufferShape& shape = *buffers_[stage_.buffer].shape;
  return errors_ && options_.rounds_outputs && shape.output &&
         MachineEpsilon(shape.dtype) > MachineEpsilon(errors_->accumulation());
}

Status StageEvaluation::StoreRun(int64_t first) {
  EvaluationBuffer& buffer = buffers_[stage_.buffer];
  const LaneValues& result = registers_[stage_.result];
  const auto written = buffer.written.span().subspan(static_cast<size_t>(first), static_cast<size_t>(context_.count));
  if (std::any_of(written.begin(), written.end(), [](uint8_t one) { return one != 0; }))
    return Fail(ErrorCode::kCorrupt, "an element of '" + buffer.shape->name + "' is written twice");
  std::fill(written.begin(), written.end(), 1);
  const auto put = [&](const auto& from, auto& to) { std::copy_n(from.begin(), context_.count, to.begin() + first); };
  if (buffer.shape->integer) put(result.whole, buffer.stage_whole);
  else put(result.real, buffer.stage_real);
  if (errors_) put(result.Errors(), buffer.errors);
  count_stored_ += context_.count;
  return {};
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
    if (!stage_.at.empty()) group_.Coordinates(stage_.at[i], values);
    else values = group_.variable(i);
    for (int64_t l = 0; l < context_.count; ++l) {
      if (values[l] < 0 || values[l] >= shape.extents[i]) outside[l] = 1;
      else at[l] += values[l] * shape.strides[i];
    }
  }
  const auto corrupt = [&](const char* before, const char* after) {
    return Fail(ErrorCode::kCorrupt, before + ("'" + shape.name + "'") + after);
  };
  for (int64_t l = 0; l < context_.count; ++l) {
    if (mask[l] == 0) continue;
    const auto index = static_cast<size_t>(at[l]);
    const bool missing = result.any_missing && result.missing[l] != 0;
    if (outside[l] != 0) return corrupt("an element outside ", " is written");
    if (!Claim(buffer, index, missing)) return corrupt("an element of ", " is written twice");
    if (missing && shape.output) return corrupt("an element of ", " depends on what does not exist");
    if (missing) continue;
    ++count_stored_;
    if (shape.integer) buffer.stage_whole[index] = result.whole[l];
    else buffer.stage_real[index] = result.real[l];
    if (!errors_) continue;
    const double error = result.Errors()[l];
    buffer.errors[index] = NarrowsErrors() ? errors_->RoundedTo(shape.dtype, result.real[l], error, false) : error;
  }
  return {};
}

}  // namespace warpwright::core
