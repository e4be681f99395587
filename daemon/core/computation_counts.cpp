#include "core/computation_counts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/computation_walk.h"
#include "core/point_set.h"

namespace warpwright::core {
namespace {

constexpr int64_t kMaxMarked = int64_t{1} << 26;  // elements of an argument that are marked one by one

Error TooMany(uint64_t limit) {
  return {.code = ErrorCode::kLimit, .message = "counting takes more than " + std::to_string(limit) + " points"};
}

void AddTimes(uint64_t times, const OperationCounts& once, OperationCounts& sum) {
  sum.additions += times * once.additions;
  sum.multiplications += times * once.multiplications;
  sum.divisions += times * once.divisions;
  sum.functions += times * once.functions;
  sum.comparisons += times * once.comparisons;
  sum.conversions += times * once.conversions;
  sum.integer += times * once.integer;
}

// A stage's program, with the points at which each of its blocks runs.
class StageCounting {
 public:
  StageCounting(const StageProgram& stage, uint64_t& budget)
      : stage_(stage), budget_(budget), points_(stage.blocks.size()) {
    points_[0].terms = &stage.terms;
    points_[0].guards = stage.domain;
    for (size_t v = 0; v < stage.extents.size(); ++v)
      points_[0].box.emplace_back(static_cast<VariableId>(v), stage.extents[v]);
    for (size_t at = 0; at < stage.blocks.size(); ++at)
      for (const auto& step : stage.blocks[at].steps)
        if (step.op == StepOp::kReduce) Enter(at, stage.reduces[step.extra]);
    for (const auto& preset : stage.presets) presets_[preset.out] = &preset;
    for (const auto& block : stage.blocks)
      for (const auto& step : block.steps)
        if (step.op == StepOp::kReciprocal) reciprocals_.insert(step.out);
  }
  const PointSet& points(size_t block) const { return points_[block]; }
  uint64_t times(size_t block) const { return times_[block]; }  // that it runs; after Run()

  bool Run(StageCounts& counts) {
    for (size_t at = 0; at < stage_.blocks.size(); ++at) {
      const auto times = points_[at].Count(budget_);
      if (!times) return false;
      times_.push_back(*times);
      if (at == 0) counts.elements = *times;
      for (const auto& step : stage_.blocks[at].steps) {
        if (step.op != StepOp::kReduce) {
          AddTimes(*times, OfStep(step), counts.operations);
          continue;
        }
        const CompiledReduce& reduce = stage_.reduces[step.extra];
        const auto terms = points_[reduce.block].Count(budget_);
        if (!terms) return false;
        counts.terms += *terms;
        AddTimes(*terms, OfTerm(reduce), counts.operations);
      }
    }
    return true;
  }

 private:
  void Enter(size_t parent, const CompiledReduce& reduce) {
    PointSet& inner = points_[reduce.block];
    inner = points_[parent];
    inner.box.insert(inner.box.end(), reduce.variables.begin(), reduce.variables.end());
    inner.guards.insert(inner.guards.end(), reduce.guards.begin(), reduce.guards.end());
  }
  static OperationCounts OfTerm(const CompiledReduce& reduce) {
    if (reduce.op == ReduceOp::kSum)
      return reduce.integer ? OperationCounts{.integer = 1} : OperationCounts{.additions = 1};
    if (reduce.op == ReduceOp::kProduct)
      return reduce.integer ? OperationCounts{.integer = 1} : OperationCounts{.multiplications = 1};
    return {.comparisons = 1};
  }
  // Factors of one are free, those that are divided by were counted.
  uint64_t Multiplications(const Step& step) const {
    uint64_t factors = 0, divided = 0;
    for (uint32_t i = step.first; i < step.first + step.count; ++i) {
      const uint32_t arg = stage_.args[i];
      const auto preset = presets_.find(arg);
      if (preset != presets_.end() && preset->second->scalar < 0 && std::fabs(preset->second->real) == 1) continue;
      ++(reciprocals_.contains(arg) ? divided : factors);
    }
    return factors > 0 ? factors - 1 : std::max<uint64_t>(divided, 1) - 1;
  }
  OperationCounts OfStep(const Step& step) const {
    const uint64_t pairs = step.count > 0 ? step.count - 1 : 0;
    switch (step.op) {
      case StepOp::kSum: return step.integer ? OperationCounts{.integer = pairs} : OperationCounts{.additions = pairs};
      case StepOp::kProduct:
        return step.integer ? OperationCounts{.integer = pairs}
                            : OperationCounts{.multiplications = Multiplications(step)};
      case StepOp::kMax:
      case StepOp::kMin: return {.comparisons = pairs};
      case StepOp::kReciprocal: return {.divisions = 1};
      case StepOp::kRealCall:
      case StepOp::kRealCall2: return OfFunction(static_cast<Function>(step.detail));
      case StepOp::kIntegerCall:
      case StepOp::kAnd:
      case StepOp::kOr:
      case StepOp::kNot: return {.integer = 1};
      case StepOp::kCompare:
      case StepOp::kSelect: return {.comparisons = 1};
      case StepOp::kIntegerToReal:  // a number that is known is converted once
        return {.conversions = presets_.contains(stage_.args[step.first]) ? uint64_t{0} : uint64_t{1}};
      case StepOp::kRound:
      case StepOp::kRealToInteger:
      case StepOp::kNarrow:
      case StepOp::kToBoolean: return {.conversions = 1};
      case StepOp::kRead:
      case StepOp::kReduce:
      case StepOp::kPosition: break;
    }
    return {};
  }
  static OperationCounts OfFunction(Function function) {
    if (function == Function::kAbs || function == Function::kCopysign) return {};
    if (function >= Function::kFloor && function <= Function::kSign) return {.conversions = 1};
    return {.functions = 1};
  }

