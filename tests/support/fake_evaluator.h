// An Evaluator whose kernels are C++ functions, for tests of the layers above the port. A source text names its kernel
// by containing the marker under which the kernel was added (a comment, so that it survives rewriting). It behaves like
// a device as far as the judge can see: a changed read-only buffer is a fault, pointers and guard bands are reported as
// the kernel sets them, calls are recorded. Timing runs both kernels and reports what `timing` scripts.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/evaluator.h"

namespace warpwright {

// One run as a kernel sees it. Elements are read and written as doubles in the dtype of the request's spec, so that the
// same function serves the float64 shadow.
class FakeRun {
 public:
  explicit FakeRun(const core::ExecuteRequest& request);

  size_t Size(std::string_view buffer) const;  // elements
  double Get(std::string_view buffer, size_t index) const;
  void Set(std::string_view buffer, size_t index, double value);
  // Of whole buffers, without a look-up for each element.
  std::vector<double> Values(std::string_view buffer) const;
  void SetValues(std::string_view buffer, const std::vector<double>& values);
  int64_t Scalar(const std::string& name) const;
  bool in_f64(std::string_view buffer) const;

  const core::ExecuteRequest& request;
  std::vector<std::vector<std::byte>> buffers;
  std::vector<core::GuardViolation> guards;
  std::vector<std::string> changed_globals;
  std::vector<std::string> notes;  // of what could not be counted
  core::CodeUses uses;
  std::vector<core::LineUse> lines;  // that ran, told if the request asks for them
  core::Counters counters;           // of the one launch, in addition to its instructions
  // The results of the run, to be moved out.
  std::vector<base::Bytes> Results() {
    return {std::make_move_iterator(buffers.begin()), std::make_move_iterator(buffers.end())};
  }

  uint32_t run = 0;                             // index among the runs of the same request
  std::optional<core::ExecuteOutcome> outcome;  // set: the run ends with it
  bool timed = false;                           // as the candidate or the original of a pair

 private:
  struct Typed {
    const char* text = nullptr;  // of its name
    size_t length = 0;
    core::DType dtype = core::DType::kF32;
  };
  size_t IndexOf(std::string_view buffer) const;
  core::DType DTypeOf(std::string_view buffer) const;

  std::vector<Typed> typed_;  // parallel to the request's buffers: looked up for every element
  size_t count_ = 0;
};
using FakeKernel = std::function<void(FakeRun&)>;

class FakeEvaluator final : public core::Evaluator {
 public:
  void Add(std::string marker, FakeKernel kernel, uint64_t instructions_per_byte = 4);

  Result<core::Inspection> Inspect(const core::SourceRef& source) override;
  Result<core::RewriteOutcome> Rewrite(
      const core::RewriteRequest& request) override;  // kFloat64Text, kAddedLines; refuses all others
  Result<core::SpliceOutcome> Splice(const core::SpliceRequest& request) override;
  Result<core::ExecuteOutcome> Execute(const core::ExecuteRequest& request) override;
  Result<core::TimeOutcome> Time(const core::TimeRequest& request) override;
  Result<core::Equivalence> Compare(const core::EquivalenceRequest& request) override;

  struct Call {
    std::string marker, case_name;
    uint64_t seed = 0;
    std::vector<core::BufferContent> buffers;
    core::ExecuteOptions options;
    std::map<std::string, core::ScalarValue> scalars;
    std::vector<core::UpcomingCall> upcoming;
  };
  std::vector<Call> calls;

  // What the clock reports for a pair; outputs and their drift come from the kernels. `us` is set to 100 and 100
  // before.
  struct ScriptedPair {
    core::TimedPair& pair;
    int index = 0;  // over all calls of a process
    const core::TimeRequest& request;
  };
  std::function<void(ScriptedPair)> timing;
  std::function<void(core::Timed&)> after_timing;  // may change the result
  std::vector<core::TimingOptions> timed;

  // What Compare answers; without it nothing can be compared.
  std::function<Result<core::Equivalence>(const core::EquivalenceRequest&)> compare;

 private:
  struct Entry {
    std::string marker;
    FakeKernel kernel;
    uint64_t instructions_per_byte;
  };
  const Entry* Find(const core::SourceRef& source) const;
  std::vector<Entry> kernels_;
};

}  // namespace warpwright
