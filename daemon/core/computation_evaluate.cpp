#include "core/computation_evaluate.h"

#include "core/evaluation_stage.h"

namespace warpwright::core {
namespace {

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
    if (shape.integer) buffer.stage_whole.resize(elements);
    else buffer.stage_real.resize(elements);
    buffer.real = buffer.stage_real;
    buffer.whole = buffer.stage_whole;
    buffer.written.resize(elements);
    if (errors) buffer.errors.resize(elements);
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

TensorResult ResultOf(EvaluationBuffer& buffer) {
  return {.name = buffer.shape->name,
          .dtype = buffer.shape->dtype,
          .shape = buffer.shape->extents,
          .real = std::move(buffer.stage_real),
          .integers = std::move(buffer.stage_whole),
          .written = std::move(buffer.written),
          .errors = std::move(buffer.errors)};
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

Result<std::vector<TensorResult>> ComputationEvaluator::Run(const ArgumentValues& arguments) const {
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
  for (const auto& stage : program_->stages) {
    auto status = StageEvaluation(stage, buffers, scalars, options_).Run();
    if (!status) {
      status.error().message = "stage '" + stage.name + "': " + status.error().message;
      return Fail(std::move(status).error());
    }
  }
  std::vector<TensorResult> results;
  for (auto& buffer : buffers)
    if (buffer.shape->output) results.push_back(ResultOf(buffer));
  return results;
}

}  // namespace warpwright::core
