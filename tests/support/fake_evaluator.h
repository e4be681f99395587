// An Evaluator whose kernels are C++ functions, for tests of what stands above the port. A source text names its kernel
// by containing the marker under which the kernel was added (a comment, so that it survives rewriting). It behaves as a
// device where the judge looks: a changed read-only buffer is a fault, pointers and guard bands are reported as the
// kernel says, calls are recorded. Timing runs both kernels and reports what `timing` scripts.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/evaluator.h"

namespace warpwright {

// One run as a kernel sees it. Elements are read and written as doubles in the dtype that the request's spec gives, so
// that the same function serves the float64 shadow.
class FakeRun {
 public:
  explicit FakeRun(const ExecuteRequest& request);

  size_t Size(const std::string& buffer) const;  // elements
  double Get(const std::string& buffer, size_t index) const;
  void Set(const std::string& buffer, size_t index, double value);
  int64_t Scalar(const std::string& name) const;
  bool in_f64(const std::string& buffer) const;

  const ExecuteRequest& request;
  std::vector<std::vector<std::byte>> buffers;
  std::vector<GuardViolation> guards;
  std::vector<std::string> changed_globals;
  std::vector<std::string> notes;         // of what could not be counted
  std::map<std::string, PrecisionUse> precision;
  Counters counters;                      // of the one launch, beside its instructions
  // What the run leaves, to be given away.
  std::vector<Bytes> Results() { return {std::make_move_iterator(buffers.begin()), std::make_move_iterator(buffers.end())}; }

  uint32_t run = 0;                       // of those that the request asks for at once
  std::optional<ExecuteOutcome> outcome;  // set: the run ends with it
  bool timed = false;                     // as the candidate or the original of a pair

 private:
  size_t IndexOf(const std::string& buffer) const;
  DType DTypeOf(const std::string& buffer) const;
};
using FakeKernel = std::function<void(FakeRun&)>;

class FakeEvaluator final : public Evaluator {
 public:
  void Add(std::string marker, FakeKernel kernel, uint64_t instructions_per_byte = 4);

  Result<Inspection> Inspect(const SourceRef& source) override;
  Result<RewriteOutcome> Rewrite(const RewriteRequest& request) override;  // kFloat64Text; refuses all others
  Result<SpliceOutcome> Splice(const SpliceRequest& request) override;
  Result<ExecuteOutcome> Execute(const ExecuteRequest& request) override;
  Result<TimeOutcome> Time(const TimeRequest& request) override;

  struct Call {
    std::string marker, case_name;
    uint64_t seed = 0;
    std::vector<BufferContent> buffers;
    ExecuteOptions options;
  };
  std::vector<Call> calls;

  // What the clock says of a pair; outputs and their drift come from the kernels. `us` is set to 100 and 100 before.
  struct ScriptedPair {
    TimedPair& pair;
    int index = 0;          // over all calls of a process
    const TimeRequest& request;
  };
  std::function<void(ScriptedPair)> timing;
  std::function<void(Timed&)> after_timing;  // the last word
  std::vector<TimingOptions> timed;

 private:
  struct Entry {
    std::string marker;
    FakeKernel kernel;
    uint64_t instructions_per_byte;
  };
  const Entry* Find(const SourceRef& source) const;
  std::vector<Entry> kernels_;
};

}  // namespace warpwright
