// Where an access goes, as a shadow and the speculative loads see it.
#pragma once

#include <cstring>

#include "sim/exec/context.h"
#include "sim/memory.h"

namespace warpwright::sim {

struct AccessAddress {
  Space space = Space::kGlobal;  // never generic
  uint64_t address = 0;          // in a window: the offset in it
};

// A generic address: its space, and the offset in a window.
inline AccessAddress InWindow(const Memory& memory, uint64_t generic) {
  const uint64_t address = generic - memory.window_shift();
  const Space space = WindowOf(address);
  return {space, space == Space::kGlobal ? generic : address - WindowBase(space)};
}

// Of one lane. `operand`: which of the instruction's registers has the address.
inline AccessAddress AddressOf(const Context& c, const Instruction& in, int operand, uint32_t lane) {
  const std::byte* base = c.registers + in.reg[operand];
  uint64_t address = static_cast<uint64_t>(in.immediate);
  if (in.address64) {
    uint64_t value;
    std::memcpy(&value, base + lane * 8, 8);
    address += value;
  } else {
    uint32_t value;
    std::memcpy(&value, base + lane * 4, 4);
    address = (address + value) & UINT32_MAX;
  }
  return in.space == Space::kGeneric ? InWindow(*c.memory, address) : AccessAddress{in.space, address};
}

}  // namespace warpwright::sim
