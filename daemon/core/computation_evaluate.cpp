#include "core/computation_evaluate.h"

#include <algorithm>
#include <mutex>

#include "base/parallel.h"
#include "core/evaluation_demand.h"
#include "core/evaluation_stage.h"

namespace warpwright::core {
namespace {

constexpr uint64_t kWorkOfThread = 1'000'000;  // steps that justify another one
// Where lanes hold terms: elements of a group leave something to do for all cores, or else the terms do.
constexpr size_t kGroupsOfTerms = 256, kFewElements = 16;

bool IsRead(const Program& program, size_t buffer) {
  for (const auto& stage : program.stages)
    for (const auto& read : stage.reads)
      if (read.buffer == buffer) return true;
  return false;
}

Result<EvaluationBuffer> BufferFor(const BufferShape& shape, bool read, const ArgumentValues& arguments, bool errors) {
  EvaluationBuffer buffer{.shape = &shape};
  const auto elements = static_cast<size_t>(shape.elements);
  if (shape.stage) {
    if (shape.integer) buffer.stage_whole = base::UninitializedVector<int64_t>(elements);
    else buffer.stage_real = base::UninitializedVector<double>(elements);
    buffer.real = buffer.stage_real;
    buffer.whole = buffer.stage_whole;
    buffer.written = ZeroedArray<uint8_t>(elements);
    if (errors) buffer.errors = base::UninitializedVector<double>(elements);
    return buffer;
  }
  if (!read) return buffer;
  const auto found = arguments.tensors.find(shape.name);
  if (found == arguments.tensors.end()) return Fail(ErrorCode::kUsage, "no content for '" + shape.name + "'");
  buffer.real = found->second.real;
  buffer.whole = found->second.integers;
  if ((shape.integer ? buffer.whole.size() : buffer.real.size()) != elements)
    return Fail(ErrorCode::kUsage,
                "the content of '" + shape.name + "' has another size than " + std::to_string(elements));
  return buffer;
}

// Of all elements. Where nothing is written, it says 0.
TensorResult ResultOf(EvaluationBuffer& buffer) {
  const auto written = buffer.written.span();
  const bool whole = buffer.complete();
  const auto take = [&]<typename T>(base::UninitializedVector<T>& values) {
    if (!whole && !values.empty())
      base::ParallelFor(values.size(), [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i)
          if (written[i] == 0) values[i] = 0;
      });
    return std::move(values);
  };
  return {.name = buffer.shape->name,
          .dtype = buffer.shape->dtype,
          .shape = buffer.shape->extents,
          .real = take(buffer.stage_real),
          .integers = take(buffer.stage_whole),
          .written = {written.begin(), written.end()},
          .whole = whole,
          .errors = take(buffer.errors)};
}

// Of these elements.
TensorResult ResultAt(const EvaluationBuffer& buffer, const std::vector<int64_t>& indices) {
  TensorResult result{.name = buffer.shape->name, .dtype = buffer.shape->dtype, .shape = buffer.shape->extents};
  for (const int64_t index : indices) result.written.push_back(buffer.written[static_cast<size_t>(index)]);
  const auto pick = [&]<typename T>(const base::UninitializedVector<T>& from) {
    base::UninitializedVector<T> some;
    for (size_t i = 0; i < indices.size() && !from.empty(); ++i)
      some.push_back(result.written[i] != 0 ? from[static_cast<size_t>(indices[i])] : T{});
    return some;
  };
  result.real = pick(buffer.stage_real);
  result.integers = pick(buffer.stage_whole);
  result.errors = pick(buffer.errors);
  return result;
}

// All elements of a stage, or these, on all cores.
Status RunStage(const Program& program, const StageProgram& stage, std::span<EvaluationBuffer> buffers,
                std::span<const double> scalars, const EvaluateOptions& options, const std::vector<int64_t>* points) {
  const auto elements = points != nullptr ? points->size() : static_cast<size_t>(stage.elements());
  bool terms_in_lanes = false;
  for (size_t r = 0; r < stage.reduces.size(); ++r)
    terms_in_lanes = terms_in_lanes || stage.TermsInLanes(r, points != nullptr) != nullptr;
  const size_t group =
      terms_in_lanes ? std::clamp<size_t>(elements / kGroupsOfTerms, 1, kLanes) : static_cast<size_t>(kLanes);
  std::mutex mutex;
  int64_t stored = 0;
  Status status;
  const auto run = [&](size_t begin, size_t end) {
    begin *= group, end = std::min(end * group, elements);
    StageEvaluation evaluation(stage, program.buffers, buffers, scalars, options);
    evaluation.SetGroup(static_cast<int64_t>(group));
    evaluation.SetReducesOnAllCores(terms_in_lanes && elements < kFewElements);
    auto part = points != nullptr ? evaluation.Run(std::span(*points).subspan(begin, end - begin))
                                  : evaluation.Run(static_cast<int64_t>(begin), static_cast<int64_t>(end));
    const std::lock_guard lock(mutex);
    stored += evaluation.count_stored();
    if (!part && status) status = std::move(part);
  };
  if (terms_in_lanes && elements < kFewElements) {
    run(0, (elements + group - 1) / group);
  } else {
    const uint64_t group_work = std::min(stage.work, kWorkOfThread) * group;
    base::ParallelFor((elements + group - 1) / group, run, std::max<size_t>(1, kWorkOfThread / group_work));
  }
  buffers[stage.buffer].count_written += stored;
  return status;
}

}  // namespace

