#include <algorithm>
#include <bit>

#include "sim/exec/context.h"

namespace warpwright::sim {
namespace {

bool NeedsOtherLanes(const Instruction& in) {
  switch (in.op) {
    case Op::kBarrier:
    case Op::kBarrierArrive:
    case Op::kBarrierReduce:
    case Op::kWarpBarrier:
    case Op::kShuffle:
    case Op::kVote:
    case Op::kMatchAny:
    case Op::kMatchAll:
    case Op::kElect:
    case Op::kMatrixProduct:
    case Op::kMatrixTranspose:
    case Op::kMatrixLoad:
    case Op::kMatrixStore:
    case Op::kWarpgroupProduct:
    case Op::kWarpgroupFence:
    case Op::kWarpgroupCommit:
    case Op::kWarpgroupWait:
    case Op::kRedux: return true;
    default: return false;
  }
}

uint32_t BlockOf(const KernelCode& kernel, const Instruction* i) {
  const auto next = std::upper_bound(kernel.blocks.begin(), kernel.blocks.end(), i->index,
                                     [](uint32_t index, const BasicBlock& block) { return index < block.header; });
  return static_cast<uint32_t>(next - kernel.blocks.begin()) - 1;
}

// Calls `visit` once with every instruction that is reachable from `first` without passing block `limit`, until `visit`
// returns false.
template <typename F>
bool Walk(const KernelCode& kernel, const Instruction* first, uint32_t limit, F visit) {
  std::vector<bool> seen(kernel.blocks.size());
  std::vector<uint32_t> open;
  auto run = [&](uint32_t index, uint32_t block) {
    for (; index < kernel.blocks[block].end; ++index)
      if (!visit(kernel.code[index])) return false;
    const Instruction& last = kernel.code[index - 1];
    const bool ends = (last.op == Op::kExit || last.op == Op::kTrap || last.op == Op::kEnd) && last.guard == kNoOperand;
    if (last.op == Op::kBranch) open.push_back(last.block);
    if (!ends && (last.op != Op::kBranch || last.operands > 0)) open.push_back(block + 1);
    return true;
  };
  const uint32_t start = BlockOf(kernel, first);
  if (start == limit) return true;
  if (!run(first->index, start)) return false;
  while (!open.empty()) {
    const uint32_t block = open.back();
    open.pop_back();
    if (block == limit || block >= seen.size() || seen[block]) continue;
    seen[block] = true;
    if (!run(kernel.blocks[block].header, block)) return false;
  }
  return true;
}

// Does the block at `tail` read a register that is written between `barrier` and it?
bool ReadsWhatFollows(const KernelCode& kernel, const Instruction* barrier, const Instruction* tail) {
  std::vector<uint32_t> read, written;
  const auto has = [](const std::vector<uint32_t>& list, uint32_t r) {
    return std::find(list.begin(), list.end(), r) != list.end();
  };
  for (uint32_t k = tail->index; k < kernel.blocks[tail->block].end; ++k) {
    const Instruction& in = kernel.code[k];
    for (int r = in.defs; r < in.operands; ++r)
      if (!has(written, in.reg[r])) read.push_back(in.reg[r]);
    for (int r = 0; r < in.defs; ++r) written.push_back(in.reg[r]);
  }
  return !Walk(kernel, barrier + 1, tail->block, [&](const Instruction& in) {
    for (int r = 0; r < in.defs; ++r)
      if (has(read, in.reg[r])) return false;
    return true;
  });
}

}  // namespace

const Instruction* ResumeTop(Context& c) {
  const StackEntry& top = c.warp->stack.back();
  if (top.wait != StackEntry::Wait::kNone) {
    c.stop = Context::Stop::kSwitch;
    return nullptr;
  }
  c.reconverge = top.reconverge;
  SetMask(c, top.mask);
  return top.next;
}

const Instruction* ReachReconvergence(Context& c) {
  c.warp->stack.pop_back();
  return ResumeTop(c);
}

const Instruction* Diverge(Context& c, const Instruction* i, uint32_t taken) {
  ++c.divergent[i->index];
  auto& stack = c.warp->stack;
  const uint32_t mask = c.mask;
  uint32_t meet = c.reconverge;
  if (i->reconverge != kNoBlock && i->reconverge != meet) {
    meet = i->reconverge;
    stack.back().next = c.code + c.blocks[meet].header;
  } else {
    stack.pop_back();
  }
  auto push = [&](uint32_t block, uint32_t lanes) {
    if (block != meet) stack.push_back({c.code + c.blocks[block].header, lanes, meet});
  };
  push(i->fall_through, mask & ~taken);
  push(i->block, taken);
  return ResumeTop(c);
}

const Instruction* ExitLanes(Context& c, const Instruction* i, uint32_t lanes) {
  Warp& warp = *c.warp;
  warp.live &= ~lanes;
  c.live = warp.live;
  const bool rest = (c.mask & ~lanes) != 0;
  for (StackEntry& entry : warp.stack) entry.mask &= ~lanes;
  std::erase_if(warp.stack, [](const StackEntry& entry) { return entry.mask == 0; });
  if (warp.stack.empty()) {
    c.stop = Context::Stop::kExit;
    return nullptr;
  }
  if (rest) {
    SetMask(c, c.mask & ~lanes);
    return i + 1;
  }
  return ResumeTop(c);
}

bool SelectEntry(Warp& warp) {
  uint32_t above = 0;
  for (size_t k = warp.stack.size(); k-- > 0;) {
    StackEntry& entry = warp.stack[k];
    if ((entry.mask & above) == 0 && entry.wait == StackEntry::Wait::kNone) {
      const StackEntry chosen = entry;
      warp.stack.erase(warp.stack.begin() + static_cast<std::ptrdiff_t>(k));
      warp.stack.push_back(chosen);
      return true;
    }
    above |= entry.mask;
  }
  return false;
}

// If a kernel stores a value and returns before a barrier, and stores another one at its end, compilers merge both
// stores: the return then looks like a path around the barrier. It is taken for a return if nothing after it waits for
// other lanes, and the merged tail reads what was computed after the barrier.
bool IsJoinedReturn(const KernelCode& kernel, const Instruction* barrier, const Instruction* tail) {
  return tail->op == Op::kHeader &&
         Walk(kernel, tail, kNoBlock, [](const Instruction& in) { return !NeedsOtherLanes(in); }) &&
         ReadsWhatFollows(kernel, barrier, tail);
}

bool RunAhead(Warp& warp, const std::function<bool(const Instruction*)>& may_run) {
  uint32_t above = 0;
  for (size_t k = warp.stack.size(); k-- > 0;) {
    StackEntry& entry = warp.stack[k];
    const uint32_t arrived = entry.mask & ~above;
    if ((entry.mask & above) != 0 && arrived != 0 && (!may_run || may_run(entry.next))) {
      const StackEntry ahead{entry.next, arrived, entry.reconverge};
      entry.mask &= ~arrived;
      warp.stack.push_back(ahead);
      return true;
    }
    above |= entry.mask;
  }
  return false;
}

bool MergeWaiting(Warp& warp) {
  auto& stack = warp.stack;
  for (size_t a = 0; a < stack.size(); ++a) {
    if (stack[a].wait != StackEntry::Wait::kOthers) continue;
    bool merged = false;
    for (size_t b = stack.size(); b-- > a + 1;) {
      if (stack[b].wait != StackEntry::Wait::kOthers || stack[b].next != stack[a].next ||
          stack[b].reconverge != stack[a].reconverge)
        continue;
      stack[a].mask |= stack[b].mask;
      stack.erase(stack.begin() + static_cast<std::ptrdiff_t>(b));
      merged = true;
    }
    if (merged) {
      stack[a].wait = StackEntry::Wait::kNone;
      return true;
    }
  }
  return false;
}

const Instruction* WaitForLanes(Context& c, const Instruction* i) {
  c.stop = Context::Stop::kWaitLanes;
  c.resume = i;
  return nullptr;
}

}  // namespace warpwright::sim
