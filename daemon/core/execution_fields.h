// How runs are encoded (base/fields.h). Contents of buffers are blobs: they are sent separately from the JSON.
#pragma once

#include "base/fields.h"
#include "core/execution.h"
#include "core/kernel_spec_fields.h"
#include "core/launch_plan_fields.h"
#include "core/source_requests_fields.h"
#include "core/verdict_fields.h"

namespace warpwright::core {

constexpr Perturbation Last(Perturbation) { return Perturbation::kNoise; }
constexpr PageGuard Last(PageGuard) { return PageGuard::kBegins; }
constexpr CounterDepth Last(CounterDepth) { return CounterDepth::kSpeedOfLight; }

template <typename V>
void Describe(V& field, const BufferContent*) {
  using T = BufferContent;
  field("name", &T::name);
  field("bytes", &T::bytes);
  field("uninitialized", &T::uninitialized);
  field("read_only", &T::read_only);
  field("pointer_offset", &T::pointer_offset);
  field.Sparse("same_as", &T::same_as);
  field.Sparse("absent", &T::absent);
  field.Sparse("repeated_bytes", &T::repeated_bytes);
  field.Sparse("element_bytes", &T::element_bytes);
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
  field.Sparse("spread", &T::spread);
  field("instruction_limit", &T::instruction_limit);
  field.Sparse("block_limit", &T::block_limit);
  field("exact_memory", &T::page_guard);
  field("runs", &T::runs);
  field("perturbation", &T::perturbation);
  field("earlier_calls", &T::earlier_calls);
  field("extents", &T::extents);
  field.Sparse("decisions", &T::decisions);
  field.Sparse("visibility", &T::visibility);
  field.Sparse("lines", &T::lines);
  field.Sparse("nvcc", &T::nvcc);
  field.Sparse("as_written", &T::as_written);
  field.Sparse("build_only", &T::build_only);
}
template <typename V>
void Describe(V& field, const UpcomingCall*) {
  using T = UpcomingCall;
  field("scalars", &T::scalars);
  field("buffers", &T::buffers);
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
  field.Sparse("upcoming", &T::upcoming);
  field.Sparse("beside", &T::beside);
}
template <typename V>
void Describe(V& field, const GuardViolation*) {
  using T = GuardViolation;
  field("buffer", &T::buffer);
  field("offset", &T::offset);
  field("bytes", &T::bytes);
}
template <typename V>
void Describe(V& field, const BufferExtent*) {
  using T = BufferExtent;
  field("buffer", &T::buffer);
  field("read_end", &T::read_end);
  field("written_end", &T::written_end);
  field("read_bytes", &T::read_bytes);
  field("written_bytes", &T::written_bytes);
  field("reads_initial", &T::reads_initial);
}
template <typename V>
void Describe(V& field, const WrittenPart*) {
  using T = WrittenPart;
  field("buffer", &T::buffer);
  field("offset", &T::offset);
  field("bytes", &T::bytes);
}
template <typename V>
void Describe(V& field, const ByteRange*) {
  using T = ByteRange;
  field("begin", &T::begin);
  field("end", &T::end);
}
template <typename V>
void Describe(V& field, const StateUse*) {
  using T = StateUse;
  field("name", &T::name);
  field("variable", &T::variable);
  field("inherited", &T::inherited);
  field("left", &T::left);
}
template <typename V>
void Describe(V& field, const CodeUse*) {
  using T = CodeUse;
  field("kind", &T::kind);
  field.Sparse("format", &T::format);
  field.Sparse("detail", &T::detail);
}
template <typename V>
void Describe(V& field, const FoundUse*) {
  using T = FoundUse;
  field.Inline(&T::use);
  field("instruction", &T::instruction);
  field("file", &T::file);
  field("line", &T::line);
}
template <typename V>
void Describe(V& field, const Decision*) {
  using T = Decision;
  field("left", &T::left);
  field("right", &T::right);
  field("equality", &T::equality);
}
template <typename V>
void Describe(V& field, const Executed*) {
  using T = Executed;
  field("buffers", &T::buffers);
  field("as_sent", &T::as_sent);
  field("launches", &T::launches);
  field("time_us", &T::time_us);
  field.Sparse("host_us", &T::host_us);
  field("modelled", &T::modelled);
  field("sampled", &T::sampled);
  field("guards", &T::guards);
  field("differing_runs", &T::differing_runs);
  field("other_buffers", &T::other_buffers);
  field.Sparse("parts", &T::parts);
  field("changed_globals", &T::changed_globals);
  field("state", &T::state);
  field.Sparse("old_read", &T::old_read);
  field("numbers", &T::numbers);
  field.Sparse("compared", &T::compared);
  field.Sparse("kernels", &T::kernels);
  field("extents", &T::extents);
  field.Sparse("decisions", &T::decisions);
  field("uses", &T::uses);
  field.Sparse("lines", &T::lines);
  field("notes", &T::notes);
  field("plan_digest", &T::plan_digest);
  field("module_key", &T::module_key);
  field("seconds", &T::seconds);
}

constexpr std::string_view Tag(const ExecuteRequest*) { return "execute"; }
constexpr std::string_view Tag(const Executed*) { return "executed"; }
constexpr const char* TagKey(const ExecuteOutcome*) { return "outcome"; }

}  // namespace warpwright::core
