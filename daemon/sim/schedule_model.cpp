#include "sim/schedule_model.h"

#include <algorithm>
#include <set>

namespace warpwright::sim {

namespace {

constexpr uint32_t kMaxPredicated = 12;  // PTX instructions under one condition
constexpr uint32_t kMaxUnrolled = 32;    // PTX instructions of a loop
constexpr int kPtxasUnroll = 4;

const Instruction& LastOf(const KernelCode& kernel, uint32_t block) {
  return kernel.code[kernel.blocks[block].end - 1];
}
bool IsConditional(const Instruction& in) { return in.op == Op::kBranch && in.operands > 0; }
bool FallsThrough(const Instruction& in) {
  if (in.op == Op::kBranch) return in.operands > 0;
  if (in.op == Op::kExit || in.op == Op::kTrap) return in.guard != kNoOperand;
  return in.op != Op::kEnd;
}

// What ptxas does not predicate: it concerns the whole warp or block, or leaves the conditional code.
bool StaysBranch(const Instruction& in) {
  switch (in.op) {
    case Op::kBranch:
    case Op::kExit:
    case Op::kTrap:
    case Op::kBarrier:
    case Op::kBarrierArrive:
    case Op::kBarrierReduce:
    case Op::kWarpBarrier:
    case Op::kShuffle:
    case Op::kVote:
    case Op::kMatchAny:
    case Op::kMatchAll:
    case Op::kRedux:
    case Op::kElect:
    case Op::kWarpgroupProduct:
    case Op::kWarpgroupFence:
    case Op::kWarpgroupCommit:
    case Op::kWarpgroupWait:
    case Op::kPrint:
    case Op::kAssertFail: return true;
    default: return false;
  }
}

class Shaper {
 public:
  Shaper(const KernelCode& kernel, const std::vector<compile::MachineLoop>& loops)
      : kernel_(kernel), loops_(loops), count_(static_cast<uint32_t>(kernel.blocks.size())), entries_(count_, 0) {
    for (uint32_t b = 0; b < count_; ++b) {
      const Instruction& last = LastOf(kernel, b);
      if (last.op == Op::kBranch) ++entries_[last.block];
      if (FallsThrough(last) && b + 1 < count_) ++entries_[b + 1];
    }
    for (const ConstantSlot& slot : kernel.constants)
      if (slot.kind == ConstantSlot::Kind::kValue) values_.insert(slot.offset);
  }

  ScheduleModel Shape() const {
    ScheduleModel shape;
    shape.region.resize(count_);
    shape.unroll.resize(count_, 1);
    shape.machine.resize(count_);
    for (uint32_t b = 0; b < count_; ++b) {
      shape.region[b] = b;
      if (IsUnrolled(b)) shape.unroll[b] = kPtxasUnroll;
    }
    for (uint32_t b = 0; b + 1 < count_; ++b) Join(shape, b);
    FindPhases(shape);
    MatchLoops(shape);
    return shape;
  }

 private:
  bool IsPredicated(uint32_t block) const {
    const BasicBlock& b = kernel_.blocks[block];
    if (b.end - b.header - 1 > kMaxPredicated) return false;
    for (uint32_t i = b.header + 1; i < b.end; ++i)
      if (StaysBranch(kernel_.code[i])) return false;
    return true;
  }

  // Joins the blocks after `b` to its region: the code under b's condition, and what follows it.
  void Join(ScheduleModel& shape, uint32_t b) const {
    const Instruction& last = LastOf(kernel_, b);
    if (IsConditional(last)) {
      if (last.block != b + 2 || entries_[b + 1] != 1 || !IsPredicated(b + 1)) return;
      shape.region[b + 1] = shape.region[b];
      if (b + 2 < count_ && entries_[b + 2] == 2) shape.region[b + 2] = shape.region[b];
    } else if (FallsThrough(last) && last.op != Op::kExit && entries_[b + 1] == 1) {
      shape.region[b + 1] = shape.region[b];
    }
  }

  // `for (...; i < n; i += constant)` in one block, with nothing that prevents ptxas from unrolling it.
  bool IsUnrolled(uint32_t block) const {
    const Instruction& last = LastOf(kernel_, block);
    const BasicBlock& b = kernel_.blocks[block];
    if (!IsConditional(last) || last.block != block || b.end - b.header - 1 > kMaxUnrolled) return false;
    const Instruction* compare = nullptr;
    for (uint32_t i = b.header + 1; i + 1 < b.end; ++i) {
      const Instruction& in = kernel_.code[i];
      if (StaysBranch(in) || in.op == Op::kAtomic || in.op == Op::kReduction) return false;
      if (in.op == Op::kSetPredicate && in.defs > 0 && in.reg[0] == last.reg[0]) compare = &in;
    }
    if (!compare) return false;
    for (int k = compare->defs; k < compare->operands; ++k)
      if (StepsByConstant(b, compare->reg[k])) return true;
    return false;
  }
  bool StepsByConstant(const BasicBlock& b, uint32_t reg) const {
    const Instruction* step = nullptr;
    for (uint32_t i = b.header + 1; i < b.end; ++i) {
      const Instruction& in = kernel_.code[i];
      for (int k = 0; k < in.defs; ++k) {
        if (in.reg[k] != reg) continue;
        if (step) return false;
        step = &in;
      }
    }
    if (!step || (step->op != Op::kAdd && step->op != Op::kSub) || step->operands != step->defs + 2) return false;
    const uint32_t a = step->reg[step->defs], c = step->reg[step->defs + 1];
    return (a == reg && values_.contains(c)) || (c == reg && values_.contains(a));
  }

