// Exchanges between the lanes of a warp, barriers, and calls into the host (printf, assert).
#include "sim/exec/lanes.h"
#include "sim/exec/services.h"

namespace warpwright::sim::v3 {
namespace {

// Runs `work` for each group of lanes with the same member mask (each tile of a warp has its own mask). The members
// that have not exited must run together here, or we wait for them.
template <typename F>
[[gnu::always_inline]] inline const Instruction* ForGroups(Context& c, const Instruction* i,
                                                           const uint32_t* member_mask, F work) {
  const uint32_t before = c.mask;
  uint32_t masks[kLanes], groups[kLanes];
  int count = 0;
  for (uint32_t left = before; left != 0; ++count) {
    const uint32_t members = member_mask[std::countr_zero(left)];
    alignas(64) int32_t same[kLanes];
    WW_LANES same[l] = member_mask[l] == members ? -1 : 0;
    const uint32_t group = left & MaskOf(same);
    if ((members & c.live & ~before) != 0) return WaitForLanes(c, i);
    if (const uint32_t wrong = (group & ~members) | (members & before & ~group); wrong != 0) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(wrong));
      return StopNotAMember(c, i, lane, group & ~members ? members : member_mask[lane]);
    }
    masks[count] = members;
    groups[count] = group;
    left &= ~group;
  }
  if (count == 1) return work(masks[0]);
  const Instruction* next = i + 1;
  for (int g = 0; g < count && next; ++g) {
    SetMask(c, groups[g]);
    next = work(masks[g]);
  }
  SetMask(c, before);
  return next;
}

const Instruction* ShuffleGroup(Context& c, const Instruction* i, uint32_t members) {
  const int d = i->defs;
  const uint32_t* value = Reg<uint32_t>(c, i->reg[d]);
  const uint32_t* b = Reg<uint32_t>(c, i->reg[d + 1]);
  const uint32_t* e = Reg<uint32_t>(c, i->reg[d + 2]);
  const auto mode = static_cast<ShuffleMode>(i->mode);
  alignas(64) int32_t source[kLanes];
  alignas(64) int32_t valid[kLanes];
  WW_LANES {
    const auto lane = static_cast<int32_t>(l);
    const auto bval = static_cast<int32_t>(b[l] & 31), cval = static_cast<int32_t>(e[l] & 31);
    const auto segment = static_cast<int32_t>((e[l] >> 8) & 31);
    const int32_t max_lane = (lane & segment) | (cval & ~segment), min_lane = lane & segment;
    int32_t j;
    bool p;
    if (mode == ShuffleMode::kUp) j = lane - bval, p = j >= max_lane;
    else if (mode == ShuffleMode::kDown) j = lane + bval, p = j <= max_lane;
    else if (mode == ShuffleMode::kBfly) j = lane ^ bval, p = j <= max_lane;
    else j = min_lane | (bval & ~segment), p = j <= max_lane;
    source[l] = p ? j : lane;
    valid[l] = p ? -1 : 0;
  }
  const uint32_t in_range = MaskOf(valid);
  alignas(64) uint32_t out[kLanes];
  uint32_t sources = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    out[l] = value[source[l] & 31];
    sources |= ((c.mask >> l) & 1) << (source[l] & 31);
  }
  if ((sources & ~c.mask) != 0) {
    // A source that has exited or is not a member gives an undefined value.
    for (uint32_t l = 0; l < kLanes; ++l)
      if ((c.mask >> l & 1) && !(c.mask >> (source[l] & 31) & 1))
        return StopAbsentSource(c, i, l, static_cast<uint32_t>(source[l]), members);
  }
  uint32_t* r = Reg<uint32_t>(c, i->reg[0]);
  WW_LANES Write<false>(c, r, l, out[l]);
  if (d == 2) WritePredicate(c, i->reg[1], in_range);
  return i + 1;
}
const Instruction* Shuffle(Context& c, const Instruction* i) {
  return ForGroups(c, i, Reg<uint32_t>(c, i->reg[i->defs + 3]),
                   [&](uint32_t members) { return ShuffleGroup(c, i, members); });
}

