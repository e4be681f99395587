// The device's address space. Allocations have a name for messages, a guard gap around them (no two are adjacent, so
// that an access past the end of one never lands in another), and, unless fully initialised, a shadow byte for every
// byte that records whether it was ever written.
//
// Generic addresses are 64 bits; windows are distinguished by their upper half, less Memory::window_shift():
//   [kSharedWindow, +4 GiB)  the block's shared memory        [kLocalWindow, +4 GiB)  the thread's local memory
//   [kParamWindow, +4 GiB)   the kernel's parameters          [kGlobalBase, ...)      global and constant memory
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/state_use.h"
#include "sim/instruction.h"
#include "sim/program.h"

namespace warpwright::sim {

inline constexpr uint64_t kSharedWindow = 0x0000'0100'0000'0000;
inline constexpr uint64_t kLocalWindow = 0x0000'0200'0000'0000;
inline constexpr uint64_t kParamWindow = 0x0000'0300'0000'0000;
// Drawn once in a process from where drivers place memory, for runs that are counted: caches are modelled by addresses,
// and equal code shall have equal counters. Memory of other runs is scattered (Memory::Scatter).
extern const uint64_t kGlobalBase;

// Of a generic address without the shift of its memory.
inline Space WindowOf(uint64_t address) {
  switch (address >> 40) {
    case 1: return Space::kShared;
    case 2: return Space::kLocal;
    case 3: return Space::kParam;
    default: return Space::kGlobal;
  }
}
constexpr uint64_t WindowBase(Space space) {
  return space == Space::kShared  ? kSharedWindow
         : space == Space::kLocal ? kLocalWindow
         : space == Space::kParam ? kParamWindow
                                  : 0;
}

constexpr uint64_t AlignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

struct Allocation {
  std::string name;
  uint64_t base = 0;  // device address of the first byte
  uint64_t bytes = 0;
  uint32_t element_bytes = 0;  // of the declared type; 0: not known
  bool read_only = false;
  std::byte* data = nullptr;   // host address of the first byte; congruent to `base` modulo 64
  uint8_t* written = nullptr;  // 0xff for each byte that has a value; nullptr: all have one
  // Of memory that outlives a call: what the call found there. `written` then is about this call alone.
  uint8_t* found = nullptr;
  int sparse_file = -1;  // of memory that is made where it is touched: `written`, whose holes nothing has touched
  // What such memory holds where nothing has written, over and over.
  std::span<const std::byte> content;
  static constexpr uint8_t kNothing = 0, kValue = 1, kRead = 2;  // kRead: before this call wrote it
};

struct AllocationOptions {
  uint32_t element_bytes = 0;
  bool read_only = false;
  bool initialized = true;    // false: reads before writes are faults
  uint64_t misalignment = 0;  // added to the 256-byte aligned base
  // Made where it is touched: more than the machine has may be allocated so. `content` outlives the memory. What is
  // read-only as well is cheapest where the content's length has a small multiple in common with a page's.
  bool sparse = false;
  std::span<const std::byte> content = {};
};

// Notes that bytes which the call has not written are read, where it found a value there, or there is a content to
// make: they count as written then.
void NoteFound(const Allocation& allocation, uint64_t offset, uint64_t bytes);

struct FreeBlock {
  uint64_t mapped = 0;  // bytes; 0: of the heap
  int file = -1;        // that is mapped
  void operator()(void* memory) const;
};

class Memory {
 public:
  Memory() = default;
  Memory(Memory&&) = default;
  Memory& operator=(Memory&&) = default;

  // Before the first allocation: everything lies where nothing else that is run has it, in every bit that allocators
  // leave open, or at the beginnings of pages, as large buffers do. A kernel that asks for an address learns nothing of
  // where it runs, and nothing that the next run has as well.
  void Scatter();
  // Added to the windows of generic addresses.
  uint64_t window_shift() const { return window_shift_; }

  // Zeroed. Fails beyond 64 GiB in total, of sparse memory beyond 512 GiB.
  Result<uint64_t> Allocate(std::string_view name, uint64_t bytes, const AllocationOptions& options = {});
  // Allocates the module's variables and writes their initial values; once per Memory. `Machine` looks up their
  // addresses here.
  Status LoadModule(const Program& program);
  uint64_t variable_address(uint32_t variable) const { return variables_[variable]; }
  size_t variable_count() const { return variables_.size(); }

  const Allocation* Find(uint64_t address) const;         // nullptr: no allocation holds it
  const Allocation* FindNearest(uint64_t address) const;  // for messages
  const Allocation* FindByName(std::string_view name) const;
  // The host bytes at [address, address + bytes); empty if that is not inside one allocation.
  std::span<std::byte> Bytes(uint64_t address, uint64_t bytes) const;
  // The first marks bytes as having values (memset, copy, upload), the second copies these marks from one range to
  // another. Before a copy, the third makes a content that is not there yet, and notes what of an earlier call is read.
  void MarkWritten(uint64_t address, uint64_t bytes);
  void CopyWritten(uint64_t destination, uint64_t source, uint64_t bytes);
  void NoteRead(uint64_t address, uint64_t bytes);
  // A call begins: what the allocation at `address` holds now is what the call finds. Reads of it are noted from here
  // on, and reads of what nothing has a value for are faults as before.
  Status BeginCall(uint64_t address);
  // Of sparse memory, whatever it was.
  void SetContent(uint64_t address, std::span<const std::byte> content);
  // Ranges of a sparse allocation, within it, that have values: the first `most` bytes, in few ranges, and the last
  // byte.
  static std::vector<core::ByteRange> Values(const Allocation& allocation, uint64_t most);

 private:
  template <typename T>
  using Block = std::unique_ptr<T[], FreeBlock>;
  // Zeroed.
  template <typename T>
  static Result<Block<T>> NewBlock(uint64_t bytes, bool sparse, std::string_view name);
  static std::optional<uint64_t> MappedBytes(uint64_t bytes, const AllocationOptions& options);
  static Result<Block<std::byte>> NewMapped(uint64_t bytes, uint64_t file_bytes, const AllocationOptions& options,
                                            std::string_view name);
  struct Storage {
    Block<std::byte> data;
    Block<uint8_t> written, found;
  };
  std::vector<Allocation> allocations_;  // by ascending base
  std::vector<Storage> storage_;
  std::vector<uint64_t> variables_;
  uint64_t next_base_ = kGlobalBase, window_shift_ = 0;
  enum class Placement : uint8_t { kPacked, kPaged, kScattered, kEither };
  Placement placement_ = Placement::kPacked;
  uint64_t total_bytes_ = 0, sparse_bytes_ = 0;
};

}  // namespace warpwright::sim
