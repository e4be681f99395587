// Counters of one context: what gpu/cuda_device.h asks. Where the system does not let us count, that is a value with a
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
      unknown;  // metrics of the tier that this chip lacks and has no other for: see Missed (metrics.h)
  size_t passes = 0;
};
using CounterOutcome = std::variant<CountersUnavailable, CountedLaunches>;

struct SampledLines {
  std::map<std::string, std::vector<core::LineCounters>>
      kernels;                                     // by mangled name: hottest lines first, for LaunchReport::lines
  uint64_t samples = 0, dropped = 0, foreign = 0;  // as PcSamples has them
  bool overflow = false;
};
using SamplingOutcome = std::variant<CountersUnavailable, SampledLines>;

class CounterSession {
 public:
  // Of a context that outlives the session. Cheap where counters are unavailable: Collect and Sample then say why.
  static Result<CounterSession> Create(CUcontext context, CUdevice device);

  const std::optional<CountersUnavailable>& unavailable() const { return unavailable_; }
  const std::string& chip() const { return chip_; }  // "GH100"

  // `launch_all` launches the kernels and waits for the context; it runs once, each kernel of it once per pass. An
  // error of it is returned as it is. `launches` is the number of kernels: memsets and copies are not counted.
  Result<CounterOutcome> Collect(CounterTier tier, const std::function<Status()>& launch_all, size_t launches);

  // The hottest lines of the module's kernels. Sampling is on in here only: it disturbs no time that is measured
  // elsewhere.
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

// How a launch plan is run for counting. Neither may hold back the stream: CUPTI waits for every kernel.
struct CountedRun {
  std::function<Status()> prepare;  // the state before the plan, with kernels of the device's own; waits
  std::function<Status()> run;      // the plan's kernels and nothing else; waits
  std::function<Status()>
      reload;  // the module, loaded once more: what is prepared and run afterwards is that copy (see SampledRun)
  double expected_us = 0;
};
// Counters and hottest lines of a plan whose launches are described and timed in `reports`, in order; launches of one
// kernel share its lines. Where counters are unavailable, everything that needs them is marked unmeasured and the
// reason comes back.
Result<std::optional<CountersUnavailable>> CountPlan(CounterSession& session, CounterTier tier, const core::Chip& chip,
                                                     const core::CompiledModule& module, const CountedRun& plan,
                                                     std::vector<core::LaunchReport>& reports);

}  // namespace warpwright::gpu
