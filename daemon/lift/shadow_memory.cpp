// Loads, stores and atomics at concrete addresses.
#include <bit>
#include <cstring>

#include "lift/expression_shadow.h"
#include "sim/exec/address.h"

namespace warpwright::lift {

namespace {

constexpr std::string_view kUnknownRegion = "an access that other data lead to goes somewhere";

}  // namespace

using sim::AtomicOp;
using sim::Context;
using sim::Instruction;
using sim::Space;
using sim::Type;

ExpressionShadow::Target ExpressionShadow::Resolve(const Context& c, const Instruction& in, int operand,
                                                   uint32_t lane) {
  const auto& bits = operands_[static_cast<size_t>(operand)].bits;
  const auto offset = static_cast<uint64_t>(in.immediate);
  uint64_t address = in.address64
                         ? bits[lane] + offset
                         : static_cast<uint32_t>(reinterpret_cast<const uint32_t*>(bits.data())[lane] + offset);
  Space space = in.space;
  if (space == Space::kGeneric) {
    const sim::AccessAddress there = sim::InWindow(*c.memory, address);
    space = there.space;
    address = there.address;
  }
  const uint64_t bytes = static_cast<uint64_t>(sim::ByteSize(in.type)) * in.vector;
  switch (space) {
    case Space::kShared: return {.memory = shared_.get(), .offset = address};
    case Space::kLocal:
      return {.memory = local_.get(),
              .offset = (static_cast<uint64_t>(c.warp->index) * kLanes + lane) * c.local_bytes + address};
    case Space::kParam: return {.offset = address, .parameter = true};
    default: {
      MemoryShadow* memory = FindMemory(address, bytes);
      return {.memory = memory, .offset = memory ? address - memory->base() : address, .global = true};
    }
  }
}

void ExpressionShadow::Load(const Context& c, const Instruction& in, uint32_t lanes) {
  const auto bytes = static_cast<uint32_t>(sim::ByteSize(in.type));
  const uint32_t by_data = operands_[in.defs].symbolic & lanes;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const Target target = Resolve(c, in, in.defs, lane);
    if (IsForking() && target.global && (by_data >> lane & 1)) fork_->Fail();
    for (int k = 0; k < in.vector; ++k) {
      if (IsForking() && target.global && target.memory)
        fork_->Reads({target.memory, target.offset + static_cast<uint64_t>(k) * bytes}, bytes, Unit(c, lane));
      const uint64_t bits = ResultBits(c, in, k, lane, in.type);
      ExprId id = kConcrete;
      if (by_data >> lane & 1) {
        if (MayGoThere(in, lane, target)) id = LoadIndirect(in, lane, target, k);
        else if (guard_.may_run >> lane & 1) LossyAt(in, kUnknownRegion);
      } else if (target.memory)
        id = target.memory->Read(builder_, target.offset + static_cast<uint64_t>(k) * bytes, bytes, bits);
      else if (target.parameter) id = ScalarOf(bits, bytes);
      if (id != kConcrete && sim::IsSigned(in.type) && bytes < 4)
        id = builder_.Convert(Type::kS32, in.type, builder_.Coerce(id, in.type));
      if (id != kConcrete && in.wide_result && sim::IsSigned(in.type) && bytes < 8)
        id = builder_.Convert(Type::kS64, bytes < 4 ? Type::kS32 : in.type, id);
      Set(c, in.reg[k], lane, id);
    }
  }
}

void ExpressionShadow::Store(const Context& c, const Instruction& in, uint32_t lanes) {
  const auto bytes = static_cast<uint32_t>(sim::ByteSize(in.type));
  const uint32_t by_data = operands_[0].symbolic & lanes;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const Target target = Resolve(c, in, 0, lane);
    const bool indirect = (by_data >> lane & 1) != 0 && (InRegion(target, bytes) || IsOnlyFollowed(lane));
    if (indirect && !MayGoThere(in, lane, target)) {
      LossyAt(in, kUnknownRegion);
      continue;
    }
    if (!indirect && !target.memory) {
      if (IsGuarded(lane)) LossyAt(in, "a store that other data lead to cannot be made");
      continue;
    }
    for (int k = 0; k < in.vector; ++k) {
      const Type type = BitsType(static_cast<int>(8 * bytes));
      const bool symbolic = operands_[static_cast<size_t>(k) + 1].symbolic >> lane & 1;
      ExprId value = symbolic || by_data != 0 ? Arg(1 + k, lane, type) : kConcrete;
      const uint64_t offset = target.offset + static_cast<uint64_t>(k) * bytes;
      if (IsForking() && target.global && indirect) fork_->Fail();
      if (IsForking() && target.global) fork_->Writes({target.memory, offset}, bytes, Unit(c, lane));
      if (indirect) {
        StoreIndirect(in, lane, target, k, value);
        continue;
      }
      if (by_data >> lane & 1) LossyAt(in, "the address of a store depends on data");
      if (guard_.symbolic != 0) value = StoreGuarded(c, in, lane, lanes, k);
      target.memory->Write(offset, bytes, builder_.IsConst(value) ? kConcrete : value);
      if (by_data != 0 && InRegion(target, bytes)) UpdateContent(offset, bytes, builder_[value].concrete);
    }
  }
}