  // Finds the loops of one block in the machine code, in the same order: the assignment that agrees best with what
  // ptxas is expected to do. A loop that it unrolled appears again for the remaining iterations, which match nothing.
  void MatchLoops(ScheduleModel& shape) const {
    struct Loop {
      uint32_t block;
      int loads = 0, stores = 0;
    };
    std::vector<Loop> mine;
    for (uint32_t b = 0; b < count_; ++b) {
      if (const Instruction& last = LastOf(kernel_, b); !IsConditional(last) || last.block != b) continue;
      Loop loop{b};
      for (uint32_t i = kernel_.blocks[b].header + 1; i < kernel_.blocks[b].end; ++i) {
        const Instruction& in = kernel_.code[i];
        const bool global = in.space == Space::kGlobal || in.space == Space::kGeneric;
        loop.loads += in.op == Op::kLoad && global;
        loop.stores += in.op == Op::kStore && global;
      }
      if (loop.loads > 0) mine.push_back(loop);
    }
    const size_t n = mine.size(), m = loops_.size();
    const auto turns = [&](const Loop& loop, const compile::MachineLoop& machine) {  // 0: it is a different loop
      const int factor = machine.global_loads / loop.loads;
      const bool same = factor * loop.loads == machine.global_loads && factor * loop.stores == machine.global_stores;
      return same && (factor == 1 || factor == 2 || factor == kPtxasUnroll) ? factor : 0;
    };
    const auto value = [&](const Loop& loop, const compile::MachineLoop& machine) {
      const int found = turns(loop, machine);
      return found == 0 ? 0 : found == shape.unroll[loop.block] ? 4 : 1;
    };
    std::vector<std::vector<int>> best(n + 1, std::vector<int>(m + 1, 0));  // of the loops from i and j on
    for (size_t i = n; i-- > 0;)
      for (size_t j = m; j-- > 0;) {
        const int matched = value(mine[i], loops_[j]);
        best[i][j] = std::max({best[i + 1][j], best[i][j + 1], matched > 0 ? matched + best[i + 1][j + 1] : 0});
      }
    for (size_t i = 0, j = 0; i < n && j < m;) {
      const int matched = value(mine[i], loops_[j]);
      if (matched > 0 && best[i][j] == matched + best[i + 1][j + 1]) {
        shape.unroll[mine[i].block] = static_cast<uint8_t>(turns(mine[i], loops_[j]));
        shape.machine[mine[i].block] = &loops_[j];
        ++i, ++j;
      } else if (best[i][j] == best[i + 1][j]) {
        ++i;
      } else {
        ++j;
      }
    }
  }

  // Outermost loops are the code ranges that backward branches span.
  void FindPhases(ScheduleModel& shape) const {
    std::vector<uint32_t> loop_end(count_, 0);  // of the loop that begins at a block: one past its last block
    for (uint32_t b = 0; b < count_; ++b)
      if (const Instruction& last = LastOf(kernel_, b); last.op == Op::kBranch && last.block <= b)
        loop_end[last.block] = std::max(loop_end[last.block], b + 1);
    shape.phase.resize(count_);
    uint32_t phase = 0;
    for (uint32_t b = 0; b < count_;) {
      uint32_t end = loop_end[b];
      if (end == 0) {
        shape.phase[b++] = phase;
        continue;
      }
      if (b > 0) ++phase;
      for (; b < end; ++b) {
        end = std::max(end, loop_end[b]);
        shape.phase[b] = phase;
      }
      ++phase;
    }
  }

  const KernelCode& kernel_;
  const std::vector<compile::MachineLoop>& loops_;
  const uint32_t count_;
  std::vector<uint32_t> entries_;  // how many edges lead to each block; the kernel's own entry not counted
  std::set<uint32_t> values_;      // slots of constants
};

}  // namespace

ScheduleModel ModelSchedule(const KernelCode& kernel, const std::vector<compile::MachineLoop>& loops) {
  return Shaper(kernel, loops).Shape();
}

}  // namespace warpwright::sim
