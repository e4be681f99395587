// cp.async: copies from global to shared memory that their threads begin and later wait for. The source is read when a
// copy begins; its bytes arrive in shared memory when the thread waits for the group that it belongs to, and not
// before: until then the destination counts as unwritten, and a read of it is a fault that names the copy.
//
// For the race check a copy writes twice: when it begins (others must have finished reading) and when it has been
// waited for (others must meet the thread at a barrier before they read).
#pragma once

#include <cstring>

#include "sim/exec/context.h"

namespace warpwright::sim {

inline constexpr uint32_t kMaxCopyBytes = 16;  // of one lane

// What one warp instruction has begun, for the lanes that have not waited for it.
struct PendingCopy {
  const Instruction* at = nullptr;
  uint32_t lanes = 0, bytes = 0;
  uint64_t offset[kLanes] = {};  // in shared memory
  uint32_t group[kLanes] = {};   // of the lane's thread, counted from 0
  alignas(16) std::byte data[kLanes][kMaxCopyBytes] = {};
};

// Of one block.
struct AsyncCopies {
  explicit AsyncCopies(size_t warps) : pending(warps), groups(warps * kLanes) {}
  std::vector<std::vector<PendingCopy>> pending;  // by warp, in the order in which they began
  std::vector<uint32_t> groups;                   // by thread: committed ones
  AddressPattern pattern;                         // of what arrives
};

// Bytes that the lane reads: all, as many as an operand says, or none where a predicate says so. The rest is zero.
inline uint32_t SourceBytes(const Context& c, const Instruction& in, uint32_t lane) {
  if (in.operands == 2) return in.vector;
  uint32_t value;
  std::memcpy(&value, c.registers + in.reg[2] + (in.mode != 0 ? 0 : 4 * lane), 4);
  if (in.mode != 0) return (value >> lane & 1) != static_cast<uint32_t>(in.negate_predicate) ? 0 : in.vector;
  return value < in.vector ? value : in.vector;
}

// `offset` and `rows` of the active lanes: destinations and bytes.
void BeginCopies(Context& c, const Instruction* i, const uint64_t* offset, uint32_t bytes,
                 const std::byte (*rows)[kMaxCopyBytes]);
void CommitCopies(Context& c);
// All groups but the latest `remaining` of each active lane arrive. False after a fault.
bool WaitForCopies(Context& c, const Instruction* i, uint32_t remaining);
// The copy in flight, of any warp, to one of these bytes; nullptr: there is none.
const PendingCopy* FindCopy(const Context& c, uint64_t offset, uint32_t bytes);
// A lane is about to read bytes of shared memory that have no value: false after a fault, because a copy will write
// them. `lanes`: those that do, each `bytes` from `offset`.
bool CheckCopiesArrived(Context& c, const Instruction* i, const uint64_t* offset, uint32_t lanes, uint32_t bytes);
void ForgetCopies(Context& c);  // at the start of a block

}  // namespace warpwright::sim