// The content of the captured region after a lane that knew where it stored.
void ExpressionShadow::UpdateContent(uint64_t offset, uint32_t bytes, uint64_t bits) {
  std::memcpy(content_.data() + (offset - region_.begin), &bits, bytes);
}

// What memory holds after one lane's turn; `old` is an expression or a constant.
ExprId ExpressionShadow::Updated(const Instruction& in, uint32_t lane, ExprId old, bool global) {
  const int value = in.defs + 1;
  const Type type = in.type, bits = UnsignedType(Width(type));
  auto add = [&](Type t, ExprId a, ExprId b) {
    const bool flush = global && t == Type::kF32;
    return builder_.Make({.op = ExprOp::kAdd, .type = t, .approx = flush, .flush = flush, .arity = 2, .args = {a, b}});
  };
  switch (static_cast<AtomicOp>(in.mode)) {
    case AtomicOp::kAdd: {
      // Under a condition, nothing is added where it does not hold: sums of such terms stay sums. -0 leaves every
      // float as it is.
      const auto added = [&](Type t, uint64_t nothing) {
        return Guarded(lane, Arg(value, lane, t), builder_.Const(t, nothing));
      };
      if (type == Type::kF16x2 || type == Type::kBf16x2) {
        const Type half = type == Type::kF16x2 ? Type::kF16 : Type::kBf16;
        const ExprId b = added(Type::kB32, 0x80008000u);
        auto part = [&](ExprId id, int first) { return builder_.Coerce(builder_.Extract(id, first, 16), half); };
        return builder_.Pack(add(half, part(old, 0), part(b, 0)), add(half, part(old, 16), part(b, 16)));
      }
      if (sim::IsFloat(type))
        return add(type, builder_.Coerce(old, type), added(type, uint64_t{1} << (Width(type) - 1)));
      return builder_.Binary(ExprOp::kIntAdd, type, old, added(type, 0));
    }
    case AtomicOp::kMin:
    case AtomicOp::kMax:
      return builder_.Binary(static_cast<AtomicOp>(in.mode) == AtomicOp::kMin ? ExprOp::kMin : ExprOp::kMax, type,
                             builder_.Coerce(old, type), Arg(value, lane, type));
    case AtomicOp::kAnd: return builder_.BitAnd(bits, old, Arg(value, lane, bits));
    case AtomicOp::kOr: return builder_.BitOr(bits, old, Arg(value, lane, bits));
    case AtomicOp::kXor: return builder_.BitXor(bits, old, Arg(value, lane, bits));
    case AtomicOp::kExch: return Arg(value, lane, BitsType(Width(type)));
    case AtomicOp::kInc: {
      const ExprId wraps = builder_.Compare(sim::Compare::kGe, Type::kU32, old, Arg(value, lane, Type::kU32));
      return builder_.Select(Type::kU32, wraps, builder_.Const(Type::kU32, 0),
                             builder_.Binary(ExprOp::kIntAdd, Type::kU32, old, builder_.Const(Type::kU32, 1)));
    }
    case AtomicOp::kDec: {
      const ExprId limit = Arg(value, lane, Type::kU32);
      const ExprId wraps =
          builder_.Or(builder_.Compare(sim::Compare::kEq, Type::kU32, old, builder_.Const(Type::kU32, 0)),
                      builder_.Compare(sim::Compare::kGt, Type::kU32, old, limit));
      return builder_.Select(Type::kU32, wraps, limit,
                             builder_.Binary(ExprOp::kIntSub, Type::kU32, old, builder_.Const(Type::kU32, 1)));
    }
    case AtomicOp::kCas: return Exchanged(bits, old, Arg(value, lane, bits), Arg(value + 1, lane, bits));
  }
  return kConcrete;
}

// Where the guard does not hold, too.
ExprId ExpressionShadow::UpdatedHere(const Instruction& in, uint32_t lane, ExprId old, bool global) {
  const ExprId updated = Updated(in, lane, old, global);
  return static_cast<AtomicOp>(in.mode) == AtomicOp::kAdd ? updated : Guarded(lane, updated, old);
}

// Compare and swap. A loop that adds by it reads a value, computes from it and tries again if another thread was
// quicker: then memory holds what was computed from that value, and whether it happens to be equal changes nothing.
ExprId ExpressionShadow::Exchanged(Type type, ExprId old, ExprId expected, ExprId desired) {
  if (old == expected) return desired;
  if (!builder_.IsConst(old) && !builder_.IsConst(expected) && builder_[old].concrete != builder_[expected].concrete &&
      IsDerivedFrom(old, expected)) {
    retries_.insert({expected, old});
    retries_.insert({old, expected});
    return old;
  }
  return builder_.Select(type, builder_.Compare(sim::Compare::kEq, type, old, expected), desired, old);
}

