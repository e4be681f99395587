// lift: what the kernels of the working tree compute, apart from how.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <vector>

#include "app/judging.h"
#include "core/lifting.h"
#include "core/scheduling.h"

namespace warpwright::app {

struct LiftedKernel {
  core::KernelSpec spec;
  core::LiftOutcome outcome;

  const core::Lifted* lifted() const { return std::get_if<core::Lifted>(&outcome); }
};

// How much a kernel is worth: shapes to be tried, bytes of a shape's arguments, and the seconds of processor time after
// which no further shape is begun.
struct LiftEffort {
  size_t shapes = 9;
  uint64_t bytes = uint64_t{32} << 20;
  double seconds = 20;
};

// A simulated device like this one: "sim:h200". A chip without a file of its own is stood in for by another.
std::string SimulatedDevice(const TargetDevice& device);

// One entry, on a simulated device like `device`: expressions are followed by the simulator. An Error is a failure of
// warpwright; a kernel that ends its worker or takes too long is NotLifted.
Result<core::LiftOutcome> LiftKernel(const TargetDevice& device, const core::KernelSpec& spec,
                                     const core::SourceRef& source, core::Evaluator& worker,
                                     const LiftEffort& effort = {});

// What an entry computes, found out once: beside the caller's other work, where there are other processes for it, one
// for the whole and one for the segments of its launcher.
class LiftOnce {
 public:
  // All arguments outlive it. `longest` after it began, where other processes have it, what they have not found out is
  // given up: one step of it may take as long as a worker may.
  LiftOnce(const TargetDevice& device, const core::KernelSpec& spec, const core::SourceRef& source,
           core::Evaluator& worker, const core::ProcessSource& another, std::chrono::seconds longest);
  ~LiftOnce();
  LiftOnce(const LiftOnce&) = delete;
  LiftOnce& operator=(const LiftOnce&) = delete;
  Result<core::LiftOutcome> Get();
  // What the segments of its launcher compute, as far as that was found out.
  Result<std::vector<core::SegmentForm>> GetSegments();

 private:
  using Clock = std::chrono::steady_clock;

  Status LiftSegments(core::Evaluator& evaluator);

  const std::function<Result<core::LiftOutcome>(core::Evaluator&)> lift_;
  const TargetDevice& device_;
  const core::KernelSpec& spec_;
  const core::SourceRef& source_;
  core::Evaluator& worker_;
  const std::chrono::seconds longest_;
  const Clock::time_point end_;
  std::optional<Result<core::LiftOutcome>> lifted_;
  bool asked_for_segments_ = false;
  std::mutex mutex_;  // of the segments
  std::vector<core::SegmentForm> segments_;
  std::optional<core::OtherProcess> process_, segments_process_;
  std::future<Status> segments_under_way_;
  std::future<Result<core::LiftOutcome>> under_way_;  // the last members: their destructors wait
};

// Every kernel of the working tree's manifest. `each` is called with each kernel as soon as it is done.
Result<std::vector<LiftedKernel>> LiftKernels(const Workspace& workspace, const JudgingServices& services,
                                              const std::function<void(const LiftedKernel&)>& each = {});

}  // namespace warpwright::app
