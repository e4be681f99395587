// The original timed against the candidate.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "core/execution.h"
#include "core/timing.h"

namespace warpwright::core {

// Times the original against the candidate on one device, in one process, by the protocol of core/timing.h. Per sample:
// fresh contents in rotated buffers, poison in the outputs, module variables restored to their loaded values, caches
// flushed.
struct TimingOptions {
  uint64_t seed = 1;    // secret: determines contents, order, and the pairs that are retained
  int first_block = 0;  // blocks before it were timed by earlier calls
  int blocks = 10, pairs_per_block = 10;
  int launches_per_sample = 0;  // 0: chosen from the original's time, before the candidate runs
  double original_us = 0;       // that time, as measured before; 0: unknown
  int kept_pairs = 1;           // number of pairs whose outputs are returned completely
  bool hot = false;             // also time with warm caches
};
struct TimeRequest {
  SourceRef original, candidate;
  KernelSpec spec;
  std::string case_name;
  std::map<std::string, ScalarValue> scalars;
  std::vector<BufferContent> buffers;
  std::string device;  // "cuda:0"
  TimingOptions options;
};
struct SampledPair {
  int pair = 0;                                  // index into Timed::pairs
  std::vector<base::Bytes> original, candidate;  // every buffer argument after the launch
};
struct Timed {
  std::vector<TimedPair> pairs;
  std::vector<SampledPair> kept;
  int launches_per_sample = 1;
  double empty_us = 0;  // what two events measure with nothing between them
  double hot_original_us = 0, hot_candidate_us = 0;
  std::vector<GuardViolation> guards;
  std::map<std::string, double> seconds;
};
using TimeOutcome = std::variant<CompileFailed, Refused, Faulted, Timed>;

}  // namespace warpwright::core
