// One request of core/device.h's Run on the GPU: runs the plan the requested number of times, each time from the same
// state, compares the runs with each other, and reports the guard bands around the buffers and the final values of the
// module's variables; with counters, also times and counts.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "core/device.h"
#include "gpu/cupti_session.h"
#include "gpu/replay.h"

namespace warpwright::gpu {

// What is known of a launch before it is measured: sizes, resources (null: unknown), and how it fits on the chip.
core::LaunchReport DescribeLaunch(const core::Chip& chip, const core::KernelLaunch& launch,
                                  const core::KernelResources* resources);

class Execution {
 public:
  // `counters` may be null: then nothing is counted. A plan that runs longer than `deadline` counts as hung.
  Execution(Context& context, Tools& tools, CounterSession* counters, const core::DeviceRequest& request,
            std::chrono::seconds deadline)
      : context_(context), tools_(tools), counters_(counters), request_(request), deadline_(deadline) {}
  Result<core::DeviceOutcome> Run();

 private:
  Step Steps();
  Step Load();                   // the module and the plan over it
  Status Fill();                 // every buffer as in the request; workspaces poisoned
  Step RunOnce(uint32_t index);  // from the same state, under the request's perturbation
  Step RunCalls();               // the earlier ones, and the one that counts
  Step RunPlan();
  Status FillArguments(const std::vector<core::BufferContent>& contents);
  void AddChanged(std::vector<std::string> names);
  // State that outlives a launch: the module's variables, and workspaces that the set-up filled.
  Result<std::vector<std::byte>> KeptState();
  Status UploadContents();
  Status Download(std::vector<std::vector<std::byte>>& buffers);
  Status DownloadResults();
  Status KeepResults();  // of the first run, to compare the others with
  Result<bool> SameAsFirst();
  Step Measure();  // cold times of each launch
  Step Count();    // by CUPTI

  void Spent(const char* part);  // since the last call

  Context& context_;
  Tools& tools_;
  CounterSession* counters_;
  const core::DeviceRequest& request_;
  std::chrono::seconds deadline_;
  std::unique_ptr<LoadedModule> module_;
  std::unique_ptr<BufferSet> buffers_;
  std::unique_ptr<Replay> replay_;
  std::vector<DeviceMemory> contents_;  // of the argument buffers, as in the request
  std::vector<DeviceMemory> results_;   // of the first run, if there are several
  bool protected_ = false;
  core::DeviceRun run_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace warpwright::gpu
