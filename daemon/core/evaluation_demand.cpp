#include "core/evaluation_demand.h"

#include <algorithm>
#include <unordered_set>

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
      : program_(program), stage_(stage), demands_(demands), group_(stage, program.buffers) {}

  // Elements of the box whose element of the tensor is wanted.
  std::vector<int64_t> Points() {
    const Demand& demand = demands_[stage_.buffer];
    std::vector<int64_t> points;
    const int64_t elements = stage_.elements();
    for (int64_t first = 0; first < elements; first += kLanes) {
      const int64_t count = std::min(kLanes, elements - first);
      if (demand.all) {
        for (int64_t l = 0; l < count; ++l) points.push_back(first + l);
      } else if (FillsTensor()) {
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
    if (points.empty()) return;  // nobody wants it: a gather takes nothing then
    for (uint32_t read = 0; read < stage_.reads.size(); ++read)
      if (program_.buffers[stage_.reads[read].buffer].stage) MarkRead(read, points);
  }

 private:
  // The stage's elements are the tensor's, in its order. A part at its beginning has no places of its own either.
  bool FillsTensor() const {
    const auto& extents = program_.buffers[stage_.buffer].extents;
    return stage_.at.empty() && std::equal(extents.begin(), extents.end(), stage_.extents.begin());
  }

  // Which blocks have the read inside.
  std::vector<bool> BlocksAround(uint32_t read) const {
    std::vector<bool> around(stage_.blocks.size());
    for (size_t at = stage_.blocks.size(); at-- > 0;)  // inner blocks have higher numbers
      for (const Step& step : stage_.blocks[at].steps) {
        if (step.op == StepOp::kRead) around[at] = around[at] || step.extra == read;
        if (step.op == StepOp::kReduce) around[at] = around[at] || around[stage_.reduces[step.extra].block];
      }
    return around;
  }

  void AddVariables(const Position& position, std::vector<bool>& variables) const {
    for (uint32_t t = position.first; t < position.shared; ++t) variables[stage_.terms[t].variable] = true;
  }
  // By variable of the stage: whether what the read marks depends on it.
  std::vector<bool> VariablesThatTell(uint32_t read, const std::vector<bool>& around) const {
    std::vector<bool> variables(stage_.extents.size());
    for (const auto& at : stage_.reads[read].at) AddVariables(stage_.positions[at.index], variables);
    for (const CompiledGuard& guard : stage_.domain) AddVariables(guard.value, variables);
    for (const CompiledReduce& reduce : stage_.reduces)
      if (around[reduce.block])
        for (const CompiledGuard& guard : reduce.guards) AddVariables(guard.value, variables);
    return variables;
  }
  // One of the points for each value of these variables: the rows of a product, of whose elements each reads a row.
  std::vector<int64_t> Distinct(std::span<const int64_t> points, const std::vector<bool>& variables) const {
    std::unordered_set<int64_t> seen;
    std::vector<int64_t> distinct;
    for (const int64_t point : points) {
      int64_t key = 0, rest = point, stride = 1;
      for (size_t v = stage_.extents.size(); v-- > 0;) {
        if (variables[v]) key += rest % stage_.extents[v] * stride;
        rest /= stage_.extents[v];
        stride *= stage_.extents[v];
      }
      if (seen.insert(key).second) distinct.push_back(point);
    }
    return distinct;
  }

  // The flat index of each lane; -1: outside. `coordinates`: writes those of a dimension.
  template <typename Coordinates>
  Lanes<int64_t> Flat(const BufferShape& shape, const Coordinates& coordinates) {
    Lanes<int64_t> flat, values;
    flat.fill(0);
    for (size_t i = 0; i < shape.extents.size(); ++i) {
      coordinates(i, values);
      for (int64_t l = 0; l < group_.count(); ++l) {
        const bool inside = flat[l] >= 0 && values[l] >= 0 && values[l] < shape.extents[i];
        flat[l] = inside ? flat[l] + values[l] * shape.strides[i] : -1;
      }
    }
    return flat;
  }
  // A stage of a part of the tensor.
  void AddPlaced(int64_t first, int64_t count, std::vector<int64_t>& points) {
    group_.SetRun(first, count);
    const auto coordinates = [&](size_t i, Lanes<int64_t>& values) {
      if (stage_.at.empty()) values = group_.variable(i);
      else group_.Coordinates(stage_.at[i], values);
    };
    const Lanes<int64_t> flat = Flat(program_.buffers[stage_.buffer], coordinates);
    const Demand& demand = demands_[stage_.buffer];
    for (int64_t l = 0; l < count; ++l)
      if (flat[l] >= 0 && demand.wanted[static_cast<size_t>(flat[l])] != 0) points.push_back(first + l);
  }

  void MarkRead(uint32_t read, std::span<const int64_t> points) {
    const auto& at = stage_.reads[read].at;
    Demand& demand = demands_[stage_.reads[read].buffer];
    demand.all = demand.all || std::any_of(at.begin(), at.end(), [](const auto& a) { return a.gathered; });
    if (demand.all) return;
    const std::vector<bool> around = BlocksAround(read), variables = VariablesThatTell(read, around);
    std::vector<int64_t> distinct;
    if (std::find(variables.begin(), variables.end(), false) != variables.end())
      points = distinct = Distinct(points, variables);
    for (; !points.empty(); points = points.subspan(static_cast<size_t>(group_.count()))) {
      group_.Set(points.first(std::min<size_t>(points.size(), kLanes)));
      Lanes<uint8_t> mask;
      mask.fill(1);
      if (group_.Restrict(stage_.domain, mask) > 0) MarkBlock(0, read, around, mask);
    }
  }
  void MarkBlock(uint32_t block, uint32_t read, const std::vector<bool>& around, const Lanes<uint8_t>& mask) {
    for (const Step& step : stage_.blocks[block].steps) {
      if (step.op == StepOp::kRead && step.extra == read) MarkLanes(stage_.reads[read], mask);
      if (step.op != StepOp::kReduce) continue;
      const CompiledReduce& reduce = stage_.reduces[step.extra];
      if (!around[reduce.block]) continue;
      TermOrder order(reduce, 0);
      for (bool more = order.Begin(group_.shared()); more; more = order.Next(group_.shared())) {
        Lanes<uint8_t> inner = mask;
        if (group_.Restrict(reduce.guards, inner) > 0) MarkBlock(reduce.block, read, around, inner);
      }
    }
  }
  void MarkLanes(const CompiledRead& read, const Lanes<uint8_t>& mask) {
    const auto coordinates = [&](size_t i, Lanes<int64_t>& values) { group_.Coordinates(read.at[i].index, values); };
    const Lanes<int64_t> flat = Flat(program_.buffers[read.buffer], coordinates);
    for (int64_t l = 0; l < group_.count(); ++l)
      if (mask[l] != 0 && flat[l] >= 0) demands_[read.buffer].wanted[static_cast<size_t>(flat[l])] = 1;
  }

  const Program& program_;
  const StageProgram& stage_;
  std::span<Demand> demands_;
  LaneGroup group_;
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
