// CUPTI's target half: counts while kernels run. Every launch is a range of its own, replayed once for each pass of the
// schedule; between the passes CUPTI restores the device memory that the kernel wrote, so that kernels which update in
// place count right and leave behind what one run leaves. Never time while this is on.
#pragma once

#include <functional>
#include <vector>

#include "gpu/cupti_host.h"

namespace warpwright::gpu {

class RangeProfiler {
 public:
  // Switches counting on in `context` until the object goes. kEnvironment: the system refuses (see Cupti::Check).
  static Result<RangeProfiler> Enable(const Cupti& cupti, CUcontext context);

  RangeProfiler(RangeProfiler&& other) noexcept;
  RangeProfiler& operator=(RangeProfiler&&) = delete;
  ~RangeProfiler();

  // Counts `launches` kernels that `launch_all` launches on the context and waits for. One entry per launch, in the
  // order of the launches. kUnsupported where CUPTI saw another number of kernels.
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
