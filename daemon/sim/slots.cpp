#include "sim/slots.h"

#include <algorithm>
#include <queue>

#include "sim/liveness.h"

namespace warpwright::sim {
namespace {

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
    case Op::kElect:
    case Op::kMbarrier:
    case Op::kMatrixTranspose:
    case Op::kMatrixLoad:
    case Op::kPack:
    case Op::kUnpack:
    case Op::kBarrierReduce:
    case Op::kAddCarry:
    case Op::kSubCarry:
    case Op::kMadCarry: return true;
    default: return in.defs > 1;
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
  const Lowered& lowered_;
  const std::vector<BasicBlock>& blocks_;
  std::vector<Interval> intervals_;
  std::vector<uint32_t> undefined_;
};

// Positions: instruction i reads at 2i and writes at 2i + 1.
Status Liveness::Compute() {
  LiveRegisters live;
  WW_TRY(live.Compute(lowered_, blocks_));
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
    live.ForEachIn(b, [&](uint32_t id) { intervals_[id].Extend(2 * blocks_[b].header); });
    live.ForEachOut(b, [&](uint32_t id) { intervals_[id].Extend(2 * blocks_[b].end - 1); });
  }
  live.ForEachIn(0, [&](uint32_t id) { undefined_.push_back(id); });
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
