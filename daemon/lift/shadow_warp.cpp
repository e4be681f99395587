// Exchanges between the lanes of a warp.
#include <algorithm>
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

// What a vote or a reduction of predicates is for all who take part. Any and all are a maximum and a minimum of 0 and
// 1, so that there may be as many as there are; ballots are bits that exclude each other, see Count.
ExprId ExpressionShadow::Voted(sim::VoteMode mode, bool counts, const std::vector<Ballot>& ballots) {
  const Type type = Type::kU32;
  const auto number = [&](uint64_t value) { return builder_.Const(type, value); };
  const bool any = mode == sim::VoteMode::kAny, all = mode == sim::VoteMode::kAll;
  uint64_t known = 0;
  ExprId result = kConcrete;
  for (const Ballot& ballot : ballots) {
    const bool constant = builder_.IsConst(ballot.predicate), value = builder_[ballot.predicate].concrete != 0;
    if (constant && (any ? value : all && !value)) return builder_.Predicate(any);
    const uint64_t weight = any || all || counts ? 1 : uint64_t{1} << ballot.lane;
    if (constant && value) known += weight;
    if (constant) continue;
    const ExprId term = builder_.Select(type, ballot.predicate, number(weight), number(0));
    const ExprOp op = any ? ExprOp::kMax : all ? ExprOp::kMin : counts ? ExprOp::kIntAdd : ExprOp::kIntOr;
    result = result == kConcrete ? term : builder_.Binary(op, type, result, term);
  }
  if (any || all)
    return result == kConcrete ? builder_.Predicate(all) : builder_.Compare(sim::Compare::kNe, type, result, number(0));
  if (result == kConcrete) return number(known);
  if (known == 0) return result;
  return builder_.Binary(counts ? ExprOp::kIntAdd : ExprOp::kIntOr, type, result, number(known));
}

void ExpressionShadow::Vote(const Context& c, const Instruction& in, uint32_t lanes) {
  const auto mode = static_cast<sim::VoteMode>(in.mode);
  const auto* members = reinterpret_cast<const uint32_t*>(operands_[1].bits.data());
  for (uint32_t left = lanes; left != 0;) {
    const uint32_t group_members = members[std::countr_zero(left)];
    std::vector<Ballot> ballots;
    uint32_t group = 0;
    for (uint32_t m = left; m != 0; m &= m - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(m));
      if (members[lane] != group_members) continue;
      group |= 1u << lane;
      ballots.push_back({lane, PredicateArg(2, lane, in.negate_predicate)});
    }
    left &= ~group;
    const ExprId result = Voted(mode, false, ballots);
    for (uint32_t m = group; m != 0; m &= m - 1) Set(c, in.reg[0], static_cast<uint32_t>(std::countr_zero(m)), result);
  }
}

// The result is there when the last warp has arrived; until then it is that of those who have, and nobody reads it.
void ExpressionShadow::BarrierReduce(const Context& c, const Instruction& in, uint32_t lanes) {
  const int k = in.operands - 1;
  const auto arrived = [&](const Arrived& a) { return a.warp == c.warp->index && (a.lanes & lanes) != 0; };
  if (arrivals_.instruction != &in || std::any_of(arrivals_.warps.begin(), arrivals_.warps.end(), arrived))
    arrivals_ = {.instruction = &in};
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    arrivals_.ballots.push_back({lane, PredicateArg(k, lane, in.negate_predicate)});
  }
  arrivals_.warps.push_back({c.warp->index, lanes});
  const ExprId result = Voted(static_cast<sim::VoteMode>(in.mode), true, arrivals_.ballots);
  const bool concrete = builder_.IsConst(result);
  for (const Arrived& a : arrivals_.warps) {
    Registers& registers = warps_[a.warp];
    const uint32_t slot = SlotOf(in.reg[0]);
    registers.symbolic[slot] = concrete ? registers.symbolic[slot] & ~a.lanes : registers.symbolic[slot] | a.lanes;
    for (uint32_t m = concrete ? 0 : a.lanes; m != 0; m &= m - 1)
      registers.ids[slot][static_cast<size_t>(std::countr_zero(m))] = result;
  }
}

// How many bits of `id` within the mask are set, as a sum, if it is made of bits that exclude each other; `bits`: those
// that may be set.
std::optional<ExprId> ExpressionShadow::Count(ExprId id, uint64_t mask, uint64_t& bits) {
  const Type type = Type::kU32;
  const Expr e = builder_[id];
  const auto constant = [&](ExprId arg) { return builder_.IsConst(arg); };
  switch (e.op) {
    case ExprOp::kConst:
      bits = e.payload & mask;
      return builder_.Const(type, static_cast<uint64_t>(std::popcount(bits)));
    case ExprOp::kIntAnd:
      for (const size_t side : {0, 1})
        if (constant(e.args[side])) return Count(e.args[1 - side], mask & builder_[e.args[side]].payload, bits);
      return std::nullopt;
    case ExprOp::kSelect: {
      if (!constant(e.args[1]) || !constant(e.args[2])) return std::nullopt;
      const uint64_t then = builder_[e.args[1]].payload & mask, otherwise = builder_[e.args[2]].payload & mask;
      bits = then | otherwise;
      return builder_.Select(type, e.args[0], builder_.Const(type, static_cast<uint64_t>(std::popcount(then))),
                             builder_.Const(type, static_cast<uint64_t>(std::popcount(otherwise))));
    }
    case ExprOp::kIntOr: {
      uint64_t left = 0, right = 0;
      const auto a = Count(e.args[0], mask, left), b = Count(e.args[1], mask, right);
      if (!a || !b || (left & right) != 0) return std::nullopt;
      bits = left | right;
      if (left == 0) return b;
      return right == 0 ? *a : builder_.Binary(ExprOp::kIntAdd, type, *a, *b);
    }
    default: return std::nullopt;
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
