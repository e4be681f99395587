// One request of core/device.h's Run on the GPU: runs the plan as often as asked, each time from the same state,
// compares the runs with each other, and reports what surrounded the buffers and what became of the module's variables;
// with counters, also times and counts.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "core/device.h"
#include "gpu/cupti_session.h"
#include "gpu/replay.h"

namespace warpwright::gpu {

// What is known of a launch before it is measured: sizes, resources (null: unknown), and how the chip holds it.
core::LaunchReport DescribeLaunch(const core::Chip& chip, const core::KernelLaunch& launch,
                                  const core::KernelResources* resources);

class Execution {
 public:
  // `counters` may be null: nothing is counted then.
  Execution(Context& context, Tools& tools, CounterSession* counters, const core::DeviceRequest& request)
      : context_(context), tools_(tools), counters_(counters), request_(request) {}
  Result<core::DeviceOutcome> Run();

 private:
  Step Steps();
  Step Load();                   // the module and the plan over it
  Status Fill();                 // every buffer as the request has it; workspaces poisoned
  Step RunOnce(uint32_t index);  // from the same state, under the request's perturbation
  Step RunPlan();
  // What outlives a launch: the module's variables, and workspaces that the set-up filled.
  Result<std::vector<std::byte>> KeptState();
  Status UploadContents();
  Status Download(std::vector<std::vector<std::byte>>& buffers);
  Status DownloadResults();
  Status KeepResults();  // of the first run, for the others to be compared with
  Result<bool> SameAsFirst();
  Step Measure();  // cold times of each launch
  Step Count();    // by CUPTI

  void Spent(const char* part);  // since the last call

  Context& context_;
  Tools& tools_;
  CounterSession* counters_;
  const core::DeviceRequest& request_;
  std::unique_ptr<LoadedModule> module_;
  std::unique_ptr<BufferSet> buffers_;
  std::unique_ptr<Replay> replay_;
  std::vector<DeviceMemory> contents_;  // of the argument buffers, as the request has them
  std::vector<DeviceMemory> results_;   // of the first run, where there are more
  bool protected_ = false;
  core::DeviceRun run_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace warpwright::gpu
