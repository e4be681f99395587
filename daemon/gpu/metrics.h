// What is counted on a GPU, in which tier, and how CUPTI's metrics become our numbers: the fields of Counters, the
// parts of TimeBreakdown, achieved occupancy and evidence. Names differ by chip; a metric that a chip lacks makes its
// number unmeasured, which is reported (LaunchReport::unmeasured), never zero. tests/unit/gpu_counters checks every
// name with CUPTI for every supported chip.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/chip.h"
#include "core/counters.h"

namespace warpwright::gpu {

// Each tier contains the ones before it, but for kThreadInstructionsMetric. A pass is one more run of the kernel.
enum class CounterTier {
  kCore,       // duration, DRAM, occupancy, issue, bank conflicts: 1 pass on GH100
  kCandidate,  // everything that evidence is derived from, and stall reasons: 6 passes, one of them with instrumented
               // instructions
  kSpeedOfLight,  // throughput roll-ups and rare units: 17 passes; for accepted candidates
};
std::vector<std::string> MetricsOf(CounterTier tier);

// How much work it is, of the core tier alone: the others have it from instrumented code, where this costs a pass.
inline constexpr const char* kThreadInstructionsMetric = "smsp__thread_inst_executed_pred_on.sum";
inline constexpr const char* kDurationMetric = "gpu__time_duration.sum";  // ns
inline constexpr const char* kWarpsActiveMetric = "sm__warps_active.avg.pct_of_peak_sustained_active";
inline constexpr const char* kTensorMetric = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";

// One of our numbers as a sum of CUPTI metrics. If a number has several formulas (names that differ by chip, two ports
// of one unit), the largest whose metrics were all measured is used.
struct Formula {
  struct Term {
    std::string metric;
    double weight = 1;
  };
  std::string_view number;
  std::vector<Term> terms;
};
// Fields of Counters by name, including instruction classes ("warp_instructions_sfu").
const std::vector<Formula>& CounterFormulas();
// The classes that CUPTI counts by thread: divided by the average lanes of an instruction to give warp instructions.
const std::vector<Formula>& ThreadClassFormulas();
// Parts of TimeBreakdown ("dram_us"), in percent of the unit's peak while the kernel ran.
const std::vector<Formula>& ThroughputFormulas();
// Parts that are derived from thread instructions and the chip's lanes if no metric gives them.
const std::vector<Formula>& LaneFormulas();
// Evidence fields: shares of the warp cycles that stalled.
const std::vector<Formula>& StallFormulas();
// Stalled warp cycles: those that wait for something to arrive, and all of them (the others wait for a unit's queue or
// pipe; warps that could have issued are not stalled).
const Formula& LatencyStalls();
const Formula& AllStalls();

// Of the metrics that a chip lacks, those that leave a gap: not those whose every number another formula gives from
// metrics that the chip has (names that differ by chip).
std::vector<std::string> Missed(const std::vector<std::string>& absent);

// Fields of Counters and parts of TimeBreakdown that no GPU can count, with the reason.
const std::map<std::string_view, std::string_view>& NotOnHardware();

// Fills counters, achieved occupancy, times, metrics and unmeasured of a report whose kernel, geometry and resources
// are known. A total time that is already set (measured with events) is kept and the parts are shares of it; otherwise
// it is CUPTI's duration. Latency is the time in which the busiest unit idles, times the share of stalled warp cycles
// that wait for something to arrive. With no values at all, everything that needs counters is unmeasured.
void Fill(core::LaunchReport& report, const std::map<std::string, double>& values, const core::Chip& chip);

// Whether PTX adds or multiplies in f16 or bf16. Where it does not, what CUPTI counts as such are conversions to f32,
// which ptxas writes as additions of nothing (HADD2.F32): a product of halves summed in f32 counted twice its
// operations.
bool HasHalfArithmetic(std::string_view ptx);

}  // namespace warpwright::gpu
