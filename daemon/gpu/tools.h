// The device's own kernels (device_tools.cu), and what they need: cache flushes, scrubbing, guard patterns,
// comparisons, the hold that blocks the stream until everything is enqueued.
#pragma once

#include <memory>
#include <span>

#include "compile/compiler.h"
#include "core/dtype.h"
#include "gpu/module.h"

namespace warpwright::gpu {

struct PatternMismatch {
  uint64_t bytes = 0;  // how many differ
  uint64_t first = 0;  // offset of the first
};

class Tools {
 public:
  static Result<std::unique_ptr<Tools>> Create(Context& context, const compile::Compiler& compiler);

  CUstream stream() const { return main_.get(); }
  Stream& side() { return side_; }

  // Enqueued on stream(), unless stated otherwise.
  Status FillPattern(CUdeviceptr to, uint64_t bytes, uint32_t seed);
  Result<PatternMismatch> CheckPattern(CUdeviceptr at, uint64_t bytes, uint32_t seed);  // waits
  Status CopyMasked(CUdeviceptr to, CUdeviceptr from, uint64_t bytes, uint32_t mask);
  Result<uint64_t> CountDifferent(CUdeviceptr a, CUdeviceptr b, uint64_t bytes);  // waits
  // Resets persisting lines, writes twice the size of L2, then reads it twice, so that no line is left dirty; then
  // scrubs everything else.
  Status Flush(uint32_t seed);
  Status Scrub(uint32_t seed);
  Status Upload(CUdeviceptr to, const void* from, uint64_t bytes);
  Status Download(void* to, CUdeviceptr from, uint64_t bytes);  // waits

  // The sums of the kernel `drift`, over all calls since the last Reset.
  struct DeviationSums {
    double squared_difference = 0, squared_original = 0;
    uint64_t different_class = 0, unwritten = 0;
  };
  Status ResetDeviation(size_t slots);
  Status AddDeviation(size_t slot, CUdeviceptr original, CUdeviceptr candidate, CUdeviceptr poison, uint32_t mask,
                      uint64_t count, core::DType dtype);
  Result<std::vector<DeviationSums>> ReadDeviation(size_t slots);  // waits

  // Records the clocks of the multiprocessors; `which` of two stamps.
  Status Stamp(int which);
  Result<double> MegahertzBetweenStamps();  // median over the multiprocessors; waits

  // Holds stream() until Release; whatever is enqueued meanwhile runs without gaps.
  Status Hold();
  void Release();
  // False: a hold ended by its time limit, and the runs timed after it had gaps. Waits.
  Result<bool> NoHoldTimedOut();
  // Co-runners on the side stream until Release: half of the multiprocessors occupied, or memory traffic.
  Status OccupyHalf();
  Status StartMemoryTraffic();

 private:
  Tools(Context& context, std::unique_ptr<core::CompiledModule> compiled, LoadedModule module, Stream main, Stream side,
        HostFlag flag);
  template <typename... Args>
  Status Launch(const char* kernel, uint32_t grid, uint32_t block, uint32_t shared, CUstream stream, Args... args);
  template <typename... Args>
  Status LaunchWide(const char* kernel, uint64_t items, Args... args);

  Context& context_;
  std::unique_ptr<core::CompiledModule> compiled_;
  LoadedModule module_;
  Stream main_, side_;
  HostFlag flag_;
  DeviceMemory flush_, results_, stamps_;
  uint32_t flag_value_ = 0, multiprocessors_ = 0, shared_bytes_ = 0;
  uint64_t flush_bytes_ = 0;
};

}  // namespace warpwright::gpu
