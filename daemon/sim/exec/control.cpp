// Headers of basic blocks, branches, exits, guards, and the loop that runs them all.
#include "sim/exec/lanes.h"
#include "sim/exec/services.h"
#include "sim/exec/visibility.h"

namespace warpwright::sim::v3 {
namespace {

using Stop = Context::Stop;

template <bool kMayReconverge>
const Instruction* Header(Context& c, const Instruction* i) {
  if (kMayReconverge && c.reconverge == i->block) return ReachReconvergence(c);
  if ((c.slice | c.budget) < 0) {
    c.stop = Stop::kYield;
    c.resume = i;
    return nullptr;
  }
  const auto lanes = static_cast<uint64_t>(std::popcount(c.mask));
  c.block_entries[i->block] += 1;
  c.block_lanes[i->block] += lanes;
  c.slice -= i->immediate + 1;
  c.budget -= static_cast<int64_t>(lanes) * i->immediate + 1;
  return i + 1;
}

const Instruction* BranchAlways(Context& c, const Instruction* i) { return c.code + c.blocks[i->block].header; }

const Instruction* Branch(Context& c, const Instruction* i) {
  const uint32_t predicate = *Reg<uint32_t>(c, i->reg[0]) ^ (i->negate_predicate ? kAllLanes : 0);
  const uint32_t taken = predicate & c.mask;
  if (taken == 0) return i + 1;
  if (taken == c.mask) return c.code + c.blocks[i->block].header;
  return Diverge(c, i, taken);
}

const Instruction* Exit(Context& c, const Instruction* i) { return ExitLanes(c, i, c.mask); }

const Instruction* GuardedExit(Context& c, const Instruction* i) {
  const uint32_t predicate = *Reg<uint32_t>(c, i->guard) ^ (i->guard_negated ? kAllLanes : 0);
  const uint32_t on = predicate & c.mask;
  c.guard_off[i->index] += static_cast<uint64_t>(std::popcount(c.mask & ~on));
  return on == 0 ? i + 1 : ExitLanes(c, i, on);
}

template <bool kFull>
const Instruction* Guarded(Context& c, const Instruction* i) {
  const uint32_t predicate = *Reg<uint32_t>(c, i->guard) ^ (i->guard_negated ? kAllLanes : 0);
  const uint32_t before = c.mask, on = predicate & before;
  if (on == before) return i->body[kFull ? 1 : 0](c, i);
  c.guard_off[i->index] += static_cast<uint64_t>(std::popcount(before & ~on));
  if (on == 0) return i + 1;
  SetMask(c, on);
  const Instruction* next = i->body[0](c, i);
  SetMask(c, before);
  return next;
}

const Instruction* Nop(Context&, const Instruction* i) { return i + 1; }

const Instruction* Fence(Context& c, const Instruction* i) {
  if (c.order) OrderFence(c);
  if (c.visibility && i->mode != 0) c.visibility->NoteFence(c);
  return i + 1;
}

const Instruction* Unsupported(Context& c, const Instruction* i) {
  return StopWithText(c, i, core::Fault::Kind::kNotSimulated);
}
const Instruction* Trap(Context& c, const Instruction* i) { return StopWithText(c, i, core::Fault::Kind::kTrap); }

}  // namespace

HandlerPair SelectControl(const Instruction& in) {
  switch (in.op) {
    case Op::kHeader:
      return in.reconverge != kNoBlock ? HandlerPair{Header<true>, Header<true>}
                                       : HandlerPair{Header<false>, Header<false>};
    case Op::kBranch: return in.operands > 0 ? HandlerPair{Branch, Branch} : HandlerPair{BranchAlways, BranchAlways};
    case Op::kEnd: return {Exit, Exit};
    case Op::kExit: return in.guard != kNoOperand ? HandlerPair{GuardedExit, GuardedExit} : HandlerPair{Exit, Exit};
    case Op::kNop: return {Nop, Nop};
    case Op::kFence: return {Fence, Fence};
    case Op::kUnsupported: return {Unsupported, Unsupported};
    case Op::kTrap: return {Trap, Trap};
    default: return {};
  }
}

HandlerPair GuardedHandlers();
HandlerPair GuardedHandlers() { return {Guarded<false>, Guarded<true>}; }

HandlerPair Select(const Instruction& in) {
  for (auto select : {SelectControl, SelectMove, SelectInteger, SelectBits, SelectFloat, SelectMath, SelectHalf,
                      SelectCompare, SelectConvert, SelectMemory, SelectAtomic, SelectAsync, SelectMatrix,
                      SelectMatrixMemory, SelectWarpgroup, SelectWarp}) {
    if (const HandlerPair pair = select(in); pair.masked) return pair;
  }
  return {};
}

void Execute(Context& c, const Instruction* i) {
  c.stop = Stop::kNone;
  while (i) i = i->run[c.full](c, i);
}

}  // namespace warpwright::sim::v3
