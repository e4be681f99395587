#include "sim/slots.h"

#include <algorithm>
#include <queue>

namespace warpwright::sim {
namespace {

constexpr uint64_t kBitLimit = 1ull << 31;  // of the liveness sets of one kernel

uint32_t SlotBytes(RegisterClass cls) { return cls == RegisterClass::k64 ? 256 : cls == RegisterClass::k32 ? 128 : 4; }

// These write a result before all sources are read, or their lanes read other lanes: the result must not share a slot
// with a source.
bool ClobbersEarly(const Instruction& in) {
  switch (in.op) {
    case Op::kLoad:
    case Op::kAtomic:
    case Op::kShuffle:
    case Op::kVote:
    case Op::kMatchAny:
    case Op::kMatchAll:
    case Op::kRedux:
    case Op::kPack:
    case Op::kUnpack:
    case Op::kBarrierReduce:
    case Op::kAddCarry:
    case Op::kSubCarry:
    case Op::kMadCarry: return true;
    default: return in.defs > 1;
  }
}

template <typename F>
void ForEachUse(const Instruction& in, F f) {
  for (int i = in.defs; i < in.operands; ++i) f(in.reg[i]);
  if (in.guard != kNoOperand) {
    f(in.guard);
    // Lanes that the guard switches off keep the old value.
    for (int i = 0; i < in.defs; ++i) f(in.reg[i]);
  }
}

struct Interval {
  uint32_t begin = UINT32_MAX, end = 0;
  void Extend(uint32_t at) {
    begin = std::min(begin, at);
    end = std::max(end, at);
  }
};

class Liveness {
 public:
  Liveness(const Lowered& lowered, const std::vector<BasicBlock>& blocks) : lowered_(lowered), blocks_(blocks) {}
  Status Compute();
  const std::vector<Interval>& intervals() const { return intervals_; }
  const std::vector<uint32_t>& undefined() const { return undefined_; }

 private:
  bool IsReal(uint32_t id) const { return lowered_.registers[id].constant < 0; }
  void FindGlobals();
  void Solve();

