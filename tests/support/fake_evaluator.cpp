#include "tests/support/fake_evaluator.h"

#include <stdexcept>

namespace warpwright {

FakeRun::FakeRun(const ExecuteRequest& r) : request(r) {
  for (const auto& buffer : r.buffers) buffers.push_back(buffer.bytes);
}

size_t FakeRun::IndexOf(const std::string& buffer) const {
  for (size_t i = 0; i < request.buffers.size(); ++i)
    if (request.buffers[i].name == buffer) return i;
  throw std::logic_error("no buffer " + buffer);
}

DType FakeRun::DTypeOf(const std::string& buffer) const {
  return std::get<BufferArgument>(request.spec.Find(buffer)->kind).dtype;
}

size_t FakeRun::Size(const std::string& buffer) const {
  return buffers[IndexOf(buffer)].size() / SizeOf(DTypeOf(buffer));
}

double FakeRun::Get(const std::string& buffer, size_t index) const {
  return LoadAsDouble(DTypeOf(buffer), buffers[IndexOf(buffer)].data(), index);
}

void FakeRun::Set(const std::string& buffer, size_t index, double value) {
  StoreFromDouble(DTypeOf(buffer), buffers[IndexOf(buffer)].data(), index, value);
}

int64_t FakeRun::Scalar(const std::string& name) const { return std::get<int64_t>(request.scalars.at(name)); }

bool FakeRun::in_f64(const std::string& buffer) const { return DTypeOf(buffer) == DType::kF64; }

void FakeEvaluator::Add(std::string marker, FakeKernel kernel, uint64_t instructions_per_byte) {
  kernels_.push_back({std::move(marker), std::move(kernel), instructions_per_byte});
}

Result<Inspection> FakeEvaluator::Inspect(const SourceRef&) { return Inspection{}; }
Result<RewriteOutcome> FakeEvaluator::Rewrite(const RewriteRequest&) {
  return RewriteOutcome(RewriteRefusal{"not here", 0});
}
Result<SpliceOutcome> FakeEvaluator::Splice(const SpliceRequest& request) {
  return SpliceOutcome(Rewritten{request.edited, {}});
}

Result<ExecuteOutcome> FakeEvaluator::Execute(const ExecuteRequest& request) {
  for (const Entry& entry : kernels_) {
    if (request.source.text.find(entry.marker) == std::string::npos) continue;
    calls.push_back({entry.marker, request.case_name, request.options.seed, request.buffers});
    FakeRun run(request);
    entry.kernel(run);
    if (run.outcome) return *run.outcome;
    uint64_t bytes = 0;
    for (size_t i = 0; i < run.buffers.size(); ++i) {
      bytes += run.buffers[i].size();
      if (request.buffers[i].read_only && run.buffers[i] != request.buffers[i].bytes)
        return ExecuteOutcome(Faulted{
            {Fault::Kind::kReadOnlyWrite, "write to " + request.buffers[i].name, entry.marker}, request.case_name});
    }
    Executed executed;
    executed.guards = run.guards;
    LaunchReport launch;
    launch.kernel = entry.marker;
    launch.counters.thread_instructions = bytes * entry.instructions_per_byte;
    executed.sampled = request.options.sample_instructions > 0 &&
                       launch.counters.thread_instructions > request.options.sample_instructions;
    executed.launches = {launch};
    executed.time_us = static_cast<double>(launch.counters.thread_instructions) * 1e-3;
    if (request.options.keep_outputs) executed.buffers = std::move(run.buffers);
    return ExecuteOutcome(std::move(executed));
  }
  return ExecuteOutcome(CompileFailed{"no such kernel"});
}

Result<TimeOutcome> FakeEvaluator::Time(const TimeRequest&) {
  return Fail(ErrorCode::kUnsupported, "the fake evaluator models times");
}

}  // namespace warpwright
