#include "sim/exec/shadowed.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/exec/address.h"
#include "sim/exec/taint.h"
#include "sim/shadow.h"

namespace warpwright::sim {
namespace {

using Stop = Context::Stop;

uint32_t RunningLanes(const Context& c, const Instruction& in) {
  if (in.guard == kNoOperand) return c.mask;
  uint32_t predicate;
  std::memcpy(&predicate, c.registers + in.guard, 4);
  return c.mask & (in.guard_negated ? ~predicate : predicate);
}

// Unwritten values are tracked here too: a read of one may only be reported once it is used.
const Instruction* Run(Context& c, const Instruction* i) {
  if (c.warp->tainted) return StepTainted(c, i);
  const Instruction* next = i->run[c.full](c, i);
  if (next || c.stop != Stop::kTaint) return next;
  c.stop = Stop::kNone;
  return c.resume;
}

// Could the lane load from its address, without a fault and a value that was never written?
bool MayLoad(const Context& c, const Instruction& in, uint32_t lane) {
  const uint32_t base = in.reg[in.defs];
  if (c.warp->tainted && (c.warp->taint[base / 4] >> lane & 1) != 0) return false;
  const auto [space, address] = AddressOf(c, in, in.defs, lane);
  const uint64_t element = static_cast<uint64_t>(ByteSize(in.type)), bytes = element * in.vector;
  if (address % bytes != 0) return false;
  const auto inside = [&](uint64_t size) { return bytes <= size && address <= size - bytes; };
  const auto all = [&](auto written) {
    for (uint64_t b = 0; b < bytes; ++b)
      if (written(b) == 0) return false;
    return true;
  };
  switch (space) {
    case Space::kShared:
      return inside(c.shared_bytes) && (!c.checking || all([&](uint64_t b) { return c.shared_written[address + b]; }));
    case Space::kLocal:
      return inside(c.local_bytes) && all([&](uint64_t b) {
               return c.warp->local_written[((address + b) >> 2) * 128 + lane * 4 + ((address + b) & 3)];
             });
    case Space::kParam: return inside(c.parameter_bytes);
    default: break;
  }
  const Allocation* allocation = c.memory->Find(address);
  if (!allocation || bytes > allocation->base + allocation->bytes - address) return false;
  const uint8_t* written = allocation->written;
  return !written || all([&](uint64_t b) { return written[address - allocation->base + b]; });
}

uint32_t SpeculativeLanes(const Context& c, const Instruction& in, uint32_t lanes) {
  for (uint32_t m = c.mask & ~lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    if (MayLoad(c, in, lane)) lanes |= 1u << lane;
  }
  return lanes;
}

// For these lanes, whatever its guard says.
const Instruction* RunFor(Context& c, const Instruction* i, uint32_t lanes) {
  Instruction unguarded = *i;
  unguarded.guard = kNoOperand;
  std::copy(std::begin(i->body), std::end(i->body), std::begin(unguarded.run));
  const uint32_t before = c.mask;
  if (lanes == 0) return i + 1;
  SetMask(c, lanes);
  const bool stopped = Run(c, &unguarded) == nullptr;
  SetMask(c, before);
  return stopped ? nullptr : i + 1;
}

}  // namespace

void ExecuteShadowed(Context& c, const Instruction* i) {
  c.stop = Stop::kNone;
  Shadow& shadow = *c.shadow;
  while (i) {
    if (i->op == Op::kHeader) {
      if (shadow.stopped()) {
        StopWithFault(c, i, core::Fault::Kind::kInstructionLimit, kLanes, "the shadow of the execution ended it");
        return;
      }
      i = Run(c, i);
      continue;
    }
    const Instruction& in = *i;
    uint32_t lanes = RunningLanes(c, in);
    if (in.speculative) lanes = SpeculativeLanes(c, in, lanes);
    shadow.Before(c, in, lanes);
    i = in.speculative ? RunFor(c, i, lanes) : Run(c, i);
    if (i || c.stop == Stop::kBarrier || c.stop == Stop::kSwitch || c.stop == Stop::kExit) shadow.After(c, in, lanes);
  }
}

}  // namespace warpwright::sim