Result<ComputationEvaluator> ComputationEvaluator::Compile(const Computation& computation, const SizeValues& sizes,
                                                           const EvaluateOptions& options) {
  WW_ASSIGN(Program program, CompileProgram(computation, sizes));
  if (program.work > options.work_limit)
    return Fail(ErrorCode::kLimit, "an evaluation takes more than " + std::to_string(options.work_limit) + " steps");
  if (program.elements > options.element_limit)
    return Fail(ErrorCode::kLimit, "the stages have more than " + std::to_string(options.element_limit) + " elements");
  ComputationEvaluator evaluator;
  evaluator.computation_ = &computation;
  evaluator.program_ = std::make_shared<const Program>(std::move(program));
  evaluator.options_ = options;
  return evaluator;
}

Result<std::vector<TensorResult>> ComputationEvaluator::Evaluate(const ArgumentValues& arguments,
                                                                 const OutputElements* elements,
                                                                 uint64_t work_limit) const {
  std::vector<double> scalars;
  for (const auto& name : computation_->scalars) {
    const auto found = arguments.scalars.find(name);
    if (found == arguments.scalars.end()) return Fail(ErrorCode::kUsage, "no value for '" + name + "'");
    scalars.push_back(found->second);
  }
  std::vector<EvaluationBuffer> buffers;
  buffers.reserve(program_->buffers.size());
  for (size_t i = 0; i < program_->buffers.size(); ++i) {
    WW_ASSIGN(EvaluationBuffer buffer,
              BufferFor(program_->buffers[i], IsRead(*program_, i), arguments, options_.errors.has_value()));
    buffers.push_back(std::move(buffer));
  }
  std::vector<std::vector<int64_t>> points;
  if (elements != nullptr) {
    WW_ASSIGN(points, DemandedPoints(*program_, *elements, work_limit));
  }
  for (size_t s = 0; s < program_->stages.size(); ++s) {
    const StageProgram& stage = program_->stages[s];
    auto status = RunStage(*program_, stage, buffers, scalars, options_, elements != nullptr ? &points[s] : nullptr);
    if (!status) {
      status.error().message = "stage '" + stage.name + "': " + status.error().message;
      return Fail(std::move(status).error());
    }
  }
  std::vector<TensorResult> results;
  for (auto& buffer : buffers) {
    if (!buffer.shape->output) continue;
    if (elements == nullptr) {
      results.push_back(ResultOf(buffer));
      continue;
    }
    const auto asked = elements->find(buffer.shape->name);
    results.push_back(ResultAt(buffer, asked != elements->end() ? asked->second : std::vector<int64_t>()));
  }
  return results;
}

Result<std::vector<TensorResult>> ComputationEvaluator::Run(const ArgumentValues& arguments) const {
  return Evaluate(arguments, nullptr, 0);
}
Result<std::vector<TensorResult>> ComputationEvaluator::RunAt(const ArgumentValues& arguments,
                                                              const OutputElements& elements,
                                                              uint64_t work_limit) const {
  return Evaluate(arguments, &elements, work_limit);
}

}  // namespace warpwright::core