const Instruction* VoteGroup(Context& c, const Instruction* i) {
  const uint32_t p = (*Reg<uint32_t>(c, i->reg[2]) ^ (i->negate_predicate ? kAllLanes : 0)) & c.mask;
  switch (static_cast<VoteMode>(i->mode)) {
    case VoteMode::kBallot: {
      uint32_t* d = Reg<uint32_t>(c, i->reg[0]);
      WW_LANES Write<false>(c, d, l, p);
      return i + 1;
    }
    case VoteMode::kAll: WritePredicate(c, i->reg[0], p == c.mask ? kAllLanes : 0); return i + 1;
    case VoteMode::kAny: WritePredicate(c, i->reg[0], p != 0 ? kAllLanes : 0); return i + 1;
    case VoteMode::kUni: WritePredicate(c, i->reg[0], p == 0 || p == c.mask ? kAllLanes : 0); return i + 1;
  }
  return i + 1;
}

const Instruction* Vote(Context& c, const Instruction* i) {
  return ForGroups(c, i, Reg<uint32_t>(c, i->reg[1]), [&](uint32_t) { return VoteGroup(c, i); });
}

template <typename T>
const Instruction* MatchGroup(Context& c, const Instruction* i) {
  const T* a = Reg<T>(c, i->reg[i->defs]);
  alignas(64) uint32_t out[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) {
    uint32_t equal = 0;
    for (uint32_t m = 0; m < kLanes; ++m) equal |= static_cast<uint32_t>(a[m] == a[l]) << m;
    out[l] = equal & c.mask;
  }
  uint32_t* d = Reg<uint32_t>(c, i->reg[0]);
  if (i->op == Op::kMatchAny) {
    WW_LANES Write<false>(c, d, l, out[l]);
    return i + 1;
  }
  const bool all = out[std::countr_zero(c.mask)] == c.mask;
  WW_LANES Write<false>(c, d, l, all ? c.mask : 0u);
  if (i->defs == 2) WritePredicate(c, i->reg[1], all ? kAllLanes : 0);
  return i + 1;
}

template <typename T>
const Instruction* Match(Context& c, const Instruction* i) {
  return ForGroups(c, i, Reg<uint32_t>(c, i->reg[i->defs + 1]), [&](uint32_t) { return MatchGroup<T>(c, i); });
}

const Instruction* ReduxGroup(Context& c, const Instruction* i) {
  const uint32_t* a = Reg<uint32_t>(c, i->reg[1]);
  bool first = true;
  uint32_t r = 0;
  const bool is_signed = i->type == Type::kS32;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(c.mask >> l & 1)) continue;
    const uint32_t v = a[l];
    if (first) {
      r = v;
      first = false;
      continue;
    }
    const bool less = is_signed ? static_cast<int32_t>(v) < static_cast<int32_t>(r) : v < r;
    switch (static_cast<AtomicOp>(i->mode)) {
      case AtomicOp::kAdd: r += v; break;
      case AtomicOp::kMin: r = less ? v : r; break;
      case AtomicOp::kMax: r = less ? r : v; break;
      case AtomicOp::kAnd: r &= v; break;
      case AtomicOp::kOr: r |= v; break;
      default: r ^= v; break;
    }
  }
  uint32_t* d = Reg<uint32_t>(c, i->reg[0]);
  WW_LANES Write<false>(c, d, l, r);
  return i + 1;
}

const Instruction* Redux(Context& c, const Instruction* i) {
  return ForGroups(c, i, Reg<uint32_t>(c, i->reg[2]), [&](uint32_t) { return ReduxGroup(c, i); });
}

// The lowest member is the leader.
const Instruction* ElectGroup(Context& c, const Instruction* i) {
  const auto leader = static_cast<uint32_t>(std::countr_zero(c.mask));
  uint32_t* d = Reg<uint32_t>(c, i->reg[0]);
  WW_LANES Write<false>(c, d, l, leader);
  WritePredicate(c, i->reg[1], 1u << leader);
  return i + 1;
}

const Instruction* Elect(Context& c, const Instruction* i) {
  return ForGroups(c, i, Reg<uint32_t>(c, i->reg[2]), [&](uint32_t) { return ElectGroup(c, i); });
}

