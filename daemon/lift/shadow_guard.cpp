// Instructions under a guard that depends on data: what they change is a choice between the new and the old.
#include <bit>
#include <cstring>

#include "lift/expression_shadow.h"

namespace warpwright::lift {
namespace {

using sim::Context;
using sim::Instruction;
using sim::Op;

// What is expressed from operands and memory alone. Others are taken as they happen to run.
bool CanBeFollowed(const Instruction& in) {
  switch (in.op) {
    case Op::kLoad:
    case Op::kExit:
    case Op::kTrap:
    case Op::kPrint:
    case Op::kAssertFail:
    case Op::kUnsupported:
    case Op::kBarrier:
    case Op::kBarrierArrive:
    case Op::kBarrierReduce:
    case Op::kWarpBarrier:
    case Op::kShuffle:
    case Op::kVote:
    case Op::kMatchAny:
    case Op::kMatchAll:
    case Op::kRedux:
    case Op::kActiveMask:
    case Op::kElect:
    case Op::kClock:
    case Op::kIsSpace: return false;
    default: return true;
  }
}

}  // namespace

// `lanes`: those that run it.
void ExpressionShadow::CaptureGuard(const Context& c, const Instruction& in, uint32_t lanes) {
  guard_.instruction = &in;
  guard_.symbolic = 0;
  guard_.runs = guard_.may_run = lanes;
  if (in.guard == sim::kNoOperand) return;
  guard_.runs = lanes & (PredicateBits(c, in.guard) ^ (in.guard_negated ? sim::kAllLanes : 0));
  const Registers& registers = Here(c);
  const uint32_t slot = SlotOf(in.guard), symbolic = registers.symbolic[slot] & c.mask;
  guard_.may_run = guard_.runs | symbolic;
  if (symbolic == 0) return;
  if (in.speculative) {
    if ((symbolic & ~lanes) != 0) LossyAt(in, "a load that other data lead to cannot be made");
    return;
  }
  if (!CanBeFollowed(in)) return RecordPredicates(c, in, in.guard, in.guard_negated, c.mask);
  guard_.symbolic = symbolic;
  for (uint32_t m = symbolic; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const ExprId id = registers.ids[slot][lane];
    guard_.ids[lane] = in.guard_negated ? builder_.Not(id) : id;
  }
  for (int k = 0; k < in.defs; ++k) Capture(c, in, k, sim::kAllLanes);
}

ExprId ExpressionShadow::Guarded(uint32_t lane, ExprId changed, ExprId old) {
  return IsGuarded(lane) ? builder_.Select(builder_[changed].type, guard_.ids[lane], changed, old) : changed;
}

// What a register that the instruction writes holds afterwards.
ExprId ExpressionShadow::GuardedRegister(uint32_t offset, uint32_t lane, ExprId id) {
  if (id == kConcrete) {
    if (!builder_.graph().full()) LossyAt(*guard_.instruction, "an instruction under a condition has no expression");
    return kConcrete;
  }
  int k = 0;
  while (guard_.instruction->reg[k] != offset) ++k;
  const sim::Type type = builder_[id].type;
  return Guarded(lane, id, type == sim::Type::kPred ? PredicateArg(k, lane, false) : Arg(k, lane, type));
}

// What the k-th element holds after a store of which some lane's guard depends on data.
ExprId ExpressionShadow::StoreGuarded(const Context& c, const Instruction& in, uint32_t lane, uint32_t lanes, int k) {
  const auto bytes = static_cast<uint32_t>(sim::ByteSize(in.type));
  const sim::Type type = BitsType(static_cast<int>(8 * bytes));
  const Target target = Resolve(c, in, 0, lane);
  const auto at = static_cast<size_t>(k);
  ExprId id = Arg(1 + k, lane, type);
  if (IsGuarded(lane)) {
    const uint64_t offset = target.offset + at * bytes;
    uint64_t bits = before_[lane][at];
    if (InRegion(target, bytes * in.vector)) std::memcpy(&bits, content_.data() + (offset - region_.begin), bytes);
    const ExprId old = target.memory->Read(builder_, offset, bytes, bits);
    id = Guarded(lane, id, old == kConcrete ? builder_.Const(type, bits) : old);
  }
  for (uint32_t m = lanes & static_cast<uint32_t>(-(int64_t{2} << lane)); m != 0; m &= m - 1) {
    const auto later = static_cast<uint32_t>(std::countr_zero(m));
    const Target other = Resolve(c, in, 0, later);
    if (other.memory == target.memory && other.offset == target.offset) before_[later][at] = builder_[id].concrete;
  }
  return id;
}

}  // namespace warpwright::lift
