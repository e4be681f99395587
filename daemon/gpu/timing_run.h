// The timing protocol of core/timing.h on the device.
//
// A pair: both sides get the same fresh contents (the inputs, rotated by a secret distance, in separate buffers that
// cycle through a pool), poison in the outputs, and their modules' variables as loaded. Per side: persisting L2 lines
// reset, twice the L2 written and twice read, shared memory and registers scrubbed; then stamp, hold, event, the plan,
// event, stamp, release. After both, the outputs are compared on the device.
//
// Kernels under 20 us are launched several times between the events, each time on separate buffers that are in no
// cache. The number of launches and of pairs, and the order, are fixed before the candidate runs.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "core/device.h"
#include "gpu/replay.h"

namespace warpwright::gpu {

class TimingRun {
 public:
  TimingRun(Context& context, Tools& tools, const core::DeviceTimingRequest& request)
      : context_(context), tools_(tools), request_(request) {}
  Result<core::DeviceTimingOutcome> Run();

 private:
  struct Side {
    std::unique_ptr<LoadedModule> module;
    std::vector<BufferSet> sets;
    std::vector<std::unique_ptr<Replay>> replays;  // one for each set
    const core::LaunchPlan* plan = nullptr;
  };
  struct Sample {
    double us = 0, mhz = 0;
  };

  Result<std::optional<core::Fault>> Load(Side& side, const core::DeviceTimingRequest::Side& from);
  Status UploadContents();
  Step PlanSample();  // launches per sample, size of the pool
  Step Grow(Side& side, size_t sets);
  Step Prepare(Side& side, size_t set, uint64_t contents_seed);
  Result<std::variant<core::Fault, Sample>> Measure(Side& side, const std::vector<size_t>& sets,
                                                    uint64_t contents_seed);
  Step WarmUp();
  Step TimePairs();
  Step CheckHolds();
  Step TimePair(int index, int block, bool keep);
  Result<core::OutputDeviation> CompareOutputs(const std::vector<size_t>& sets, uint64_t contents_seed);
  Status Keep(int index, size_t set);
  Step TimeHot();
  Result<double> EmptyTime();
  Status CheckGuards();
  void Spent(const char* part);  // since the last call
  uint32_t PoisonMask(uint64_t contents_seed, size_t launch) const;

  Context& context_;
  Tools& tools_;
  const core::DeviceTimingRequest& request_;
  Side original_, candidate_;
  std::vector<DeviceMemory> contents_;  // of the argument buffers, as in the request
  int launches_ = 1;
  size_t pool_ = 1;
  core::Timed timed_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace warpwright::gpu
