#include "sim/block.h"

#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "sim/exec/async_copy.h"
#include "sim/exec/dispatch.h"
#include "sim/exec/race.h"
#include "sim/exec/services.h"
#include "sim/exec/shadowed.h"
#include "sim/exec/taint.h"
#include "sim/exec/warpgroup.h"
#include "sim/shadow.h"

namespace warpwright::sim {
namespace {

using Stop = Context::Stop;
using Wait = StackEntry::Wait;

constexpr int64_t kSlice = 20'000;  // warp instructions
// A diverged warp that runs this many slices without a barrier may be spinning on a lock that another of its lanes
// holds: from then on its other lanes run too. Rotating costs nothing but a later reconvergence.
constexpr uint64_t kSpinLimit = 64, kContendedSpin = 16;

bool IsBarrier(const Instruction& in) {
  return in.op == Op::kBarrier || in.op == Op::kBarrierArrive || in.op == Op::kBarrierReduce;
}

void WriteLanes(Warp& warp, uint32_t offset, uint32_t mask, uint32_t value) {
  auto* d = reinterpret_cast<uint32_t*>(warp.registers + offset);
  for (uint32_t l = 0; l < kLanes; ++l)
    if (mask >> l & 1) d[l] = value;
}

}  // namespace

uint32_t BlockRunner::LiveWarps() const {
  uint32_t live = 0;
  for (const Warp& warp : c_.warps)
    if (warp.live != 0) live |= 1u << warp.index;
  return live;
}

void BlockRunner::Start(uint64_t block) {
  c_.block_index = block;
  barriers_.fill({});
  c_.unwritten_read = false;
  c_.taint_origins.clear();
  const uint64_t x = block % c_.grid.x, y = block / c_.grid.x % c_.grid.y, z = block / c_.grid.x / c_.grid.y;
  if (c_.shared_bytes > 0) std::memset(c_.shared, 0, c_.shared_bytes);
  if (c_.checking && c_.shared_bytes > 0) {
    std::memset(c_.shared_written, 0, c_.shared_bytes);
  }
  ResetRaces(c_);
  if (c_.copies) ForgetCopies(c_);
  if (c_.products) ForgetProducts(c_);
  const uint64_t threads = c_.block.Count();
  for (Warp& warp : c_.warps) {
    const uint64_t left = threads - static_cast<uint64_t>(warp.index) * kLanes;
    warp.live = left >= kLanes ? kAllLanes : (1u << left) - 1;
    warp.barrier = -1;
    warp.spins = 0;
    ClearTaint(warp);
    warp.stack.assign(1, StackEntry{c_.code, warp.live, kNoBlock, Wait::kNone});
    for (const auto& [offset, bytes] : c_.kernel->undefined) std::memset(warp.registers + offset, 0, bytes);
    for (const ConstantSlot& slot : c_.kernel->constants) {
      using Kind = ConstantSlot::Kind;
      if (slot.kind != Kind::kCtaidX && slot.kind != Kind::kCtaidY && slot.kind != Kind::kCtaidZ) continue;
      const uint64_t value = slot.kind == Kind::kCtaidX ? x : slot.kind == Kind::kCtaidY ? y : z;
      for (uint32_t l = 0; l < kLanes; ++l) {
        if (slot.wide) reinterpret_cast<uint64_t*>(warp.registers + slot.offset)[l] = value;
        else reinterpret_cast<uint32_t*>(warp.registers + slot.offset)[l] = static_cast<uint32_t>(value);
      }
    }
    if (c_.local_bytes > 0) {
      std::memset(warp.local, 0, c_.local_bytes * kLanes);
      std::memset(warp.local_written, 0, c_.local_bytes * kLanes);
    }
  }
}

bool BlockRunner::Run(uint64_t block) {
  Begin(block);
  Turn turn = Turn::kMore;
  while (turn == Turn::kMore) turn = Advance();
  return turn == Turn::kDone;
}

void BlockRunner::Begin(uint64_t block) {
  Start(block);
  if (c_.shadow) c_.shadow->StartBlock(c_);
}

BlockRunner::Turn BlockRunner::Advance() {
  const Turn turn = RunWarps();
  if (turn == Turn::kMore) return turn;
  if (turn == Turn::kDone) return c_.unwritten_read ? Turn::kFault : Turn::kDone;
  // A fault after a read of unwritten shared memory may be caused by it, unless it is the race that explains the read.
  if (c_.unwritten_read && c_.fault.kind != core::Fault::Kind::kSharedRace) c_.fault = c_.unwritten_fault;
  return Turn::kFault;
}

BlockRunner::Turn BlockRunner::RunWarps() {
  bool ran = false, left = false;
  for (size_t w = 0; w < c_.warps.size(); ++w) {
    Warp& warp = c_.warps[c_.reverse_warps ? c_.warps.size() - 1 - w : w];
    if (warp.live == 0) continue;
    left = true;
    if (warp.barrier >= 0) continue;
    ran = true;
    if (!RunWarp(warp)) return Turn::kFault;
  }
  if (left) {
    CompleteBarriers();
    if (c_.race_found) return Turn::kFault;
    if (!c_.unwritten_read || c_.barrier_time != c_.time) {
      bool released = ran;
      for (const Warp& warp : c_.warps) released |= warp.live != 0 && warp.barrier < 0;
      if (released) return Turn::kMore;
      ReportDeadlock();
      return Turn::kFault;
    }
  }
  FinishRaces(c_);
  if (c_.race_found) return Turn::kFault;
  if (c_.unwritten_read) c_.fault = c_.unwritten_fault;
  return Turn::kDone;
}

// One time slice: until a barrier, the end, or the end of the slice.
bool BlockRunner::RunWarp(Warp& warp) {
  c_.warp = &warp;
  c_.registers = warp.registers;
  if (warp.block_entries) c_.block_entries = warp.block_entries;
  c_.live = warp.live;
  c_.slice = kSlice;
  c_.contended = false;
  while (true) {
    const Instruction* next = ResumeTop(c_);
    if (next && c_.shadow) ExecuteShadowed(c_, next);
    else if (next) Execute(c_, next);
    StackEntry* top = warp.stack.empty() ? nullptr : &warp.stack.back();
    switch (c_.stop) {
      case Stop::kExit: return true;
      case Stop::kFault: return false;
      case Stop::kYield:
        top->next = c_.resume;
        if (c_.budget < 0) {
          StopWithFault(c_, c_.resume, core::Fault::Kind::kInstructionLimit, kLanes,
                        "the limit of thread instructions is reached: an endless loop, or more work than the simulator "
                        "was given");
          return false;
        }
        warp.spins += c_.contended ? kContendedSpin : 1;
        if (warp.spins >= kSpinLimit && warp.stack.size() > 1) {
          warp.spins = 0;
          // The running entry moves below the others that can run; if there are none, lanes that wait for it run ahead.
          const StackEntry running = *top;
          top->wait = Wait::kBarrier;
          if (!SelectEntry(warp)) RunAhead(warp);
          for (StackEntry& entry : warp.stack)
            if (entry.wait == Wait::kBarrier && entry.next == running.next && entry.mask == running.mask)
              entry.wait = Wait::kNone;
        }
        return true;
      case Stop::kBarrier:
        if (!Arrive(warp)) return false;
        if (warp.barrier >= 0) return true;
        break;
      case Stop::kWaitLanes:
        top->next = c_.resume;
        top->wait = Wait::kOthers;
        top->live_when_waiting = warp.live;
        if (!HandleWaitingLanes(warp)) return false;
        break;
      case Stop::kSwitch:
        if (!HandleWaitingLanes(warp)) return false;
        if (warp.barrier >= 0) return true;
        break;
      case Stop::kNone:
      case Stop::kTaint: return true;
    }
    c_.stop = Stop::kNone;
  }
}

// The entry on top waits. Others of the warp run first; then those that wait at the same instruction continue together.
bool BlockRunner::HandleWaitingLanes(Warp& warp) {
  for (StackEntry& entry : warp.stack)
    if (entry.wait == Wait::kOthers && entry.live_when_waiting != warp.live) entry.wait = Wait::kNone;
  if (SelectEntry(warp)) return true;
  if (MergeWaiting(warp)) return SelectEntry(warp) || (ReportUnsatisfiableWait(c_, warp.stack.back().next), false);
  // Unaligned barriers and __syncwarp let lanes that wait at a point of reconvergence proceed on their own.
  const StackEntry* waiting = nullptr;
  uint32_t at_barrier = 0;
  for (const StackEntry& entry : warp.stack) {
    if (entry.wait == Wait::kOthers && !waiting) waiting = &entry;
    if (entry.wait == Wait::kBarrier) at_barrier |= entry.mask;
  }
  const bool may_run_ahead = !waiting || waiting->next->op == Op::kWarpBarrier || !waiting->next->aligned;
  if (may_run_ahead && RunAhead(warp)) return true;
  if (waiting && IsBarrier(*waiting->next) && RunAhead(warp, [&, barrier = waiting->next](const Instruction* tail) {
        return IsJoinedReturn(*c_.kernel, barrier, tail);
      }))
    return true;
  if (!waiting && at_barrier == warp.live) return true;  // all are at block barriers
  // __syncwarp at different code locations: no lanes beyond those already here will arrive.
  if (waiting && waiting->next->op == Op::kWarpBarrier) {
    uint32_t here = 0, members = 0;
    for (const StackEntry& entry : warp.stack) {
      if (entry.wait != Wait::kOthers || entry.next->op != Op::kWarpBarrier) continue;
      here |= entry.mask;
      members |= reinterpret_cast<const uint32_t*>(warp.registers + entry.next->reg[0])[std::countr_zero(entry.mask)];
    }
    if ((members & warp.live & ~here) == 0) {
      SynchronizeLanes(c_, members);
      for (StackEntry& entry : warp.stack) {
        if (entry.wait != Wait::kOthers || entry.next->op != Op::kWarpBarrier) continue;
        entry.wait = Wait::kNone;
        ++entry.next;
      }
      return SelectEntry(warp);
    }
  }
  ReportUnsatisfiableWait(c_, waiting ? waiting->next : warp.stack.back().next);
  return false;
}

// The running entry is at a barrier.
bool BlockRunner::Arrive(Warp& warp) {
  const Instruction* i = c_.resume;
  StackEntry& top = warp.stack.back();
  const auto& arrival = c_.arrival;
  if (arrival.number >= barriers_.size()) {
    StopWithFault(c_, i, core::Fault::Kind::kDivergentBarrier, kLanes,
                  fmt::format("barrier {}: there are 16, numbered from 0", arrival.number));
    return false;
  }
  ++c_.barriers;
  warp.spins = 0;
  Barrier& barrier = barriers_[arrival.number];
  if (arrival.count % kLanes != 0 || arrival.count > c_.warps.size() * kLanes) {
    StopWithFault(c_, i, core::Fault::Kind::kDivergentBarrier, kLanes,
                  fmt::format("barrier {} with a count of {} threads: not a multiple of 32, or more than the block has",
                              arrival.number, arrival.count));
    return false;
  }
  if (barrier.arrived != 0 && barrier.expected != arrival.count && barrier.expected != 0 && arrival.count != 0) {
    StopWithFault(c_, i, core::Fault::Kind::kDivergentBarrier, kLanes,
                  fmt::format("barrier {} with a count of {} threads while others expect {}", arrival.number,
                              arrival.count, barrier.expected));
    return false;
  }
  if (!barrier.first) barrier.first = i;
  barrier.expected = std::max(barrier.expected, arrival.count);
  barrier.true_lanes += static_cast<uint32_t>(std::popcount(arrival.predicate));
  barrier.all &= arrival.predicate == c_.mask;
  top.next = i;
  if (!arrival.waits) {
    barrier.arrived |= 1u << warp.index;
    barrier.threads += kLanes;
    top.next = i + 1;
    CompleteBarriers();
    return true;
  }
  top.wait = Wait::kBarrier;
  if (top.mask != warp.live) {
    // Part of the warp at an unaligned barrier: the rest continues.
    c_.stop = Stop::kNone;
    if (!HandleWaitingLanes(warp)) return false;
    for (const StackEntry& entry : warp.stack)
      if (entry.wait == Wait::kNone) return true;
  }
  warp.barrier = static_cast<int>(arrival.number);
  barrier.arrived |= 1u << warp.index;
  barrier.waiting |= 1u << warp.index;
  barrier.threads += kLanes;
  return true;
}

bool BlockRunner::IsComplete(const Barrier& barrier) const {
  if (barrier.arrived == 0) return false;
  if (barrier.expected != 0) return barrier.threads >= barrier.expected;
  const uint32_t live = LiveWarps();
  return (live & ~barrier.arrived) == 0;
}

void BlockRunner::CompleteBarriers() {
  for (uint32_t n = 0; n < barriers_.size(); ++n)
    if (IsComplete(barriers_[n])) Release(n);
}

void BlockRunner::Release(uint32_t number) {
  Barrier& barrier = barriers_[number];
  const uint32_t live = LiveWarps();
  if ((live & ~barrier.arrived) == 0) SynchronizeBlock(c_);
  else SynchronizeWarps(c_, barrier.arrived);
  for (Warp& warp : c_.warps) {
    if (!(barrier.waiting >> warp.index & 1)) continue;
    warp.barrier = -1;
    for (StackEntry& entry : warp.stack) {
      if (entry.wait != Wait::kBarrier) continue;
      const Instruction* i = entry.next;
      if (i->op == Op::kBarrierReduce) {
        const auto mode = static_cast<VoteMode>(i->mode);
        if (mode == VoteMode::kBallot) {
          WriteLanes(warp, i->reg[0], entry.mask, barrier.true_lanes);
        } else {
          const bool value = mode == VoteMode::kAll ? barrier.all : barrier.true_lanes > 0;
          auto* p = reinterpret_cast<uint32_t*>(warp.registers + i->reg[0]);
          *p = (*p & ~entry.mask) | (value ? entry.mask : 0);
        }
      }
      entry.wait = Wait::kNone;
      ++entry.next;
    }
    SelectEntry(warp);
  }
  barrier = {};
}

bool BlockRunner::ReportDeadlock() {
  for (Warp& warp : c_.warps) {
    if (warp.live == 0 || warp.barrier < 0) continue;
    uint32_t waiting = 0;
    for (const Warp& other : c_.warps)
      if (other.live != 0 && other.barrier == warp.barrier) ++waiting;
    c_.warp = &warp;
    c_.registers = warp.registers;
    c_.live = warp.live;
    SetMask(c_, warp.stack.back().mask);
    StopWithFault(c_, warp.stack.back().next, core::Fault::Kind::kDivergentBarrier, kLanes,
                  fmt::format("barrier {} is never completed: {} of {} warps wait at it, the others wait elsewhere",
                              warp.barrier, waiting, std::popcount(LiveWarps())));
    return false;
  }
  return false;
}

void ReportUnsatisfiableWait(Context& c, const Instruction* i) {
  Warp& warp = *c.warp;
  uint32_t here = 0;
  for (const StackEntry& entry : warp.stack)
    if (entry.wait == Wait::kOthers && entry.next == i) here |= entry.mask;
  if (here == 0) here = warp.stack.back().mask;
  const uint32_t missing = warp.live & ~here;
  SetMask(c, here);
  if (IsBarrier(*i)) {
    StopWithFault(
        c, i, core::Fault::Kind::kDivergentBarrier, kLanes,
        fmt::format("divergent barrier: lanes {:#010x} of the warp reach it, lanes {:#010x} do not", here, missing));
  } else {
    StopWithFault(c, i, core::Fault::Kind::kInactiveShuffle, kLanes,
                  fmt::format("{} waits for lanes {:#010x}, which are not active here (active: {:#010x})",
                              InstructionName(*i), missing, here));
  }
}

}  // namespace warpwright::sim
