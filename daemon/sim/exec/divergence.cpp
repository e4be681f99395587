#include <bit>

#include "sim/exec/context.h"

namespace warpwright::sim {

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

bool RunAhead(Warp& warp) {
  uint32_t above = 0;
  for (size_t k = warp.stack.size(); k-- > 0;) {
    StackEntry& entry = warp.stack[k];
    const uint32_t arrived = entry.mask & ~above;
    if ((entry.mask & above) != 0 && arrived != 0) {
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
