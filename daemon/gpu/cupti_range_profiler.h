// CUPTI's target half: counts while kernels run. Every launch is a separate range, replayed once for each pass of the
// schedule; between passes CUPTI restores the device memory that the kernel wrote, so that kernels that update in place
// are counted correctly and leave memory as a single run would. Never time while this is enabled.
#pragma once

#include <functional>
#include <vector>

#include "gpu/cupti_host.h"

namespace warpwright::gpu {

class RangeProfiler {
 public:
  // Enables counting in `context` until the object is destroyed. kEnvironment: the system refuses (see Cupti::Check).
  static Result<RangeProfiler> Enable(const Cupti& cupti, CUcontext context);

  RangeProfiler(RangeProfiler&& other) noexcept;
  RangeProfiler& operator=(RangeProfiler&&) = delete;
  ~RangeProfiler();

  // Counts `launches` kernels that `launch_all` launches on the context and waits for. One entry per launch, in the
  // order of the launches. kUnsupported if CUPTI saw a different number of kernels.
  Result<std::vector<MetricValues>> Count(const CuptiHost& host, size_t launches,
                                          const std::function<Status()>& launch_all);

 private:
  RangeProfiler(const Cupti& cupti, CUpti_RangeProfiler_Object* object) : cupti_(&cupti), object_(object) {}
  Status Configure(const CuptiHost& host, size_t ranges);
  Status Stop();
  Result<size_t> Decode();

  const Cupti* cupti_;
  CUpti_RangeProfiler_Object* object_;
  std::vector<uint8_t> data_;  // the counter data image, which CUPTI writes while it is configured
};

}  // namespace warpwright::gpu
