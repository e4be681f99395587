// Which registers are live where basic blocks begin and end. Internal to DecodePtx.
#pragma once

#include <bit>
#include <vector>

#include "sim/cfg.h"

namespace warpwright::sim {

// Calls `f` with the registers that the instruction reads.
template <typename F>
void ForEachUse(const Instruction& in, F f) {
  for (int i = in.defs; i < in.operands; ++i) f(in.reg[i]);
  if (in.guard != kNoOperand) {
    f(in.guard);
    // Lanes that the guard switches off keep the old value.
    if (in.speculative) return;
    for (int i = 0; i < in.defs; ++i) f(in.reg[i]);
  }
}

// Of registers that are read in a block that has not written them before; others live inside one block.
class LiveRegisters {
 public:
  // `lowered` and `blocks` as BuildBlocks made them.
  Status Compute(const Lowered& lowered, const std::vector<BasicBlock>& blocks);
  bool IsLiveIn(uint32_t block, uint32_t id) const {
    const uint32_t g = global_of_[id];
    return g != kNoOperand && (in_[block][g / 64] >> (g % 64) & 1) != 0;
  }
  // In ascending order.
  template <typename F>
  void ForEachIn(uint32_t block, F f) const {
    ForEach(in_[block], f);
  }
  template <typename F>
  void ForEachOut(uint32_t block, F f) const {
    ForEach(out_[block], f);
  }

 private:
  template <typename F>
  void ForEach(const std::vector<uint64_t>& set, F f) const {
    for (size_t w = 0; w < set.size(); ++w)
      for (uint64_t bits = set[w]; bits != 0; bits &= bits - 1)
        f(globals_[64 * w + static_cast<size_t>(std::countr_zero(bits))]);
  }
  void FindGlobals(const Lowered& lowered, const std::vector<BasicBlock>& blocks);
  void Solve(const Lowered& lowered, const std::vector<BasicBlock>& blocks);

  std::vector<uint32_t> global_of_;  // register -> index among those that live across blocks
  std::vector<uint32_t> globals_;
  std::vector<std::vector<uint64_t>> in_, out_;
};

}  // namespace warpwright::sim
