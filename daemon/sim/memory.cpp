#include "sim/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "base/random.h"

namespace warpwright::sim {

const uint64_t kGlobalBase = 0x0000'7f00'0000'0000 + ((base::SecretSeed() % 0x2000) << 25);

namespace {

constexpr uint64_t kGuardGap = 64 * 1024;
// Of scattered memory: where it begins, how its allocations are aligned as drivers align them, and what windows keep.
constexpr uint64_t kLeastScattered = 0x7000'0000'0000, kScatteredUnits = 1ull << 34, kScatteredUnit = 512;
constexpr uint64_t kPage = 2ull << 20, kGapUnits = 1ull << 15, kWindowShifts = 0x60'0000, kWindowUnit = 1ull << 24;
constexpr uint64_t kTotalLimit = 64ull << 30, kSparseLimit = 512ull << 30;
constexpr uint64_t kMadeBytes = 64;  // at once, of a content that is made where it is touched
// Of an input that is mapped over and over: how long its file may be, and how often it is mapped, which the system
// limits.
constexpr uint64_t kPageBytes = 4096, kMostMapped = 256ull << 20, kMostMappings = 16'384;

// The bytes [at, at + bytes) of a content that is repeated without end.
void CopyRepeated(std::span<const std::byte> content, uint64_t at, uint64_t bytes, std::byte* to) {
  if (content.size() == 1) {
    std::memset(to, std::to_integer<int>(content[0]), bytes);
    return;
  }
  for (uint64_t from = at % content.size(), done = 0; done < bytes; from = 0) {
    const uint64_t piece = std::min(bytes - done, content.size() - from);
    std::memcpy(to + done, content.data() + from, piece);
    done += piece;
  }
}

// Neighbouring threads ask for the same bytes one after the other: the first of them makes them.
void MakeContent(const Allocation& allocation, uint64_t offset, uint64_t bytes) {
  const auto has_value = [](uint8_t written) { return written != 0; };
  const uint8_t* asked = allocation.written + offset;
  if (std::all_of(asked, asked + bytes, has_value)) return;
  const uint64_t last = std::min(allocation.bytes, AlignUp(offset + bytes, kMadeBytes));
  for (uint64_t at = offset / kMadeBytes * kMadeBytes; at < last; at += kMadeBytes) {
    const uint64_t made = std::min(kMadeBytes, last - at);
    uint8_t* written = allocation.written + at;
    std::array<std::byte, kMadeBytes> values;
    CopyRepeated(allocation.content, at, made, values.data());
    if (std::none_of(written, written + made, has_value)) {
      std::memcpy(allocation.data + at, values.data(), made);
    } else {
      for (uint64_t i = 0; i < made; ++i)
        if (written[i] == 0) allocation.data[at + i] = values[i];
    }
    std::memset(written, 0xff, made);
  }
}

// Where the run of bytes at `at` that are all written, or all not, ends.
uint64_t EndOfRun(const uint8_t* written, uint64_t at, uint64_t end) {
  const bool value = written[at] != 0;
  while (at < end) {
    uint64_t eight = 0;
    while (end - at >= 8 && (std::memcpy(&eight, written + at, 8), eight == (value ? UINT64_MAX : 0))) at += 8;
    const uint64_t next = std::min(end, at + 8);
    for (; at < next; ++at)
      if ((written[at] != 0) != value) return at;
  }
  return end;
}

}  // namespace

void FreeBlock::operator()(void* memory) const {
  if (mapped == 0) return std::free(memory);
  ::munmap(memory, mapped);
  ::close(file);
}

// Sparse blocks are files of memory, which no limit on private memory counts: only what is touched exists.
template <typename T>
Result<Memory::Block<T>> Memory::NewBlock(uint64_t bytes, bool sparse, std::string_view name) {
  const auto failed = [&] {
    return Fail(ErrorCode::kEnvironment, fmt::format("out of memory allocating {} bytes for {}", bytes, name));
  };
  if (!sparse) {
    void* block = std::calloc(bytes, 1);
    if (block == nullptr) return failed();
    return Block<T>(static_cast<T*>(block));
  }
  const int file = ::memfd_create("warpwright-sparse", MFD_CLOEXEC);
  void* block = file < 0 || ::ftruncate(file, static_cast<off_t>(bytes)) != 0
                    ? MAP_FAILED
                    : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (block != MAP_FAILED) return Block<T>(static_cast<T*>(block), FreeBlock{bytes, file});
  if (file >= 0) ::close(file);
  return failed();
}

// Where a content and pages have a common multiple that is no longer than this, the length of the file that is mapped.
std::optional<uint64_t> Memory::MappedBytes(uint64_t bytes, const AllocationOptions& options) {
  if (!options.sparse || !options.read_only || options.content.empty()) return std::nullopt;
  const uint64_t period = std::lcm(options.content.size(), kPageBytes);
  const uint64_t mapped = AlignUp(std::max(period, bytes / kMostMappings), period);
  return mapped <= kMostMapped ? std::optional(mapped) : std::nullopt;
}

// Nobody writes it, and nobody is told what was touched of it: its pages are those of one file, so that what is read of
// gigabytes costs neither memory nor its making. The content begins where the allocation does.
Result<Memory::Block<std::byte>> Memory::NewMapped(uint64_t bytes, uint64_t file_bytes,
                                                   const AllocationOptions& options, std::string_view name) {
  WW_ASSIGN(Block<std::byte> block, NewBlock<std::byte>(AlignUp(bytes, kPageBytes), true, name));
  WW_ASSIGN(Block<std::byte> file, NewBlock<std::byte>(file_bytes, true, name));
  const uint64_t size = options.content.size();
  CopyRepeated(options.content, size - options.misalignment % size, file_bytes, file.get());
  for (uint64_t at = 0; at < bytes; at += file_bytes) {
    const uint64_t length = AlignUp(std::min(file_bytes, bytes - at), kPageBytes);
    if (::mmap(block.get() + at, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.get_deleter().file, 0) ==
        MAP_FAILED)
      return Fail(ErrorCode::kEnvironment, fmt::format("cannot map {} bytes for {}", bytes, name));
  }
  return block;
}

void Memory::Scatter() {
  placement_ = static_cast<Placement>(1 + base::SecretSeed() % 3);
  next_base_ = kLeastScattered + base::SecretSeed() % kScatteredUnits * kScatteredUnit;
  window_shift_ = base::SecretSeed() % kWindowShifts * kWindowUnit;
}

Result<uint64_t> Memory::Allocate(std::string_view name, uint64_t bytes, const AllocationOptions& options) {
  if (options.misalignment >= 256) return Fail(ErrorCode::kUsage, "a misalignment of an allocation is below 256");
  uint64_t& total = options.sparse ? sparse_bytes_ : total_bytes_;
  const uint64_t limit = options.sparse ? kSparseLimit : kTotalLimit;
  if (bytes > limit || total + bytes > limit)
    return Fail(ErrorCode::kUnsupported,
                fmt::format("allocating {} bytes for {}: more than the simulator's {} GiB", bytes, name, limit >> 30));
  if (placement_ != Placement::kPacked) {
    const uint64_t drawn = base::SecretSeed();
    const bool at_page = placement_ == Placement::kPaged || (placement_ == Placement::kEither && (drawn & 1) != 0);
    next_base_ = at_page ? AlignUp(next_base_, kPage)
                         : AlignUp(next_base_, kScatteredUnit) + (drawn >> 1) % kGapUnits * kScatteredUnit;
  }
  Storage storage;
  const std::optional<uint64_t> mapped = MappedBytes(bytes + 512, options);
  WW_ASSIGN(storage.data, mapped ? NewMapped(bytes + 512, *mapped, options, name)
                                 : NewBlock<std::byte>(bytes + 512, options.sparse, name));
  if (!options.initialized || (options.sparse && !mapped)) {
    WW_ASSIGN(storage.written, NewBlock<uint8_t>(bytes + 1, options.sparse, name));
  }
  const auto host = reinterpret_cast<uintptr_t>(storage.data.get());
  Allocation allocation;
  allocation.name = std::string(name);
  allocation.base = next_base_ + options.misalignment;
  allocation.bytes = bytes;
  allocation.element_bytes = options.element_bytes;
  allocation.read_only = options.read_only;
  allocation.data = storage.data.get() + (AlignUp(host, 256) - host) + options.misalignment;
  // There are 512 spare bytes: up to 255 for the alignment and 255 for the misalignment.
  allocation.written = storage.written.get();
  if (!mapped) allocation.content = options.content;
  if (storage.written && options.sparse) allocation.sparse_file = storage.written.get_deleter().file;
  next_base_ = AlignUp(next_base_ + bytes + 256 + kGuardGap, 256);
  total += bytes;
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
  std::memmove(to->written + (destination - to->base), from->written + (source - from->base), bytes);
}

void Memory::NoteRead(uint64_t address, uint64_t bytes) {
  const Allocation* from = Find(address);
  if (!from || !from->written || Bytes(address, bytes).size() != bytes) return;
  if (from->found || !from->content.empty()) NoteFound(*from, address - from->base, bytes);
}

Status Memory::BeginCall(uint64_t address) {
  const Allocation* at = Find(address);
  if (at == nullptr) return {};
  const auto index = static_cast<size_t>(at - allocations_.data());
  Allocation& allocation = allocations_[index];
  Storage& storage = storage_[index];
  if (!storage.found) {
    WW_ASSIGN(storage.found, NewBlock<uint8_t>(allocation.bytes + 1, false, allocation.name));
    for (uint64_t i = 0; i < allocation.bytes; ++i)
      storage.found[i] =
          allocation.written == nullptr || allocation.written[i] != 0 ? Allocation::kValue : Allocation::kNothing;
    if (!storage.written) {
      WW_ASSIGN(storage.written, NewBlock<uint8_t>(allocation.bytes + 1, false, allocation.name));
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

void Memory::SetContent(uint64_t address, std::span<const std::byte> content) {
  if (const Allocation* at = Find(address))
    allocations_[static_cast<size_t>(at - allocations_.data())].content = content;
}

std::vector<core::ByteRange> Memory::Values(const Allocation& allocation, uint64_t most) {
  constexpr size_t kMostRanges = 256;
  std::vector<core::ByteRange> ranges;
  uint64_t last = 0;  // where the last value ends
  off_t at = ::lseek(allocation.sparse_file, 0, SEEK_DATA);
  while (at >= 0) {
    const off_t hole = ::lseek(allocation.sparse_file, at, SEEK_HOLE);
    if (hole <= at) break;
    const uint64_t end = std::min(allocation.bytes, static_cast<uint64_t>(hole));
    for (auto begin = static_cast<uint64_t>(at); begin < end;) {
      const uint64_t stop = EndOfRun(allocation.written, begin, end);
      if (allocation.written[begin] != 0) {
        const bool joins = !ranges.empty() && ranges.back().end == begin;
        const uint64_t kept = ranges.size() < kMostRanges || joins ? std::min(most, stop - begin) : 0;
        if (joins) {
          ranges.back().end += kept;
        } else if (kept > 0) {
          ranges.push_back({begin, begin + kept});
        }
        most -= kept;
        last = stop;
      }
      begin = stop;
    }
    at = ::lseek(allocation.sparse_file, hole, SEEK_DATA);
  }
  if (last > 0 && (ranges.empty() || ranges.back().end != last)) ranges.push_back({last - 1, last});
  return ranges;
}

void NoteFound(const Allocation& allocation, uint64_t offset, uint64_t bytes) {
  if (!allocation.content.empty()) return MakeContent(allocation, offset, bytes);
  for (uint64_t i = offset; i < offset + bytes; ++i) {
    if (allocation.written[i] != 0 || allocation.found[i] == Allocation::kNothing) continue;
    allocation.found[i] = Allocation::kRead;
    allocation.written[i] = 0xff;
  }
}

}  // namespace warpwright::sim
