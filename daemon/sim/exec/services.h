// The cold side of the executor: messages, patterns that changed, counting, calls into the host. Compiled once, for any
// CPU.
#pragma once

#include <string>

#include "sim/exec/context.h"

namespace warpwright::sim {

// Fills a pattern from the active lanes' addresses; `bytes` is what one lane touches.
void FillPattern(AddressPattern& pattern, const uint64_t* address, uint32_t mask, uint32_t bytes);
// The lines and sectors that the pattern touches when the first lane's address has that phase.
void FindLines(const AddressPattern& pattern, uint32_t phase, AddressPattern::Lines& out);
inline const AddressPattern::Lines& LinesOf(AddressPattern& pattern, uint64_t first_address) {
  const uint32_t phase = static_cast<uint32_t>(first_address) & pattern.phase_mask;
  const uint32_t place = phase >> 4;
  if (pattern.phases[place] != phase) {
    FindLines(pattern, phase, pattern.lines[place]);
    pattern.phases[place] = phase;
  }
  return pattern.lines[place];
}
// The wavefronts of shared memory. `atomic`: lanes that hit the same word take turns.
void CountWavefronts(AddressPattern& pattern, uint64_t first_address, uint32_t bytes, bool atomic);
void NotifyObserver(Context& c, const Instruction* i, const AddressPattern::Lines& lines, uint64_t first_address,
                    MemoryRequest::Kind kind, uint32_t collisions = 0);
// For the address that most active lanes share: how many lanes have it, beyond the first.
uint32_t CountCollisions(const AddressPattern& pattern);
void NotifyLocal(Context& c, const Instruction* i, const uint64_t* offset, uint32_t bytes, bool write);

// What an access does, for messages.
enum class AccessKind : uint8_t { kRead, kWrite, kAtomic };

// Finds each lane's allocation: `delta` gets host addresses relative to the first lane's, which is returned. A lane
// that is outside all allocations, writes read-only memory or reads memory that was never written is a fault: nullptr.
std::byte* ResolveLanes(Context& c, const Instruction* i, const uint64_t* address, uint32_t bytes, AccessKind kind,
                        int64_t* delta);
const Instruction* StopOutOfBounds(Context& c, const Instruction* i, const uint64_t* address, uint32_t bytes,
                                   Space space, AccessKind kind);
const Instruction* StopMisaligned(Context& c, const Instruction* i, const uint64_t* address, uint32_t bytes,
                                  Space space, AccessKind kind);
const Instruction* StopReadOnly(Context& c, const Instruction* i, uint64_t address, uint32_t lane);
const Instruction* StopUninitialized(Context& c, const Instruction* i, uint64_t address, uint32_t lane, Space space);
// "shared memory at tile + 128" for messages.
std::string DescribeAddress(const Context& c, uint64_t address, Space space, uint32_t bytes);

const Instruction* StopNotAMember(Context& c, const Instruction* i, uint32_t lane, uint32_t members);
const Instruction* StopPartOfWarp(Context& c, const Instruction* i);  // it needs all 32 lanes
const Instruction* StopAbsentSource(Context& c, const Instruction* i, uint32_t lane, uint32_t source, uint32_t members);
const Instruction* StopWithText(Context& c, const Instruction* i,
                                core::Fault::Kind kind);  // ProgramCode::texts[i->text]
std::string InstructionName(const Instruction& i);

// __syncwarp: exec/race.cpp.
void SynchronizeLanes(Context& c, uint32_t members);

// exec/order.cpp. How threads order themselves by atomics, strong accesses and fences: a fence of the active lanes; an
// atomic of one lane, whose check has passed; a strong access that is about to run.
void OrderFence(Context& c);
void OrderAtomic(Context& c, uint32_t lane, uint64_t offset, uint32_t bytes, bool wrote);
void StartOrdering(Context& c);

// printf of one lane. Returns `i`, or nullptr after a fault.
const Instruction* PrintFormatted(Context& c, const Instruction* i, uint32_t lane, uint64_t format, uint64_t arguments);
const Instruction* StopWithAssertion(Context& c, const Instruction* i, uint32_t lane, uint64_t message, uint64_t file,
                                     uint32_t line);

}  // namespace warpwright::sim
