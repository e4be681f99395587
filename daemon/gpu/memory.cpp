#include "gpu/memory.h"

#include <fmt/format.h>

#include <atomic>

namespace warpwright::gpu {
namespace {

Status Allocated(Context& context, CUresult result, const char* call, uint64_t bytes) {
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    return Fail(ErrorCode::kEnvironment, fmt::format("the GPU has no {} MiB left", bytes >> 20),
                "end other programs on the GPU, or give smaller cases");
  return context.driver().Check(result, call);
}

}  // namespace

Result<DeviceMemory> DeviceMemory::Allocate(Context& context, uint64_t bytes) {
  DeviceMemory memory;
  memory.context_ = &context;
  memory.bytes_ = bytes;
  WW_TRY(Allocated(context, context.driver().MemAlloc(&memory.address_, std::max<uint64_t>(bytes, 1)), "cuMemAlloc",
                   bytes));
  return memory;
}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  if (this != &other) {
    Free();
    context_ = other.context_;
    address_ = std::exchange(other.address_, 0);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

void DeviceMemory::Free() {
  if (address_ != 0 && !context_->lost()) context_->driver().MemFree(address_);
  address_ = 0;
}

Result<HostFlag> HostFlag::Create(Context& context) {
  const CudaDriver& driver = context.driver();
  HostFlag flag;
  flag.context_ = &context;
  void* word = nullptr;
  WW_TRY(driver.Check(driver.MemHostAlloc(&word, sizeof(uint32_t), CU_MEMHOSTALLOC_DEVICEMAP), "cuMemHostAlloc"));
  flag.word_ = static_cast<uint32_t*>(word);
  flag.Set(0);
  WW_TRY(driver.Check(driver.MemHostGetDevicePointer(&flag.address_, word, 0), "cuMemHostGetDevicePointer"));
  return flag;
}

HostFlag& HostFlag::operator=(HostFlag&& other) noexcept {
  if (this != &other) {
    Free();
    context_ = other.context_;
    word_ = std::exchange(other.word_, nullptr);
    address_ = other.address_;
  }
  return *this;
}

void HostFlag::Set(uint32_t value) { std::atomic_ref<uint32_t>(*word_).store(value, std::memory_order_release); }

void HostFlag::Free() {
  if (word_ != nullptr && !context_->lost()) context_->driver().MemFreeHost(word_);
  word_ = nullptr;
}

Result<MappedMemory> MappedMemory::Map(Context& context, uint64_t bytes) {
  const CudaDriver& driver = context.driver();
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, {context.device()}};
  size_t page = 0;
  WW_TRY(driver.Check(driver.MemGetAllocationGranularity(&page, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
                      "cuMemGetAllocationGranularity"));
  MappedMemory memory;
  memory.context_ = &context;
  memory.page_ = page;
  memory.mapped_ = std::max<uint64_t>(1, (bytes + page - 1) / page) * page;
  WW_TRY(driver.Check(driver.MemAddressReserve(&memory.reserved_, memory.mapped_ + 2 * page, page, 0, 0),
                      "cuMemAddressReserve"));
  WW_TRY(Allocated(context, driver.MemCreate(&memory.handle_, memory.mapped_, &properties, 0), "cuMemCreate",
                   memory.mapped_));
  memory.has_handle_ = true;
  WW_TRY(driver.Check(driver.MemMap(memory.address(), memory.mapped_, 0, memory.handle_, 0), "cuMemMap"));
  memory.is_mapped_ = true;
  WW_TRY(memory.Access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  return memory;
}

Status MappedMemory::Access(CUmemAccess_flags flags) {
  CUmemAccessDesc access{};
  access.location = {CU_MEM_LOCATION_TYPE_DEVICE, {context_->device()}};
  access.flags = flags;
  return context_->driver().Check(context_->driver().MemSetAccess(address(), mapped_, &access, 1), "cuMemSetAccess");
}

Status MappedMemory::Protect() { return Access(CU_MEM_ACCESS_FLAGS_PROT_READ); }

MappedMemory::MappedMemory(MappedMemory&& other) noexcept
    : context_(other.context_),
      reserved_(std::exchange(other.reserved_, 0)),
      page_(other.page_),
      mapped_(other.mapped_),
      handle_(other.handle_),
      has_handle_(std::exchange(other.has_handle_, false)),
      is_mapped_(std::exchange(other.is_mapped_, false)) {}

MappedMemory::~MappedMemory() {
  if (reserved_ == 0 || context_->lost()) return;
  const CudaDriver& driver = context_->driver();
  if (is_mapped_) driver.MemUnmap(address(), mapped_);
  if (has_handle_) driver.MemRelease(handle_);
  driver.MemAddressFree(reserved_, mapped_ + 2 * page_);
}

}  // namespace warpwright::gpu