  const StageProgram& stage_;
  uint64_t& budget_;
  std::vector<PointSet> points_;  // by block
  std::vector<uint64_t> times_;
  std::map<uint32_t, const StageProgram::Preset*> presets_;
  std::set<uint32_t> reciprocals_;
};

// The elements of one argument that some reads touch.
class ReadSet {
 public:
  explicit ReadSet(const BufferShape& shape) : shape_(shape) {}

  bool Add(const StageProgram& stage, const CompiledRead& read, const PointSet& points, uint64_t& budget) {
    Coordinates coordinates{.positions = {}, .extents = shape_.extents, .strides = shape_.strides};
    bool gathered = false;
    for (const auto& at : read.at) {
      gathered = gathered || at.gathered;
      coordinates.positions.push_back(at.gathered ? std::nullopt : std::optional(stage.positions[at.index]));
    }
    auto sets = OffsetsOf(points, coordinates, budget);
    if (!sets) {  // the five points of a stencil, of the nine of a square: at most those of the square
      sets = OffsetsApart(points, coordinates, budget);
      exact_ = false;
    }
    if (!sets) return false;
    const auto times = gathered ? points.Count(budget) : std::optional(static_cast<uint64_t>(shape_.elements));
    if (!times) return false;
    exact_ = exact_ && !gathered;
    at_most_ += *times;
    std::sort(sets->begin(), sets->end(), [](const auto& a, const auto& b) { return a.dimensions < b.dimensions; });
    if (std::find(all_.begin(), all_.end(), *sets) == all_.end()) all_.push_back(std::move(*sets));
    return true;
  }

  uint64_t Count() {
    uint64_t count = 0;
    if (all_.size() == 1) {
      count = SizeOfSum(all_[0]);
    } else if (shape_.elements <= kMaxMarked) {
      std::vector<bool> marked(static_cast<size_t>(shape_.elements));
      for (const auto& sets : all_) Mark(sets, 0, 0, marked);
      count = static_cast<uint64_t>(std::count(marked.begin(), marked.end(), true));
    } else {  // at most the sum
      exact_ = false;
      for (const auto& sets : all_) count += SizeOfSum(sets);
    }
    return std::min({count, at_most_, static_cast<uint64_t>(shape_.elements)});
  }
  bool exact() const { return exact_; }

 private:
  // Coordinates within bounds: different ones are different elements.
  static uint64_t SizeOfSum(const std::vector<OffsetSet>& sets) {
    uint64_t product = 1;
    for (const auto& set : sets) product *= set.size();
    return product;
  }
  static void Mark(const std::vector<OffsetSet>& sets, size_t depth, int64_t element, std::vector<bool>& marked) {
    if (depth == sets.size()) {
      marked[static_cast<size_t>(element)] = true;
      return;
    }
    for (uint64_t i = 0; i < sets[depth].size(); ++i) Mark(sets, depth + 1, element + sets[depth][i], marked);
  }

  const BufferShape& shape_;
  std::vector<std::vector<OffsetSet>> all_;
  uint64_t at_most_ = 0;
  bool exact_ = true;
};

}  // namespace

Result<ComputationCounts> CountAt(const Computation& computation, const SizeValues& sizes, uint64_t limit) {
  WW_ASSIGN(const Program program, CompileProgram(computation, sizes));
  ComputationCounts counts;
  uint64_t budget = limit;
  std::map<uint32_t, ReadSet> reads;
  std::map<std::string, TensorTraffic> traffic;
  for (size_t s = 0; s < program.stages.size(); ++s) {
    const StageProgram& stage = program.stages[s];
    StageCounting counting(stage, budget);
    StageCounts of_stage{.stage = stage.name, .index = s};
    if (!counting.Run(of_stage)) return Fail(TooMany(limit));
    for (size_t at = 0; at < stage.blocks.size(); ++at) {
      for (const auto& step : stage.blocks[at].steps) {
        const uint32_t buffer = step.op == StepOp::kRead ? stage.reads[step.extra].buffer : 0;
        if (step.op != StepOp::kRead || program.buffers[buffer].stage) continue;
        ReadSet& set = reads.try_emplace(buffer, program.buffers[buffer]).first->second;
        if (!set.Add(stage, stage.reads[step.extra], counting.points(at), budget)) return Fail(TooMany(limit));
        traffic[program.buffers[buffer].name].uses += counting.times(at);
      }
    }
    if (program.buffers[stage.buffer].output) traffic[stage.name].written += of_stage.elements;
    counts.terms += of_stage.terms;
    AddTimes(1, of_stage.operations, counts.operations);
    counts.stages.push_back(std::move(of_stage));
  }
  for (auto& [buffer, set] : reads) {
    TensorTraffic& tensor = traffic[program.buffers[buffer].name];
    tensor.read = set.Count();
    tensor.exact = set.exact();
  }
  for (const auto& argument : computation.tensors) {
    const auto found = traffic.find(argument.name);
    if (found == traffic.end()) continue;
    TensorTraffic& tensor = found->second;
    tensor.tensor = argument.name;
    tensor.read_bytes = tensor.read * SizeOf(argument.dtype);
    tensor.written_bytes = tensor.written * SizeOf(argument.dtype);
    counts.read_bytes += tensor.read_bytes;
    counts.written_bytes += tensor.written_bytes;
    counts.exact = counts.exact && tensor.exact;
    counts.tensors.push_back(tensor);
  }
  return counts;
}

}  // namespace warpwright::core