bool ExpressionShadow::IsDerivedFrom(ExprId id, ExprId origin) const {
  constexpr size_t kLimit = 256;
  std::vector<ExprId> open{id};
  for (size_t k = 0; k < open.size() && open.size() < kLimit; ++k)
    for (const ExprId arg : builder_[open[k]].arguments()) {
      if (arg == origin) return true;
      if (arg > origin) open.push_back(arg);
    }
  return false;
}

// In the order of the lanes, which is the simulator's.
void ExpressionShadow::Atomic(const Context& c, const Instruction& in, uint32_t lanes) {
  const auto bytes = static_cast<uint32_t>(sim::ByteSize(in.type));
  const Type type = IsIntegerType(in.type) ? in.type : BitsType(static_cast<int>(8 * bytes));
  const uint32_t by_data = operands_[in.defs].symbolic & lanes;
  std::array<uint64_t, kLanes> now;  // what memory holds at a lane's address
  std::array<Target, kLanes> targets;
  uint32_t done = 0;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const Target& target = targets[lane] = Resolve(c, in, in.defs, lane);
    if (IsForking() && target.global && (by_data >> lane & 1)) fork_->Fail();
    if (IsForking() && target.global && target.memory)
      fork_->Writes({target.memory, target.offset}, bytes, Unit(c, lane));  // which fails if another unit did
    now[lane] = before_[lane][0];
    for (uint32_t earlier = done; earlier != 0; earlier &= earlier - 1) {
      const auto l = static_cast<uint32_t>(std::countr_zero(earlier));
      if (targets[l].memory == target.memory && targets[l].offset == target.offset) now[lane] = now[l];
    }
    done |= 1u << lane;
    if ((by_data >> lane & 1) != 0 && (InRegion(target, bytes) || IsOnlyFollowed(lane))) {
      if (!MayGoThere(in, lane, target)) {
        LossyAt(in, kUnknownRegion);
        continue;
      }
      const ExprId before = AtomicIndirect(in, lane, target);
      if (in.defs == 1 && unread_[in.index]) SetConcrete(c, in, 1u << lane);
      else if (in.defs == 1) Set(c, in.reg[0], lane, before);
      if (InRegion(target, bytes)) std::memcpy(&now[lane], content_.data() + (target.offset - region_.begin), bytes);
      continue;
    }
    if (!target.memory) {
      if (IsGuarded(lane)) LossyAt(in, "an atomic operation that other data lead to cannot be made");
      continue;
    }
    if (by_data >> lane & 1) LossyAt(in, "the address of an atomic operation depends on data");
    ExprId old = target.memory->Read(builder_, target.offset, bytes, now[lane]);
    old = old == kConcrete ? builder_.Const(type, now[lane]) : builder_.Coerce(old, type);
    if (in.defs == 1) Set(c, in.reg[0], lane, old);
    const ExprId updated = UpdatedHere(in, lane, old, target.global);
    now[lane] = builder_[updated].concrete;
    target.memory->Write(target.offset, bytes, builder_.IsConst(updated) ? kConcrete : updated);
    if (by_data != 0 && InRegion(target, bytes)) UpdateContent(target.offset, bytes, now[lane]);
  }
}

// What memory holds, as the simulator has it.
uint64_t ExpressionShadow::ContentAt(const Context& c, const Target& target, uint64_t plus, uint64_t bytes) const {
  const uint64_t offset = target.offset + plus;
  uint64_t bits = 0;
  auto* to = reinterpret_cast<std::byte*>(&bits);
  if (target.memory == shared_.get()) {
    if (offset + bytes <= c.shared_bytes) std::memcpy(to, c.shared + offset, bytes);
  } else if (target.memory == local_.get()) {
    const uint64_t lane = offset / c.local_bytes % kLanes, at = offset % c.local_bytes;
    for (uint64_t b = 0; b < bytes; ++b) to[b] = c.warp->local[((at + b) >> 2) * 128 + lane * 4 + ((at + b) & 3)];
  } else if (target.global && target.memory) {
    const auto content = c.memory->Bytes(target.memory->base() + offset, bytes);
    if (!content.empty()) std::memcpy(to, content.data(), bytes);
  }
  return bits;
}

// What memory holds before an atomic operation or a guarded store.
void ExpressionShadow::CaptureMemory(const Context& c, const Instruction& in, uint32_t lanes) {
  const auto bytes = static_cast<uint64_t>(sim::ByteSize(in.type));
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const Target target = Resolve(c, in, in.defs, lane);
    for (uint64_t k = 0; k < in.vector; ++k) before_[lane][k] = ContentAt(c, target, k * bytes, bytes);
  }
}

}  // namespace warpwright::lift
