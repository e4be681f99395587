#include "core/evaluation_demand.h"

#include <algorithm>

#include "core/evaluation_stage.h"
#include "core/term_order.h"

namespace warpwright::core {
namespace {

// A tensor that stages write.
struct Demand {
  ZeroedArray<uint8_t> wanted;
  bool all = false;
};

// Marks what the elements of one stage read of earlier ones.
class StageDemand {
 public:
  StageDemand(const Program& program, const StageProgram& stage, std::span<Demand> demands)
      : program_(program),
        stage_(stage),
        demands_(demands),
        group_(stage, program.buffers),
        reads_(stage.blocks.size()) {
    for (size_t at = stage.blocks.size(); at-- > 0;)  // inner blocks have higher numbers
      for (const Step& step : stage.blocks[at].steps) {
        if (step.op == StepOp::kRead) reads_[at] = reads_[at] || IsStage(step);
        if (step.op == StepOp::kReduce) reads_[at] = reads_[at] || reads_[stage.reduces[step.extra].block];
      }
  }

  // Elements of the box whose element of the tensor is wanted.
  std::vector<int64_t> Points() {
    const Demand& demand = demands_[stage_.buffer];
    std::vector<int64_t> points;
    const int64_t elements = stage_.elements();
    for (int64_t first = 0; first < elements; first += kLanes) {
      const int64_t count = std::min(kLanes, elements - first);
      if (demand.all) {
        for (int64_t l = 0; l < count; ++l) points.push_back(first + l);
      } else if (stage_.at.empty()) {
        const auto wanted = demand.wanted.span().subspan(static_cast<size_t>(first), static_cast<size_t>(count));
        for (int64_t l = 0; l < count; ++l)
          if (wanted[static_cast<size_t>(l)] != 0) points.push_back(first + l);
      } else {
        AddPlaced(first, count, points);
      }
    }
    return points;
  }

  void Mark(std::span<const int64_t> points) {
    if (!reads_[0]) return;
    for (; !points.empty(); points = points.subspan(static_cast<size_t>(group_.count()))) {
      group_.Set(points.first(std::min<size_t>(points.size(), kLanes)));
      Lanes<uint8_t> mask;
      mask.fill(1);
      if (group_.Restrict(stage_.domain, mask) > 0) MarkBlock(0, mask);
    }
  }

 private:
  bool IsStage(const Step& step) const { return program_.buffers[stage_.reads[step.extra].buffer].stage; }

  // The flat index of each lane; -1: outside.
  template <typename PositionOf>
  Lanes<int64_t> Flat(const BufferShape& shape, const PositionOf& position_of) {
    Lanes<int64_t> flat, values;
    flat.fill(0);
    for (size_t i = 0; i < shape.extents.size(); ++i) {
      group_.Coordinates(position_of(i), values);
      for (int64_t l = 0; l < group_.count(); ++l) {
        const bool inside = flat[l] >= 0 && values[l] >= 0 && values[l] < shape.extents[i];
        flat[l] = inside ? flat[l] + values[l] * shape.strides[i] : -1;
      }
    }
    return flat;
  }
  // A stage that says where its elements go.
  void AddPlaced(int64_t first, int64_t count, std::vector<int64_t>& points) {
    group_.SetRun(first, count);
    const Lanes<int64_t> flat = Flat(program_.buffers[stage_.buffer], [&](size_t i) { return stage_.at[i]; });
    const Demand& demand = demands_[stage_.buffer];
    for (int64_t l = 0; l < count; ++l)
      if (flat[l] >= 0 && demand.wanted[static_cast<size_t>(flat[l])] != 0) points.push_back(first + l);
  }

  void MarkBlock(uint32_t block, const Lanes<uint8_t>& mask) {
    for (const Step& step : stage_.blocks[block].steps) {
      if (step.op == StepOp::kRead && IsStage(step)) MarkRead(stage_.reads[step.extra], mask);
      if (step.op != StepOp::kReduce) continue;
      const CompiledReduce& reduce = stage_.reduces[step.extra];
      if (!reads_[reduce.block]) continue;
      TermOrder order(reduce, 0);
      for (bool more = order.Begin(group_.shared()); more; more = order.Next(group_.shared())) {
        Lanes<uint8_t> inner = mask;
        if (group_.Restrict(reduce.guards, inner) > 0) MarkBlock(reduce.block, inner);
      }
    }
  }
  void MarkRead(const CompiledRead& read, const Lanes<uint8_t>& mask) {
    Demand& demand = demands_[read.buffer];
    if (demand.all) return;
    if (std::any_of(read.at.begin(), read.at.end(), [](const auto& at) { return at.gathered; })) {
      demand.all = true;
      return;
    }
    const Lanes<int64_t> flat = Flat(program_.buffers[read.buffer], [&](size_t i) { return read.at[i].index; });
    for (int64_t l = 0; l < group_.count(); ++l)
      if (mask[l] != 0 && flat[l] >= 0) demand.wanted[static_cast<size_t>(flat[l])] = 1;
  }

  const Program& program_;
  const StageProgram& stage_;
  std::span<Demand> demands_;
  LaneGroup group_;
  std::vector<bool> reads_;  // by block: it or one inside reads a stage
};

}  // namespace

Result<std::vector<std::vector<int64_t>>> DemandedPoints(const Program& program, const OutputElements& elements,
                                                         uint64_t work_limit) {
  std::vector<Demand> demands(program.buffers.size());
  for (size_t b = 0; b < demands.size(); ++b) {
    const BufferShape& shape = program.buffers[b];
    if (!shape.stage) continue;
    demands[b].wanted = ZeroedArray<uint8_t>(static_cast<size_t>(shape.elements));
    const auto asked = elements.find(shape.name);
    if (!shape.output || asked == elements.end()) continue;
    for (const int64_t index : asked->second) {
      if (index < 0 || index >= shape.elements)
        return Fail(ErrorCode::kUsage, "'" + shape.name + "' has no element " + std::to_string(index));
      demands[b].wanted[static_cast<size_t>(index)] = 1;
    }
  }
  std::vector<std::vector<int64_t>> points(program.stages.size());
  uint64_t work = 0;
  for (size_t s = program.stages.size(); s-- > 0;) {
    const StageProgram& stage = program.stages[s];
    StageDemand demand(program, stage, demands);
    points[s] = demand.Points();
    uint64_t its = 0;
    if (__builtin_mul_overflow(static_cast<uint64_t>(points[s].size()), stage.work, &its) ||
        __builtin_add_overflow(work, its, &work) || work > work_limit)
      return Fail(ErrorCode::kLimit, "these elements take more than " + std::to_string(work_limit) + " steps");
    demand.Mark(points[s]);
  }
  return points;
}

}  // namespace warpwright::core
