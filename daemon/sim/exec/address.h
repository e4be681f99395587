// Where an access goes, as a shadow and the speculative loads see it.
#pragma once

#include <bit>
#include <cstring>

#include "sim/exec/context.h"

namespace warpwright::sim {

struct AccessAddress {
  Space space = Space::kGlobal;  // never generic
  uint64_t address = 0;          // in a window: the offset in it
};

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
  if (in.space != Space::kGeneric) return {in.space, address};
  constexpr uint64_t kWindow = uint64_t{1} << 40;
  switch (address / kWindow) {
    case 1: return {Space::kShared, address % kWindow};
    case 2: return {Space::kLocal, address % kWindow};
    case 3: return {Space::kParam, address % kWindow};
    default: return {Space::kGlobal, address};
  }
}

}  // namespace warpwright::sim