// The lower half of the lanes goes on alone, then the upper one.
const Instruction* SplitLanes(Context& c, const Instruction* i) {
  uint32_t lower = 0;
  for (uint32_t left = c.mask; std::popcount(lower) < std::popcount(c.mask) / 2; left &= left - 1)
    lower |= left & (~left + 1);
  const uint32_t upper = c.mask & ~lower;
  uint32_t* d = Reg<uint32_t>(c, i->reg[0]);
  for (uint32_t l = 0; l < kLanes; ++l)
    if (c.mask >> l & 1) d[l] = lower >> l & 1 ? lower : upper;
  std::vector<StackEntry>& stack = c.warp->stack;
  stack.back().mask = upper;
  stack.back().next = i + 1;
  stack.push_back({i + 1, lower, c.reconverge, StackEntry::Wait::kNone});
  return ResumeTop(c);
}

const Instruction* ActiveMask(Context& c, const Instruction* i) {
  uint32_t* d = Reg<uint32_t>(c, i->reg[0]);
  const uint32_t mask = c.mask;
  if (c.split_lanes && std::popcount(mask) > 1) return SplitLanes(c, i);
  WW_LANES Write<false>(c, d, l, mask);
  return i + 1;
}

const Instruction* WarpBarrier(Context& c, const Instruction* i) {
  return ForGroups(c, i, Reg<uint32_t>(c, i->reg[0]), [&](uint32_t members) {
    SynchronizeLanes(c, members);
    return i + 1;
  });
}

const Instruction* Barrier(Context& c, const Instruction* i) {
  const int d = i->defs;
  const auto first = static_cast<uint32_t>(std::countr_zero(c.mask));
  if (i->aligned && c.mask != c.live) return WaitForLanes(c, i);
  c.arrival.number = Reg<uint32_t>(c, i->reg[d])[first];
  c.arrival.count = i->vector == 2 ? Reg<uint32_t>(c, i->reg[d + 1])[first] : 0;
  c.arrival.waits = i->op != Op::kBarrierArrive;
  c.arrival.predicate = 0;
  if (i->op == Op::kBarrierReduce)
    c.arrival.predicate = (*Reg<uint32_t>(c, i->reg[i->operands - 1]) ^ (i->negate_predicate ? kAllLanes : 0)) & c.mask;
  c.stop = Context::Stop::kBarrier;
  c.resume = i;
  return nullptr;
}

const Instruction* Print(Context& c, const Instruction* i) {
  const uint64_t *format = Reg<uint64_t>(c, i->reg[0]), *arguments = Reg<uint64_t>(c, i->reg[1]);
  for (uint32_t l = 0; l < kLanes; ++l)
    if (c.mask >> l & 1)
      if (const Instruction* stopped = PrintFormatted(c, i, l, format[l], arguments[l]); stopped != i) return stopped;
  return i + 1;
}

const Instruction* AssertFail(Context& c, const Instruction* i) {
  const auto lane = static_cast<uint32_t>(std::countr_zero(c.mask));
  return StopWithAssertion(c, i, lane, Reg<uint64_t>(c, i->reg[0])[lane], Reg<uint64_t>(c, i->reg[1])[lane],
                           Reg<uint32_t>(c, i->reg[2])[lane]);
}

}  // namespace

HandlerPair SelectWarp(const Instruction& in) {
  auto one = [](Handler h) { return HandlerPair{h, h}; };
  switch (in.op) {
    case Op::kShuffle: return one(Shuffle);
    case Op::kVote: return one(Vote);
    case Op::kMatchAny:
    case Op::kMatchAll: return ByteSize(in.type) == 8 ? one(Match<uint64_t>) : one(Match<uint32_t>);
    case Op::kRedux: return one(Redux);
    case Op::kActiveMask: return one(ActiveMask);
    case Op::kElect: return one(Elect);
    case Op::kWarpBarrier: return one(WarpBarrier);
    case Op::kBarrier:
    case Op::kBarrierArrive:
    case Op::kBarrierReduce: return one(Barrier);
    case Op::kPrint: return one(Print);
    case Op::kAssertFail: return one(AssertFail);
    default: return {};
  }
}

}  // namespace warpwright::sim::v3
