// Exchanges between the lanes of a warp.
#include <bit>

#include "lift/expression_shadow.h"

namespace warpwright::lift {

using sim::AtomicOp;
using sim::Context;
using sim::Instruction;
using sim::Type;

// Values move with the lanes that the simulator chose.
void ExpressionShadow::Shuffle(const Context& c, const Instruction& in, uint32_t lanes) {
  const auto d = static_cast<size_t>(in.defs);
  if ((operands_[d + 1].symbolic | operands_[d + 2].symbolic | operands_[d + 3].symbolic) & lanes)
    LossyAt(in, "the lane of a shuffle depends on data");
  const Operand& value = operands_[d];
  const auto* b = reinterpret_cast<const uint32_t*>(operands_[d + 1].bits.data());
  const auto* e = reinterpret_cast<const uint32_t*>(operands_[d + 2].bits.data());
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const auto by = static_cast<int>(b[lane] & 31), clamp = static_cast<int>(e[lane] & 31),
               segment = static_cast<int>(e[lane] >> 8 & 31);
    const int last = (lane & segment) | (clamp & ~segment), first = lane & segment;
    int source = 0;
    bool valid = false;
    switch (static_cast<sim::ShuffleMode>(in.mode)) {
      case sim::ShuffleMode::kUp: source = lane - by, valid = source >= last; break;
      case sim::ShuffleMode::kDown: source = lane + by, valid = source <= last; break;
      case sim::ShuffleMode::kBfly: source = lane ^ by, valid = source <= last; break;
      case sim::ShuffleMode::kIdx: source = first | (by & ~segment), valid = source <= last; break;
    }
    const auto from = static_cast<uint32_t>(valid ? source & 31 : lane);
    Set(c, in.reg[0], static_cast<uint32_t>(lane), value.symbolic >> from & 1 ? value.ids[from] : kConcrete);
    if (d == 2) Set(c, in.reg[1], static_cast<uint32_t>(lane), kConcrete);
  }
}

// redux.sync: over the lanes with the same members.
void ExpressionShadow::Reduce(const Context& c, const Instruction& in, uint32_t lanes) {
  const auto* members = reinterpret_cast<const uint32_t*>(operands_[2].bits.data());
  const Type type = in.type == Type::kB32 ? Type::kU32 : in.type;
  for (uint32_t left = lanes; left != 0;) {
    const uint32_t group_members = members[std::countr_zero(left)];
    uint32_t group = 0;
    for (uint32_t m = left; m != 0; m &= m - 1)
      if (members[std::countr_zero(m)] == group_members) group |= 1u << std::countr_zero(m);
    left &= ~group;
    ExprId result = kConcrete;
    for (uint32_t m = group; m != 0; m &= m - 1) {
      const ExprId term = Arg(1, static_cast<uint32_t>(std::countr_zero(m)), type);
      if (result == kConcrete) {
        result = term;
        continue;
      }
      switch (static_cast<AtomicOp>(in.mode)) {
        case AtomicOp::kAdd: result = builder_.Binary(ExprOp::kIntAdd, type, result, term); break;
        case AtomicOp::kMin: result = builder_.Binary(ExprOp::kMin, type, result, term); break;
        case AtomicOp::kMax: result = builder_.Binary(ExprOp::kMax, type, result, term); break;
        case AtomicOp::kAnd: result = builder_.BitAnd(type, result, term); break;
        case AtomicOp::kOr: result = builder_.BitOr(type, result, term); break;
        default: result = builder_.BitXor(type, result, term); break;
      }
    }
    for (uint32_t m = group; m != 0; m &= m - 1) Set(c, in.reg[0], static_cast<uint32_t>(std::countr_zero(m)), result);
  }
}

}  // namespace warpwright::lift
