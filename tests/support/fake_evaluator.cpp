#include "tests/support/fake_evaluator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "core/device_name.h"
#include "rewrite/added_lines.h"

namespace warpwright {

FakeRun::FakeRun(const core::ExecuteRequest& r) : request(r) {
  for (const auto& buffer : r.buffers) {
    buffers.push_back(buffer.bytes.Copy());
    typed_.push_back(
        {buffer.name.data(), buffer.name.size(), std::get<core::BufferArgument>(r.spec.Find(buffer.name)->kind).dtype});
  }
  count_ = typed_.size();
}

// For every element that a kernel reads or writes, and tests are compiled without inlining: no calls but one.
size_t FakeRun::IndexOf(std::string_view buffer) const {
  const char* const wanted = buffer.data();
  const size_t length = buffer.size();
  const Typed* const typed = typed_.data();
  for (size_t i = 0; i < count_; ++i)
    if (typed[i].length == length && std::memcmp(typed[i].text, wanted, length) == 0) return i;
  throw std::logic_error("no buffer " + std::string(buffer));
}

core::DType FakeRun::DTypeOf(std::string_view buffer) const { return typed_[IndexOf(buffer)].dtype; }

size_t FakeRun::Size(std::string_view buffer) const {
  return buffers[IndexOf(buffer)].size() / core::SizeOf(DTypeOf(buffer));
}

double FakeRun::Get(std::string_view buffer, size_t index) const {
  const size_t i = IndexOf(buffer);
  return core::LoadAsDouble(typed_[i].dtype, buffers[i].data(), index);
}

void FakeRun::Set(std::string_view buffer, size_t index, double value) {
  const size_t i = IndexOf(buffer);
  const core::DType dtype = typed_[i].dtype;
  if (index < buffers[i].size() / core::SizeOf(dtype))  // an odd shape may have fewer
    core::StoreFromDouble(dtype, buffers[i].data(), index, value);
}

std::vector<double> FakeRun::Values(std::string_view buffer) const {
  const core::DType dtype = DTypeOf(buffer);
  const std::vector<std::byte>& bytes = buffers[IndexOf(buffer)];
  std::vector<double> values(bytes.size() / core::SizeOf(dtype));
  for (size_t i = 0; i < values.size(); ++i) values[i] = core::LoadAsDouble(dtype, bytes.data(), i);
  return values;
}

void FakeRun::SetValues(std::string_view buffer, const std::vector<double>& values) {
  const core::DType dtype = DTypeOf(buffer);
  std::vector<std::byte>& bytes = buffers[IndexOf(buffer)];
  for (size_t i = 0; i < std::min(values.size(), bytes.size() / core::SizeOf(dtype)); ++i)
    core::StoreFromDouble(dtype, bytes.data(), i, values[i]);
}

int64_t FakeRun::Scalar(const std::string& name) const { return std::get<int64_t>(request.scalars.at(name)); }

bool FakeRun::in_f64(std::string_view buffer) const { return DTypeOf(buffer) == core::DType::kF64; }

void FakeEvaluator::Add(std::string marker, FakeKernel kernel, uint64_t instructions_per_byte) {
  kernels_.push_back({std::move(marker), std::move(kernel), instructions_per_byte});
}

Result<core::Inspection> FakeEvaluator::Inspect(const core::SourceRef&) { return core::Inspection{}; }
Result<core::RewriteOutcome> FakeEvaluator::Rewrite(const core::RewriteRequest& request) {
  // A kernel is the same function in float64, except for assembly, which has no counterpart there.
  if (request.transform == core::kFloat64Text && request.source.text.find("asm(") == std::string::npos)
    return core::RewriteOutcome(core::Rewritten{request.source.text, {}, request.entry});
  if (request.transform == core::kAddedLines) {
    core::Rewritten added;
    for (const core::AddedLine& line :
         rewrite::AddedLines(request.source.text, request.parameters.at(core::kAddedLinesOf)))
      added.notes.push_back(core::EncodeAddedLine(line));
    return core::RewriteOutcome(std::move(added));
  }
  return core::RewriteOutcome(core::RewriteRefusal{"not here", 0});
}
Result<core::SpliceOutcome> FakeEvaluator::Splice(const core::SpliceRequest& request) {
  return core::SpliceOutcome(core::Rewritten{request.edited, {}});
}

const FakeEvaluator::Entry* FakeEvaluator::Find(const core::SourceRef& source) const {
  for (const Entry& entry : kernels_)
    if (source.text.find(entry.marker) != std::string::npos) return &entry;
  return nullptr;
}

Result<core::ExecuteOutcome> FakeEvaluator::Execute(const core::ExecuteRequest& request) {
  const Entry* entry = Find(request.source);
  if (entry == nullptr) return core::ExecuteOutcome(core::CompileFailed{"no such kernel"});
  for (const core::BufferContent& buffer : request.buffers)
    if (buffer.repeated_bytes > 0) return Fail(ErrorCode::kUnsupported, "only a simulator has sparse memory");
  calls.push_back({.marker = entry->marker,
                   .case_name = request.case_name,
                   .seed = request.options.seed,
                   .buffers = request.buffers,
                   .options = request.options,
                   .scalars = request.scalars,
                   .upcoming = request.upcoming});
  FakeRun run(request);
  entry->kernel(run);
  if (run.outcome) return *run.outcome;
  uint64_t bytes = 0;
  for (size_t i = 0; i < run.buffers.size(); ++i) {
    bytes += run.buffers[i].size();
    if (request.buffers[i].read_only && !(request.buffers[i].bytes == run.buffers[i]))
      return core::ExecuteOutcome(
          core::Faulted{{core::Fault::Kind::kReadOnlyWrite, "write to " + request.buffers[i].name, entry->marker},
                        request.case_name});
  }
  core::Executed executed;
  executed.modelled = core::IsSimulated(request.device);
  for (uint32_t i = 1; i < request.options.runs; ++i) {
    FakeRun again(request);
    again.run = i;
    entry->kernel(again);
    if (again.buffers != run.buffers && ++executed.differing_runs == 1) executed.other_buffers = again.Results();
  }
  executed.guards = run.guards;
  if (request.options.counters) executed.notes = run.notes;
  executed.changed_globals = run.changed_globals;
  executed.uses = run.uses;
  if (request.options.lines) executed.lines = run.lines;
  core::LaunchReport launch;
  launch.kernel = entry->marker;
  launch.counters = run.counters;
  launch.counters.thread_instructions = bytes * entry->instructions_per_byte;
  executed.sampled = request.options.sample_instructions > 0 &&
                     launch.counters.thread_instructions > request.options.sample_instructions;
  executed.launches = {launch};
  executed.time_us = static_cast<double>(launch.counters.thread_instructions) * 1e-3;
  if (request.options.keep_outputs) executed.buffers = run.Results();
  return core::ExecuteOutcome(std::move(executed));
}

Result<core::Equivalence> FakeEvaluator::Compare(const core::EquivalenceRequest& request) {
  return compare ? compare(request) : core::Evaluator::Compare(request);
}

// Contents are rotated by one more element in each pair. All pairs of a call have the drift of the first.
Result<core::TimeOutcome> FakeEvaluator::Time(const core::TimeRequest& request) {
  const Entry *original = Find(request.original), *candidate = Find(request.candidate);
  if (original == nullptr || candidate == nullptr) return core::TimeOutcome(core::CompileFailed{"no such kernel"});
  timed.push_back(request.options);
  core::ExecuteRequest inputs;
  inputs.spec = request.spec;
  inputs.scalars = request.scalars;
  inputs.buffers = request.buffers;
  inputs.options.seed = request.options.seed;
  size_t index = 0;
  std::vector<size_t> outputs;
  for (const core::Argument& argument : request.spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    auto& bytes = inputs.buffers[index].bytes;
    if (buffer->role == core::Role::kIn) {
      std::vector<std::byte> moved = bytes.Copy();
      std::rotate(moved.begin(), moved.begin() + static_cast<std::ptrdiff_t>(core::SizeOf(buffer->dtype)), moved.end());
      bytes = std::move(moved);
    }
    if (buffer->role == core::Role::kOut || buffer->role == core::Role::kInOut) outputs.push_back(index);
    ++index;
  }
  FakeRun first(inputs), second(inputs);
  first.timed = second.timed = true;
  original->kernel(first);
  candidate->kernel(second);
  core::OutputDeviation drift;
  for (const size_t i : outputs) {
    const core::DType dtype = std::get<core::BufferArgument>(request.spec.Find(inputs.buffers[i].name)->kind).dtype;
    double squares = 0, errors = 0;
    for (size_t e = 0; e < first.buffers[i].size() / core::SizeOf(dtype); ++e) {
      const double a = core::LoadAsDouble(dtype, first.buffers[i].data(), e),
                   b = core::LoadAsDouble(dtype, second.buffers[i].data(), e);
      if (std::isfinite(a) != std::isfinite(b)) ++drift.different_class;
      if (!std::isfinite(a) || !std::isfinite(b)) continue;
      squares += a * a;
      errors += (a - b) * (a - b);
    }
    if (errors > 0) drift.relative_rms = std::max(drift.relative_rms, std::sqrt(errors / squares));
  }
  core::Timed result;
  result.guards = second.guards;
  const core::TimingOptions& options = request.options;
  for (int i = 0; i < options.blocks * options.pairs_per_block; ++i) {
    core::TimedPair pair{.block = options.first_block + i / options.pairs_per_block,
                         .candidate_first = i % 2 == 0,
                         .original_us = 100,
                         .candidate_us = 100,
                         .drift = drift};
    if (timing) timing({pair, options.first_block * options.pairs_per_block + i, request});
    result.pairs.push_back(pair);
  }
  result.kept = {{0, first.Results(), second.Results()}};
  if (after_timing) after_timing(result);
  return core::TimeOutcome(std::move(result));
}

}  // namespace warpwright
