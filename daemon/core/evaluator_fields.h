// How calls to a worker and its replies are encoded (base/fields.h). Texts of files and contents of buffers are blobs:
// they are sent separately from the JSON.
#pragma once

#include "base/fields.h"
#include "core/evaluator.h"
#include "core/inspection_fields.h"
#include "core/launch_plan_fields.h"
#include "core/verdict_fields.h"

namespace warpwright::core {

constexpr Allow Last(Allow) { return kLastAllow; }
constexpr Perturbation Last(Perturbation) { return Perturbation::kNoise; }
constexpr PageGuard Last(PageGuard) { return PageGuard::kBegins; }
constexpr CounterDepth Last(CounterDepth) { return CounterDepth::kSpeedOfLight; }

template <typename V>
void Describe(V& field, const SourceRef*) {
  using T = SourceRef;
  field("root", &T::root);
  field("file", &T::file);
  field.Blob("text", &T::text);
}
// Only what running needs: the judge alone knows how inputs are generated and which cases exist.
template <typename V>
void Describe(V& field, const BufferArgument*) {
  using T = BufferArgument;
  field("dtype", &T::dtype);
  field("shape", &T::shape);
  field("role", &T::role);
  field.Untold(&T::init);
  field("alignment", &T::alignment);
}
template <typename V>
void Describe(V& field, const ScalarArgument*) {
  using T = ScalarArgument;
  field("dtype", &T::dtype);
  field.Sparse("value", &T::value);
}
template <typename V>
void Describe(V& field, const Argument*) {
  using T = Argument;
  field("name", &T::name);
  field("kind", &T::kind);
  field("line", &T::line);
}
template <typename V>
void Describe(V& field, const LaunchSpec*) {
  using T = LaunchSpec;
  field("grid", &T::grid);
  field("block", &T::block);
  field.Sparse("shared_bytes", &T::shared_bytes);
}
template <typename V>
void Describe(V& field, const KernelSpec*) {
  using T = KernelSpec;
  field("name", &T::name);
  field("file", &T::file);
  field("entry", &T::entry);
  field("args", &T::args);
  field.Untold(&T::cases);
  field.Sparse("launch", &T::launch);
  field.Untold(&T::tolerance);
  field("allow", &T::allow);
  field.Untold(&T::accumulation);
  field("line", &T::line);
}

template <typename V>
void Describe(V& field, const BufferContent*) {
  using T = BufferContent;
  field("name", &T::name);
  field("bytes", &T::bytes);
  field("uninitialized", &T::uninitialized);
  field("read_only", &T::read_only);
  field("pointer_offset", &T::pointer_offset);
}
template <typename V>
void Describe(V& field, const ExecuteOptions*) {
  using T = ExecuteOptions;
  field("counters", &T::counters);
  field("depth", &T::depth);
  field("poison", &T::poison);
  field("keep_outputs", &T::keep_outputs);
  field("guard_bytes", &T::guard_bytes);
  field("seed", &T::seed);
  field("sample_instructions", &T::sample_instructions);
  field("instruction_limit", &T::instruction_limit);
  field.Sparse("block_limit", &T::block_limit);
  field("exact_memory", &T::page_guard);
  field("runs", &T::runs);
  field("perturbation", &T::perturbation);
}
template <typename V>
void Describe(V& field, const TimingOptions*) {
  using T = TimingOptions;
  field("seed", &T::seed);
  field("first_block", &T::first_block);
  field("blocks", &T::blocks);
  field("pairs_per_block", &T::pairs_per_block);
  field("launches_per_sample", &T::launches_per_sample);
  field("original_us", &T::original_us);
  field("kept_pairs", &T::kept_pairs);
  field("hot", &T::hot);
}
template <typename V>
void Describe(V& field, const RewriteRequest*) {
  using T = RewriteRequest;
  field("source", &T::source);
  field("entry", &T::entry);
  field("kernel", &T::kernel);
  field("transform", &T::transform);
  field("parameters", &T::parameters);
}
template <typename V>
void Describe(V& field, const SpliceRequest*) {
  using T = SpliceRequest;
  field("original", &T::original);
  field.Blob("edited", &T::edited);
  field("entry", &T::entry);
}
template <typename V>
void Describe(V& field, const ExecuteRequest*) {
  using T = ExecuteRequest;
  field("source", &T::source);
  field("spec", &T::spec);
  field("case", &T::case_name);
  field("scalars", &T::scalars);
  field("buffers", &T::buffers);
  field("device", &T::device);
  field("options", &T::options);
}
template <typename V>
void Describe(V& field, const TimeRequest*) {
  using T = TimeRequest;
  field("original", &T::original);
  field("candidate", &T::candidate);
  field("spec", &T::spec);
  field("case", &T::case_name);
  field("scalars", &T::scalars);
  field("buffers", &T::buffers);
  field("device", &T::device);
  field("options", &T::options);
}

template <typename V>
void Describe(V& field, const Rewritten*) {
  using T = Rewritten;
  field.Blob("text", &T::text);
  field("notes", &T::notes);
  field("entry", &T::entry);
}
template <typename V>
void Describe(V& field, const RewriteRefusal*) {
  using T = RewriteRefusal;
  field("reason", &T::reason);
  field("line", &T::line);
}
template <typename V>
void Describe(V& field, const GuardViolation*) {
  using T = GuardViolation;
  field("buffer", &T::buffer);
  field("offset", &T::offset);
  field("bytes", &T::bytes);
}
template <typename V>
void Describe(V& field, const PrecisionUse*) {
  using T = PrecisionUse;
  field("instruction", &T::instruction);
  field("file", &T::file);
  field("line", &T::line);
}
template <typename V>
void Describe(V& field, const Executed*) {
  using T = Executed;
  field("buffers", &T::buffers);
  field("as_sent", &T::as_sent);
  field("launches", &T::launches);
  field("time_us", &T::time_us);
  field("modelled", &T::modelled);
  field("sampled", &T::sampled);
  field("guards", &T::guards);
  field("differing_runs", &T::differing_runs);
  field("other_buffers", &T::other_buffers);
  field("changed_globals", &T::changed_globals);
  field("precision", &T::precision);
  field("notes", &T::notes);
  field("plan_digest", &T::plan_digest);
  field("module_key", &T::module_key);
  field("seconds", &T::seconds);
}
template <typename V>
void Describe(V& field, const OutputDeviation*) {
  using T = OutputDeviation;
  field("relative_rms", &T::relative_rms);
  field("different_class", &T::different_class);
  field("unwritten", &T::unwritten);
}
template <typename V>
void Describe(V& field, const TimedPair*) {
  using T = TimedPair;
  field("block", &T::block);
  field("candidate_first", &T::candidate_first);
  field("original_us", &T::original_us);
  field("candidate_us", &T::candidate_us);
  field("original_mhz", &T::original_mhz);
  field("candidate_mhz", &T::candidate_mhz);
  field("drift", &T::drift);
}
template <typename V>
void Describe(V& field, const SampledPair*) {
  using T = SampledPair;
  field("pair", &T::pair);
  field("original", &T::original);
  field("candidate", &T::candidate);
}
template <typename V>
void Describe(V& field, const Timed*) {
  using T = Timed;
  field("pairs", &T::pairs);
  field("kept", &T::kept);
  field("launches_per_sample", &T::launches_per_sample);
  field("empty_us", &T::empty_us);
  field("hot_original_us", &T::hot_original_us);
  field("hot_candidate_us", &T::hot_candidate_us);
  field("guards", &T::guards);
  field("seconds", &T::seconds);
}

constexpr std::string_view Tag(const BufferArgument*) { return "buffer"; }
constexpr std::string_view Tag(const ScalarArgument*) { return "scalar"; }
constexpr std::string_view Tag(const RewriteRequest*) { return "rewrite"; }
constexpr std::string_view Tag(const SpliceRequest*) { return "splice"; }
constexpr std::string_view Tag(const ExecuteRequest*) { return "execute"; }
constexpr std::string_view Tag(const TimeRequest*) { return "time"; }
constexpr std::string_view Tag(const Rewritten*) { return "rewritten"; }
constexpr std::string_view Tag(const RewriteRefusal*) { return "refusal"; }
constexpr std::string_view Tag(const Executed*) { return "executed"; }
constexpr std::string_view Tag(const Timed*) { return "timed"; }
constexpr const char* TagKey(const decltype(Argument::kind)*) { return "argument"; }
constexpr const char* TagKey(const RewriteOutcome*) { return "outcome"; }
constexpr const char* TagKey(const SpliceOutcome*) { return "outcome"; }
constexpr const char* TagKey(const ExecuteOutcome*) { return "outcome"; }
constexpr const char* TagKey(const TimeOutcome*) { return "outcome"; }

}  // namespace warpwright::core
