// The buffers of a plan on the device, and the memory around them.
//
// Banded: one allocation; guard bands with an unpredictable pattern precede, separate and follow the buffers. Exact:
// each buffer has its own pages and ends where they end, or begins where they begin (as closely as its alignment
// allows; the rest of its pages holds the pattern), with nothing mapped around them; read-only buffers are mapped
// read-only.
#pragma once

#include <vector>

#include "core/execution.h"
#include "gpu/tools.h"

namespace warpwright::gpu {

struct Layout {
  uint64_t guard_bytes = 64u << 10;
  core::PageGuard exact = core::PageGuard::kNone;
  uint32_t seed = 1;  // of the pattern
};

class BufferSet {
 public:
  // `contents`: those of the plan's argument buffers, for their offsets and access rights. Bands are filled; the
  // buffers are not.
  static Result<BufferSet> Allocate(Context& context, Tools& tools, const core::LaunchPlan& plan,
                                    const std::vector<core::BufferContent>& contents, const Layout& layout);
  static uint64_t BytesOf(const core::LaunchPlan& plan, const Layout& layout);

  size_t size() const { return allocations_.size(); }
  CUdeviceptr Address(size_t buffer) const { return allocations_[buffer].address; }
  uint64_t Bytes(size_t buffer) const { return allocations_[buffer].bytes; }
  CUdeviceptr Address(const core::DevicePointer& pointer) const {
    return allocations_[pointer.buffer].address + static_cast<CUdeviceptr>(pointer.offset);
  }

  // To be called after all read-only contents were uploaded.
  Status Protect(const std::vector<core::BufferContent>& contents);
  // Waits for the device.
  Result<std::vector<core::GuardViolation>> CheckGuards() const;

 private:
  struct Allocation {
    std::string name;
    CUdeviceptr address = 0;
    uint64_t bytes = 0;
  };
  struct GuardBand {
    CUdeviceptr address = 0;
    uint64_t bytes = 0;
    size_t before = 0, behind = 0;  // indices of the allocations before and after it; size() for none
  };
  BufferSet() = default;
  Status AllocateBanded(Context& context, const std::vector<int64_t>& offsets, const Layout& layout);
  Status AllocateExact(Context& context, const std::vector<int64_t>& offsets, core::PageGuard where);

  Tools* tools_ = nullptr;
  uint32_t seed_ = 0;
  std::vector<Allocation> allocations_;
  std::vector<GuardBand> bands_;
  DeviceMemory arena_;
  std::vector<MappedMemory> mapped_;
};

}  // namespace warpwright::gpu
