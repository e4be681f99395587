// One stage of an evaluation: elements of its box, group of lanes by group of lanes.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>

#include "core/evaluation_reduce.h"
#include "core/term_program.h"

namespace warpwright::core {

// Zeros whose pages are only taken when something is written there: of a large tensor few elements may be asked for.
template <typename T>
class ZeroedArray {
 public:
  ZeroedArray() = default;
  explicit ZeroedArray(size_t count) : data_(static_cast<T*>(std::calloc(count, sizeof(T))), &std::free) {
    if (count > 0 && data_ == nullptr) throw std::bad_alloc();
    size_ = data_ == nullptr ? 0 : count;
  }
  std::span<T> span() const { return {data_.get(), size_}; }
  T& operator[](size_t index) const { return data_.get()[index]; }
  bool empty() const { return size_ == 0; }

 private:
  std::unique_ptr<T[], decltype(&std::free)> data_{nullptr, &std::free};
  size_t size_ = 0;
};

struct EvaluationBuffer {
  const BufferShape* shape = nullptr;
  std::span<const double> real;  // of an argument: the caller's; of a stage: those below
  std::span<const int64_t> whole;
  base::UninitializedVector<double> stage_real, errors;  // where `written` says so
  base::UninitializedVector<int64_t> stage_whole;
  ZeroedArray<uint8_t> written;
  int64_t count_written = 0;

  bool complete() const { return !shape->stage || count_written == shape->elements; }
};

// Used by one thread; several may evaluate disjoint elements of a stage.
class StageEvaluation {
 public:
  // `scalars`: in the order of Computation::scalars. All outlive it.
  StageEvaluation(const StageProgram& stage, std::span<const BufferShape> shapes, std::span<EvaluationBuffer> buffers,
                  std::span<const double> scalars, const EvaluateOptions& options);
  // Elements of the box, counted row by row.
  Status Run(int64_t first, int64_t end);
  Status Run(std::span<const int64_t> points);
  int64_t count_stored() const { return count_stored_; }

  // Elements of a group; fewer than kLanes where lanes hold terms, so that all cores have some.
  void SetGroup(int64_t elements) { group_elements_ = elements; }
  // Whether each reduction whose terms are in lanes runs on all cores: of a stage of few elements.
  void SetReducesOnAllCores(bool all) { reduces_on_all_cores_ = all; }

 private:
  enum class Group : uint8_t { kRun, kPoints };
  Status RunGroup(int64_t first, Group group);
  void RunBlock(uint32_t block);
  void RunRead(const Step& step);
  bool ReadDirect(uint32_t read, const EvaluationBuffer& buffer, LaneValues& out);
  void ReadScattered(const CompiledRead& read, const EvaluationBuffer& buffer, LaneValues& out);
  void RunReduce(const Step& step);
  void RunTermReduce(const Step& step, const TermProgram& program);
  LaneReduction ReduceTerms(uint32_t reduce, const TermProgram& program, int64_t lane);
  void SetElement(const TermProgram& program, const StageEvaluation& around, int64_t lane);
  void AddTerms(const TermProgram& program, int64_t first, int64_t end, LaneReduction& sum);
  bool Claim(const EvaluationBuffer& buffer, size_t index, bool missing) const;
  Status StoreRun(int64_t first);
  Status Store(const Lanes<uint8_t>& mask);
  bool NarrowsErrors() const;

  const StageProgram& stage_;
  const std::span<const BufferShape> shapes_;
  std::span<EvaluationBuffer> buffers_;
  const std::span<const double> scalars_;
  const EvaluateOptions& options_;
  std::vector<LaneValues> registers_;
  LaneGroup group_;
  LaneContext context_;
  LaneRounding rounding_;
  std::optional<ErrorRules> errors_;
  // Elements of a run are neighbours in the buffer, and each is written by one of them alone.
  bool dense_ = false;
  int64_t count_stored_ = 0;
  int64_t group_elements_ = kLanes;
  bool reduces_on_all_cores_ = false;
  Group kind_ = Group::kRun;
  int64_t first_ = 0;                                               // of the group
  std::vector<std::unique_ptr<StageEvaluation>> term_evaluations_;  // by reduction, once it was needed
};

}  // namespace warpwright::core
