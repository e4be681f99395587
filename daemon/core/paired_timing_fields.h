// How timings of a pair are encoded (base/fields.h).
#pragma once

#include "base/fields.h"
#include "core/execution_fields.h"
#include "core/paired_timing.h"

namespace warpwright::core {

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

constexpr std::string_view Tag(const TimeRequest*) { return "time"; }
constexpr std::string_view Tag(const Timed*) { return "timed"; }
constexpr const char* TagKey(const TimeOutcome*) { return "outcome"; }

}  // namespace warpwright::core
