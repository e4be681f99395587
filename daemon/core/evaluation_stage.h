// One stage of an evaluation: all its elements, group of lanes by group of lanes.
#pragma once

#include "core/computation_walk.h"
#include "core/evaluation_lanes.h"

namespace warpwright::core {

struct EvaluationBuffer {
  const BufferShape* shape = nullptr;
  std::span<const double> real;  // of an argument: the caller's; of a stage: those below
  std::span<const int64_t> whole;
  std::vector<double> stage_real, errors;
  std::vector<int64_t> stage_whole;
  std::vector<uint8_t> written;
  int64_t count_written = 0;

  bool complete() const { return !shape->stage || count_written == shape->elements; }
};

class StageEvaluation {
 public:
  // `scalars`: in the order of Computation::scalars.
  StageEvaluation(const StageProgram& stage, std::span<EvaluationBuffer> buffers, std::span<const double> scalars,
                  const EvaluateOptions& options);
  Status Run();

 private:
  // A position for the lanes that are in use, by its numerator at the first.
  int64_t Numerator(const Position& position) const;
  void Coordinates(const Position& position, Lanes<int64_t>& out);
  // How many lanes `guards` leave; they clear the mask's others.
  int64_t Restrict(std::span<const CompiledGuard> guards, Lanes<uint8_t>& mask);

  Status RunGroup();
  void RunBlock(uint32_t block);
  void RunPosition(const Step& step);
  void RunRead(const Step& step);
  bool ReadStraight(const CompiledRead& read, const EvaluationBuffer& buffer, LaneValues& out);
  void ReadScattered(const CompiledRead& read, const EvaluationBuffer& buffer, LaneValues& out);
  void RunReduce(const Step& step);
  Status Store(const Lanes<uint8_t>& mask);

  const StageProgram& stage_;
  std::span<EvaluationBuffer> buffers_;
  std::vector<LaneValues> registers_;
  std::array<int64_t, kMaxVariables + 1> variables_ = {};  // the lane variable: of the first lane
  LaneContext context_;
  std::optional<ErrorRules> errors_;
};

}  // namespace warpwright::core
