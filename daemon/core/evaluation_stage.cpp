#include "core/evaluation_stage.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "base/parallel.h"
#include "core/computation_walk.h"
#include "core/term_order.h"

namespace warpwright::core {
namespace {

constexpr int64_t kTermsOfPart = kLongestChain;
constexpr uint64_t kStreamOfElement = 0x9e3779b97f4a7c15;  // odd: elements' streams are far apart

}  // namespace

StageEvaluation::StageEvaluation(const StageProgram& stage, std::span<const BufferShape> shapes,
                                 std::span<EvaluationBuffer> buffers, std::span<const double> scalars,
                                 const EvaluateOptions& options)
    : stage_(stage),
      shapes_(shapes),
      buffers_(buffers),
      scalars_(scalars),
      options_(options),
      registers_(stage.registers),
      group_(stage, shapes) {
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
  for (; first < end; first += group_elements_) {
    group_.SetRun(first, std::min(group_elements_, end - first));
    WW_TRY(RunGroup(first, Group::kRun));
  }
  return {};
}
Status StageEvaluation::Run(std::span<const int64_t> points) {
  while (!points.empty()) {
    const auto group = points.first(std::min(points.size(), static_cast<size_t>(group_elements_)));
    group_.Set(group);
    WW_TRY(RunGroup(group.front(), Group::kPoints));
    points = points.subspan(group.size());
  }
  return {};
}

Status StageEvaluation::RunGroup(int64_t first, Group group) {
  context_.count = group_.count();
  kind_ = group, first_ = first;
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
  if (const TermProgram* program = stage_.TermsInLanes(step.extra, kind_ == Group::kPoints))
    return RunTermReduce(step, *program);
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

void StageEvaluation::RunTermReduce(const Step& step, const TermProgram& program) {
  LaneValues& out = registers_[step.out];
  out.exact = true;
  out.any_missing = false;
  for (int64_t lane = 0; lane < context_.count; ++lane) ReduceTerms(step.extra, program, lane).FinishLane(out, lane);
}

// Parts of the terms, which do not depend on the number of cores, and their sum.
LaneReduction StageEvaluation::ReduceTerms(uint32_t reduce, const TermProgram& program, int64_t lane) {
  const bool in_order = LaneReduction::IsInOrder(program.reduce, context_.rounding);
  const bool whole = in_order && program.reduce.op == ReduceOp::kProduct;
  const int64_t part_terms = whole ? program.terms : kTermsOfPart;
  const auto count = static_cast<size_t>((program.terms + part_terms - 1) / part_terms);
  const ErrorRules* rules = errors_ ? &*errors_ : nullptr;
  const auto begin = [&](StageEvaluation& terms) { terms.SetElement(program, *this, lane); };
  const auto run = [&](StageEvaluation& terms, size_t part) {
    if (options_.trial)
      terms.rounding_ = LaneRounding(*options_.trial, static_cast<uint64_t>(first_ + lane) * kStreamOfElement + part);
    LaneReduction sum(program.reduce, in_order ? 1 : kLanes, rules, options_.trial ? &terms.rounding_ : nullptr);
    const auto first = static_cast<int64_t>(part) * part_terms;
    terms.AddTerms(program, first, std::min(program.terms, first + part_terms), sum);
    return sum;
  };
  const auto evaluation = [&] {
    return std::make_unique<StageEvaluation>(program.stage, shapes_, buffers_, scalars_, options_);
  };
  std::vector<std::optional<LaneReduction>> parts(count);
  if (reduces_on_all_cores_ && count > 1) {
    base::ParallelFor(
        count,
        [&](size_t first, size_t end) {
          const auto terms = evaluation();
          begin(*terms);
          for (size_t part = first; part < end; ++part) parts[part].emplace(run(*terms, part));
        },
        1);
  } else {
    term_evaluations_.resize(stage_.reduces.size());
    auto& terms = term_evaluations_[reduce];
    if (terms == nullptr) terms = evaluation();
    begin(*terms);
    for (size_t part = 0; part < count; ++part) parts[part].emplace(run(*terms, part));
  }
  LaneReduction& sum = *parts.front();
  for (size_t part = 1; part < count; ++part) sum.Merge(*parts[part]);
  if (!in_order) sum.Fold();
  return sum;
}

// Its variables are the same in all lanes.
void StageEvaluation::SetElement(const TermProgram& program, const StageEvaluation& around, int64_t lane) {
  for (const uint32_t import : program.imports) {
    const LaneValues& from = around.registers_[import];
    LaneValues& to = registers_[import];
    to.real.fill(from.real[lane]);
    to.whole.fill(from.whole[lane]);
    to.exact = from.exact;
    if (!from.exact) to.error.fill(from.error[lane]);
    to.any_missing = from.any_missing && from.missing[lane] != 0;
    if (to.any_missing) to.missing.fill(1);
  }
  for (size_t v = 0; v < around.stage_.extents.size(); ++v) group_.shared()[v] = around.group_.variable(v)[lane];
}

void StageEvaluation::AddTerms(const TermProgram& program, int64_t first, int64_t end, LaneReduction& sum) {
  const CompiledReduce& reduce = program.reduce;
  const bool in_order = LaneReduction::IsInOrder(reduce, context_.rounding);
  const bool drawn = in_order && !IsArg(reduce.op) && options_.trial && options_.trial->order != 0;
  SpreadTerms spread(program.terms, drawn ? options_.trial->order : 0);
  Lanes<int64_t> index;
  for (; first < end; first += kLanes) {
    int64_t count = std::min(kLanes, end - first);
    if (drawn) group_.Set(spread.Group(first / kLanes)), count = group_.count();
    else group_.SetRun(first, count);
    context_.count = count;
    Lanes<uint8_t> mask;
    mask.fill(0);
    std::fill_n(mask.begin(), count, 1);
    const int64_t left = group_.Restrict(reduce.guards, mask);
    if (left == 0) continue;
    RunBlock(reduce.block);
    if (IsArg(reduce.op)) group_.Coordinates(reduce.position, index);
    const LaneValues& terms = registers_[reduce.body];
    if (in_order) sum.AddInOrder(terms, left == count ? nullptr : &mask, index, count);
    else sum.Add(terms, left == kLanes ? nullptr : &mask, index);
  }
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