  const Lowered& lowered_;
  const std::vector<BasicBlock>& blocks_;
  std::vector<uint32_t> global_of_;  // register -> index among those that live across blocks
  std::vector<uint32_t> globals_;
  std::vector<std::vector<uint64_t>> live_in_, live_out_;
  std::vector<Interval> intervals_;
  std::vector<uint32_t> undefined_;
};

// Registers that some block reads before it writes them, or that are live in more than one block.
void Liveness::FindGlobals() {
  const size_t count = lowered_.registers.size();
  std::vector<uint32_t> home(count, kNoBlock);
  std::vector<uint32_t> defined_in(count, kNoBlock);
  std::vector<bool> global(count, false);
  for (uint32_t b = 0; b < blocks_.size(); ++b) {
    for (uint32_t i = blocks_[b].header; i < blocks_[b].end; ++i) {
      const Instruction& in = lowered_.code[i];
      auto touch = [&](uint32_t id) {
        if (home[id] != kNoBlock && home[id] != b) global[id] = true;
        home[id] = b;
      };
      ForEachUse(in, [&](uint32_t id) {
        touch(id);
        if (defined_in[id] != b) global[id] = true;
      });
      for (int d = 0; d < in.defs; ++d) {
        touch(in.reg[d]);
        defined_in[in.reg[d]] = b;
      }
    }
  }
  global_of_.assign(count, kNoOperand);
  for (uint32_t id = 0; id < count; ++id) {
    if (!global[id] || !IsReal(id)) continue;
    global_of_[id] = static_cast<uint32_t>(globals_.size());
    globals_.push_back(id);
  }
}

void Liveness::Solve() {
  const size_t words = (globals_.size() + 63) / 64;
  const auto count = static_cast<uint32_t>(blocks_.size());
  std::vector<std::vector<uint64_t>> use(count, std::vector<uint64_t>(words)), def = use;
  live_in_ = live_out_ = use;
  std::vector<std::vector<uint32_t>> predecessors(count);
  std::vector<uint32_t> successors;
  for (uint32_t b = 0; b < count; ++b) {
    for (uint32_t i = blocks_[b].header; i < blocks_[b].end; ++i) {
      const Instruction& in = lowered_.code[i];
      ForEachUse(in, [&](uint32_t id) {
        const uint32_t g = global_of_[id];
        if (g != kNoOperand && !(def[b][g / 64] >> (g % 64) & 1)) use[b][g / 64] |= 1ull << (g % 64);
      });
      for (int d = 0; d < in.defs; ++d)
        if (const uint32_t g = global_of_[in.reg[d]]; g != kNoOperand) def[b][g / 64] |= 1ull << (g % 64);
    }
    Successors(lowered_, blocks_, b, successors);
    for (uint32_t s : successors)
      if (s != kNoBlock) predecessors[s].push_back(b);
  }
  std::vector<uint32_t> work;
  std::vector<bool> queued(count, true);
  for (uint32_t b = 0; b < count; ++b) work.push_back(b);
  while (!work.empty()) {
    const uint32_t b = work.back();
    work.pop_back();
    queued[b] = false;
    Successors(lowered_, blocks_, b, successors);
    for (size_t w = 0; w < words; ++w) {
      uint64_t out = 0;
      for (uint32_t s : successors)
        if (s != kNoBlock) out |= live_in_[s][w];
      live_out_[b][w] = out;
    }
    bool changed = false;
    for (size_t w = 0; w < words; ++w) {
      const uint64_t in = use[b][w] | (live_out_[b][w] & ~def[b][w]);
      changed |= in != live_in_[b][w];
      live_in_[b][w] = in;
    }
    if (!changed) continue;
    for (uint32_t p : predecessors[b])
      if (!queued[p]) {
        queued[p] = true;
        work.push_back(p);
      }
  }
}

// Positions: instruction i reads at 2i and writes at 2i + 1.
Status Liveness::Compute() {
  FindGlobals();
  if (static_cast<uint64_t>(globals_.size()) * blocks_.size() * 4 > kBitLimit)
    return Fail(ErrorCode::kUnsupported, "kernel " + lowered_.info.symbol + " is too large to simulate");
  Solve();
  intervals_.assign(lowered_.registers.size(), {});
  for (uint32_t b = 0; b < blocks_.size(); ++b) {
    for (uint32_t i = blocks_[b].header; i < blocks_[b].end; ++i) {
      const Instruction& in = lowered_.code[i];
      ForEachUse(in, [&](uint32_t id) { intervals_[id].Extend(2 * i); });
      for (int d = 0; d < in.defs; ++d) {
        intervals_[in.reg[d]].Extend(2 * i + 1);
        if (ClobbersEarly(in)) intervals_[in.reg[d]].Extend(2 * i);
      }
    }
    for (uint32_t g = 0; g < globals_.size(); ++g) {
      if (live_in_[b][g / 64] >> (g % 64) & 1) intervals_[globals_[g]].Extend(2 * blocks_[b].header);
      if (live_out_[b][g / 64] >> (g % 64) & 1) intervals_[globals_[g]].Extend(2 * blocks_[b].end - 1);
    }
  }
  for (uint32_t g = 0; g < globals_.size(); ++g)
    if (live_in_[0][g / 64] >> (g % 64) & 1) undefined_.push_back(globals_[g]);
  return {};
}

}  // namespace

Status AllocateSlots(Lowered& lowered, const std::vector<BasicBlock>& blocks, KernelCode& kernel) {
  Liveness liveness(lowered, blocks);
  WW_TRY(liveness.Compute());
  const auto& intervals = liveness.intervals();
  std::vector<uint32_t> place(lowered.registers.size(), 0);
  // Constants first: wide, narrow, predicates.
  uint32_t offset = 0;
  for (int pass = 0; pass < 3; ++pass) {
    for (uint32_t id = 0; id < lowered.registers.size(); ++id) {
      const VirtualRegister& r = lowered.registers[id];
      const RegisterClass wanted = pass == 0   ? RegisterClass::k64
                                   : pass == 1 ? RegisterClass::k32
                                               : RegisterClass::kPredicate;
      if (r.constant < 0 || r.cls != wanted || intervals[id].begin == UINT32_MAX) continue;
      ConstantSlot slot = lowered.constants[static_cast<size_t>(r.constant)];
      slot.offset = place[id] = offset;
      offset += SlotBytes(r.cls);
      kernel.constants.push_back(slot);
    }
  }
  offset = (offset + 63) / 64 * 64;
  kernel.constants_bytes = offset;
  std::vector<uint32_t> order;
  for (uint32_t id = 0; id < lowered.registers.size(); ++id)
    if (lowered.registers[id].constant < 0 && intervals[id].begin != UINT32_MAX) order.push_back(id);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return intervals[a].begin != intervals[b].begin ? intervals[a].begin < intervals[b].begin : a < b;
  });
  for (RegisterClass cls : {RegisterClass::k64, RegisterClass::k32, RegisterClass::kPredicate}) {
    using Ending = std::pair<uint32_t, uint32_t>;  // end of the interval, slot
    std::priority_queue<Ending, std::vector<Ending>, std::greater<>> active;
    std::vector<uint32_t> free;
    for (uint32_t id : order) {
      if (lowered.registers[id].cls != cls) continue;
      while (!active.empty() && active.top().first < intervals[id].begin) {
        free.push_back(active.top().second);
        active.pop();
      }
      uint32_t slot = offset;
      if (!free.empty()) {
        slot = free.back();
        free.pop_back();
      } else {
        offset += SlotBytes(cls);
      }
      place[id] = slot;
      active.emplace(intervals[id].end, slot);
    }
    offset = (offset + 63) / 64 * 64;
  }
  if (offset > 64u << 20)
    return Fail(ErrorCode::kUnsupported, "kernel " + lowered.info.symbol + " needs too many registers");
  kernel.register_bytes = std::max<uint32_t>(offset, 64);
  for (uint32_t id : liveness.undefined())
    kernel.undefined.emplace_back(place[id], SlotBytes(lowered.registers[id].cls));
  for (Instruction& in : lowered.code) {
    for (int i = 0; i < in.operands; ++i) in.reg[i] = place[in.reg[i]];
    if (in.guard != kNoOperand) in.guard = place[in.guard];
  }
  return {};
}

}  // namespace warpwright::sim
