// How verdicts and measurements are encoded, field by field (base/fields.h): on the wire to a worker, in the
// trajectory, in reports.
#pragma once

#include "base/fields.h"
#include "core/verdict.h"

namespace warpwright::core {

constexpr TimingDecision Last(TimingDecision) { return TimingDecision::kInconclusive; }
constexpr Fault::Kind Last(Fault::Kind) { return Fault::Kind::kNotVisible; }

template <typename V>
void Describe(V& field, const LineCounters*) {
  using T = LineCounters;
  field("file", &T::file);
  field("line", &T::line);
  field.Sparse("warp_instructions", &T::warp_instructions);
  field.Sparse("thread_instructions", &T::thread_instructions);
  field.Sparse("global_requests", &T::global_requests);
  field.Sparse("global_sectors", &T::global_sectors);
  field.Sparse("shared_requests", &T::shared_requests);
  field.Sparse("shared_wavefronts", &T::shared_wavefronts);
  field.Sparse("divergent_branches", &T::divergent_branches);
  field.Sparse("samples", &T::samples);
  field.Sparse("stalls", &T::stalls);
}
template <typename V>
void Describe(V& field, const LineUse*) {
  using T = LineUse;
  field("file", &T::file);
  field("line", &T::line);
  field.Sparse("threads", &T::threads);
  field.Sparse("memory", &T::memory);
}
template <typename V>
void Describe(V& field, const Occupancy*) {
  using T = Occupancy;
  field("blocks", &T::blocks_per_multiprocessor);
  field("theoretical", &T::theoretical);
  field("achieved", &T::achieved);
  field("limiter", &T::limiter);
  field("waves", &T::waves);
}
template <typename V>
void Describe(V& field, const TimeBreakdown*) {
  using T = TimeBreakdown;
  field("total_us", &T::total_us);
  field("dram_us", &T::dram_us);
  field("l2_us", &T::l2_us);
  field("l1_us", &T::l1_us);
  field("shared_us", &T::shared_us);
  field("issue_us", &T::issue_us);
  field("fp32_us", &T::fp32_us);
  field("fp64_us", &T::fp64_us);
  field("fp16_us", &T::fp16_us);
  field.Optional("tensor_us", &T::tensor_us);
  field("integer_us", &T::integer_us);
  field("sfu_us", &T::sfu_us);
  field("latency_us", &T::latency_us);
  field("atomic_us", &T::atomic_us);
  field("overhead_us", &T::overhead_us);
  field("limiter", &T::limiter);
}
template <typename V>
void Describe(V& field, const LaunchReport*) {
  using T = LaunchReport;
  field("kernel", &T::kernel);
  field("registers", &T::registers);
  field("threads_per_block", &T::threads_per_block);
  field("shared_bytes_per_block", &T::shared_bytes_per_block);
  field("blocks_total", &T::blocks_total);
  field("blocks_run", &T::blocks_run);
  field("counters", &T::counters);
  field("lines", &T::lines);
  field("occupancy", &T::occupancy);
  field("time", &T::time);
  field.Optional("metrics", &T::metrics);
  field.Optional("unmeasured", &T::unmeasured);
}
template <typename V>
void Describe(V& field, const Fault*) {
  using T = Fault;
  field("kind", &T::kind);
  field("message", &T::message);
  field("kernel", &T::kernel);
  field("file", &T::file);
  field("line", &T::line);
  field("block", &T::block);
  field("thread", &T::thread);
}
template <typename V>
void Describe(V& field, const TimingSummary*) {
  using T = TimingSummary;
  field("decision", &T::decision);
  field("log_ratio", &T::log_ratio);
  field("standard_error", &T::standard_error);
  field("lower", &T::lower);
  field("upper", &T::upper);
  field("decision_lower", &T::decision_lower);
  field("decision_upper", &T::decision_upper);
  field("original_us", &T::original_us);
  field("candidate_us", &T::candidate_us);
  field.Optional("hot_original_us", &T::hot_original_us);
  field.Optional("hot_candidate_us", &T::hot_candidate_us);
  field("pairs", &T::pairs);
  field("discarded", &T::discarded);
  field("blocks", &T::blocks);
}
template <typename V>
void Describe(V& field, const CaseMeasurement*) {
  using T = CaseMeasurement;
  field("case", &T::case_name);
  field("weight", &T::weight);
  field("time_us", &T::time_us);
  field.Sparse("host_us", &T::host_us);
  field("sampled", &T::sampled);
  field("launches", &T::launches);
  field.Sparse("timing", &T::timing);
}

template <typename V>
void Describe(V& field, const CompileFailed*) {
  using T = CompileFailed;
  field("log", &T::log);
}
template <typename V>
void Describe(V& field, const Refused*) {
  using T = Refused;
  field("check", &T::check);
  field("reason", &T::reason);
  field("file", &T::file);
  field("line", &T::line);
}
template <typename V>
void Describe(V& field, const WrongElement*) {
  using T = WrongElement;
  field("element", &T::element);
  field("is", &T::is);
  field("expected", &T::expected);
}
template <typename V>
void Describe(V& field, const WrongSample*) {
  using T = WrongSample;
  field("wrong", &T::wrong);
  field("elements", &T::elements);
  field("pattern", &T::pattern);
  field("examples", &T::examples);
}
template <typename V>
void Describe(V& field, const WrongResult*) {
  using T = WrongResult;
  field("check", &T::check);
  field("case", &T::case_name);
  field("message", &T::message);
  field.Sparse("sample", &T::sample);
}
template <typename V>
void Describe(V& field, const Faulted*) {
  using T = Faulted;
  field("fault", &T::fault);
  field("case", &T::case_name);
}
template <typename V>
void Describe(V& field, const Measured*) {
  using T = Measured;
  field("modelled", &T::modelled);
  field("device", &T::device);
  field("cases", &T::cases);
  field("checks", &T::checks);
  field.Sparse("decision", &T::decision);
  field.Sparse("notes", &T::notes);
}

constexpr const char* TagKey(const Verdict*) { return "verdict"; }

}  // namespace warpwright::core
