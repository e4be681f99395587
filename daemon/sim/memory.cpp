#include "sim/memory.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace warpwright::sim {
namespace {

constexpr uint64_t kGuardGap = 64 * 1024;
constexpr uint64_t kTotalLimit = 64ull << 30;

}  // namespace

Result<uint64_t> Memory::Allocate(std::string_view name, uint64_t bytes, const AllocationOptions& options) {
  if (options.misalignment >= 256) return Fail(ErrorCode::kUsage, "a misalignment of an allocation is below 256");
  if (bytes > kTotalLimit || total_bytes_ + bytes > kTotalLimit)
    return Fail(ErrorCode::kUnsupported,
                fmt::format("allocating {} bytes for {}: more than the simulator's 64 GiB", bytes, name));
  Storage storage;
  try {
    storage.data = std::make_unique<std::byte[]>(bytes + 512);
    if (!options.initialized) storage.written = std::make_unique<uint8_t[]>(bytes + 1);
  } catch (const std::bad_alloc&) {
    return Fail(ErrorCode::kEnvironment, fmt::format("out of memory allocating {} bytes for {}", bytes, name));
  }
  const auto host = reinterpret_cast<uintptr_t>(storage.data.get());
  Allocation allocation;
  allocation.name = std::string(name);
  allocation.base = next_base_ + options.misalignment;
  allocation.bytes = bytes;
  allocation.read_only = options.read_only;
  allocation.data = storage.data.get() + (AlignUp(host, 256) - host) + options.misalignment;
  // make_unique gives 512 spare bytes: up to 255 for the alignment and 255 for the misalignment.
  allocation.written = storage.written.get();
  next_base_ = AlignUp(next_base_ + bytes + 256 + kGuardGap, 256);
  total_bytes_ += bytes;
  allocations_.push_back(std::move(allocation));
  storage_.push_back(std::move(storage));
  return allocations_.back().base;
}

Status Memory::LoadModule(const Program& program) {
  const auto& variables = program.variables();
  for (const ModuleVariable& variable : variables) {
    AllocationOptions options;
    options.read_only = variable.constant;
    if (variable.alignment > 256)
      return Fail(ErrorCode::kUnsupported, "variable " + variable.name + " is aligned to more than 256 bytes");
    WW_ASSIGN(uint64_t base, Allocate(variable.name, variable.bytes, options));
    const Allocation* allocation = Find(base);
    if (allocation && !variable.initial.empty())
      std::memcpy(allocation->data, variable.initial.data(),
                  std::min<uint64_t>(variable.initial.size(), variable.bytes));
    variables_.push_back(base);
  }
  for (size_t i = 0; i < variables.size(); ++i) {
    for (const auto& pointer : variables[i].pointers) {
      auto place = Bytes(variables_[i] + pointer.offset, sizeof(uint64_t));
      if (place.empty() || pointer.variable >= variables_.size())
        return Fail(ErrorCode::kCorrupt, "variable " + variables[i].name + " has a pointer outside itself");
      const uint64_t address = variables_[pointer.variable] + static_cast<uint64_t>(pointer.addend);
      std::memcpy(place.data(), &address, sizeof(address));
    }
  }
  return {};
}

const Allocation* Memory::Find(uint64_t address) const {
  auto next = std::upper_bound(allocations_.begin(), allocations_.end(), address,
                               [](uint64_t a, const Allocation& b) { return a < b.base; });
  if (next == allocations_.begin()) return nullptr;
  --next;
  // An empty allocation still has its address.
  return address - next->base < std::max<uint64_t>(next->bytes, 1) ? &*next : nullptr;
}

const Allocation* Memory::FindNearest(uint64_t address) const {
  const Allocation* best = nullptr;
  uint64_t best_distance = kGuardGap;
  for (const Allocation& allocation : allocations_) {
    const uint64_t end = allocation.base + allocation.bytes;
    const uint64_t distance = address < allocation.base ? allocation.base - address
                              : address >= end          ? address - end
                                                        : 0;
    if (distance < best_distance) {
      best = &allocation;
      best_distance = distance;
    }
  }
  return best;
}

const Allocation* Memory::FindByName(std::string_view name) const {
  for (const Allocation& allocation : allocations_)
    if (allocation.name == name) return &allocation;
  return nullptr;
}

std::span<std::byte> Memory::Bytes(uint64_t address, uint64_t bytes) const {
  const Allocation* allocation = Find(address);
  if (!allocation) return {};
  const uint64_t offset = address - allocation->base;
  if (bytes > allocation->bytes - std::min(offset, allocation->bytes)) return {};
  return {allocation->data + offset, bytes};
}

void Memory::MarkWritten(uint64_t address, uint64_t bytes) {
  const Allocation* allocation = Find(address);
  if (!allocation || !allocation->written || Bytes(address, bytes).size() != bytes) return;
  std::memset(allocation->written + (address - allocation->base), 0xff, bytes);
}

void Memory::CopyWritten(uint64_t destination, uint64_t source, uint64_t bytes) {
  const Allocation* to = Find(destination);
  const Allocation* from = Find(source);
  if (!to || !from || !to->written) return;
  if (!from->written) return MarkWritten(destination, bytes);
  if (Bytes(destination, bytes).size() != bytes || Bytes(source, bytes).size() != bytes) return;
  if (from->found) NoteFound(*from, source - from->base, bytes);
  std::memmove(to->written + (destination - to->base), from->written + (source - from->base), bytes);
}

Status Memory::BeginCall(uint64_t address) {
  const Allocation* at = Find(address);
  if (at == nullptr) return {};
  const auto index = static_cast<size_t>(at - allocations_.data());
  Allocation& allocation = allocations_[index];
  Storage& storage = storage_[index];
  if (!storage.found) {
    try {
      storage.found = std::make_unique<uint8_t[]>(allocation.bytes + 1);
      for (uint64_t i = 0; i < allocation.bytes; ++i)
        storage.found[i] =
            allocation.written == nullptr || allocation.written[i] != 0 ? Allocation::kValue : Allocation::kNothing;
      if (!storage.written) storage.written = std::make_unique<uint8_t[]>(allocation.bytes + 1);
    } catch (const std::bad_alloc&) {
      return Fail(ErrorCode::kEnvironment, "out of memory for what is known of " + allocation.name);
    }
    allocation.found = storage.found.get();
    allocation.written = storage.written.get();
  } else {
    for (uint64_t i = 0; i < allocation.bytes; ++i)
      if (allocation.found[i] == Allocation::kNothing && allocation.written[i] != 0)
        allocation.found[i] = Allocation::kValue;
  }
  std::memset(allocation.written, 0, allocation.bytes);
  return {};
}

void NoteFound(const Allocation& allocation, uint64_t offset, uint64_t bytes) {
  for (uint64_t i = offset; i < offset + bytes; ++i) {
    if (allocation.written[i] != 0 || allocation.found[i] == Allocation::kNothing) continue;
    allocation.found[i] = Allocation::kRead;
    allocation.written[i] = 0xff;
  }
}

}  // namespace warpwright::sim
