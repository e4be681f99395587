// Counters of one context, used by gpu/cuda_device.h. If the system does not permit counting, that is a value with a
// remedy and not an Error: timing and checking do not need counters.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <variant>

#include "core/compiled.h"
#include "gpu/cupti_pc_sampling.h"
#include "gpu/cupti_range_profiler.h"
#include "gpu/metrics.h"

namespace warpwright::gpu {

struct CountersUnavailable {
  std::string reason, remedy;
};
struct CountedLaunches {
  std::vector<MetricValues> launches;  // in the order of the launches: for Fill (metrics.h)
  std::vector<std::string>
      unknown;  // metrics of the tier that this chip lacks and has no substitute for: see Missed (metrics.h)
  size_t passes = 0;
};
using CounterOutcome = std::variant<CountersUnavailable, CountedLaunches>;

struct SampledLines {
  std::map<std::string, std::vector<core::LineCounters>>
      kernels;                                     // by mangled name: hottest lines first, for LaunchReport::lines
  uint64_t samples = 0, dropped = 0, foreign = 0;  // as in PcSamples
  bool overflow = false;
};
using SamplingOutcome = std::variant<CountersUnavailable, SampledLines>;

class CounterSession {
 public:
  // For a context that outlives the session. Cheap if counters are unavailable: Collect and Sample then report why.
  static Result<CounterSession> Create(CUcontext context, CUdevice device);

  const std::optional<CountersUnavailable>& unavailable() const { return unavailable_; }
  const std::string& chip() const { return chip_; }  // "GH100"

  // `launch_all` launches the kernels and waits for the context; it is called once, and each of its kernels runs once
  // per pass. Its errors are returned unchanged. `launches` is the number of kernels: memsets and copies are not
  // counted.
  Result<CounterOutcome> Collect(CounterTier tier, const std::function<Status()>& launch_all, size_t launches);

  // The hottest lines of the module's kernels. Sampling is enabled only during this call: it does not disturb times
  // that are measured elsewhere.
  Result<SamplingOutcome> Sample(const core::CompiledModule& module, const SampledRun& run);

 private:
  explicit CounterSession(CUcontext context) : context_(context) {}
  Status Open(CUdevice device);
  Result<CountedLaunches> Count(CounterTier tier, const std::function<Status()>& launch_all, size_t launches);

  const Cupti* cupti_ = nullptr;
  CUcontext context_;
  std::string chip_;
  std::vector<uint8_t> availability_;
  std::map<CounterTier, CuptiHost> hosts_;
  std::optional<CountersUnavailable> unavailable_;
};

// How a launch plan is run for counting. No function may hold back the stream: CUPTI waits for every kernel.
struct CountedRun {
  std::function<Status()> prepare;  // the state before the plan, may launch the device's own kernels; waits
  std::function<Status()> run;      // the plan's kernels and nothing else; waits
  std::function<Status()>
      reload;  // loads the module once more: that copy is what is prepared and run afterwards (see SampledRun)
  double expected_us = 0;
  std::function<void(const char* part)> spent = [](const char*) {};  // at the end of each: "count", "sample"
};
// Counters and hottest lines of a plan whose launches are described and timed in `reports`, in order; launches of one
// kernel share its lines. If counters are unavailable, everything that needs them is marked unmeasured and the reason
// is returned.
Result<std::optional<CountersUnavailable>> CountPlan(CounterSession& session, CounterTier tier, const core::Chip& chip,
                                                     const core::CompiledModule& module, const CountedRun& plan,
                                                     std::vector<core::LaunchReport>& reports);

}  // namespace warpwright::gpu
