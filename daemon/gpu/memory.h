// Device memory.
#pragma once

#include <cstdint>

#include "gpu/context.h"

namespace warpwright::gpu {

// From cuMemAlloc: aligned to 256 bytes, with unknown neighbours.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  static Result<DeviceMemory> Allocate(Context& context, uint64_t bytes);
  DeviceMemory(DeviceMemory&& other) noexcept
      : context_(other.context_), address_(std::exchange(other.address_, 0)), bytes_(std::exchange(other.bytes_, 0)) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  ~DeviceMemory() { Free(); }
  CUdeviceptr address() const { return address_; }
  uint64_t bytes() const { return bytes_; }

 private:
  void Free();
  Context* context_ = nullptr;
  CUdeviceptr address_ = 0;
  uint64_t bytes_ = 0;
};

// A word of host memory that kernels poll. Setting it needs no stream, and so waits for nothing that is enqueued:
// streams share a few hardware queues, and a copy may be queued behind work that waits for this very flag.
class HostFlag {
 public:
  HostFlag() = default;
  static Result<HostFlag> Create(Context& context);
  HostFlag(HostFlag&& other) noexcept
      : context_(other.context_), word_(std::exchange(other.word_, nullptr)), address_(other.address_) {}
  HostFlag& operator=(HostFlag&& other) noexcept;
  ~HostFlag() { Free(); }
  CUdeviceptr address() const { return address_; }
  void Set(uint32_t value);

 private:
  void Free();
  Context* context_ = nullptr;
  uint32_t* word_ = nullptr;
  CUdeviceptr address_ = 0;
};

// Separate pages in a separate address range, with an unmapped page on both sides: an access there faults. `Protect`
// makes the pages read-only.
class MappedMemory {
 public:
  static Result<MappedMemory> Map(Context& context, uint64_t bytes);
  MappedMemory(MappedMemory&& other) noexcept;
  MappedMemory& operator=(MappedMemory&&) = delete;
  ~MappedMemory();
  CUdeviceptr address() const { return reserved_ + page_; }  // of the first mapped byte
  uint64_t bytes() const { return mapped_; }                 // whole pages
  Status Protect();

 private:
  MappedMemory() = default;
  Status Access(CUmemAccess_flags flags);
  Context* context_ = nullptr;
  CUdeviceptr reserved_ = 0;
  uint64_t page_ = 0, mapped_ = 0;
  CUmemGenericAllocationHandle handle_ = 0;
  bool has_handle_ = false, is_mapped_ = false;
};

}  // namespace warpwright::gpu
