#include "sim/warpgroup_registers.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "sim/cfg.h"

namespace warpwright::sim {
namespace {

bool IsMove(const Instruction& in) {
  return in.op == Op::kMove && in.defs == 1 && in.operands == 2 && in.guard == kNoOperand;
}

// Of one place of the code, by register of interest.
struct State {
  static constexpr uint8_t kFree = UINT8_MAX;
  bool reached = false;
  bool fenced = true;            // some wgmma.fence came before, on all ways
  std::vector<uint8_t> dirty;    // written since the last wgmma.fence, on some way
  std::vector<uint8_t> reading;  // A of a product: groups that were committed since; kFree: none reads it

  bool Join(const State& other) {
    if (!reached) {
      *this = other;
      return true;
    }
    bool changed = fenced && !other.fenced;
    fenced &= other.fenced;
    for (size_t k = 0; k < dirty.size(); ++k) {
      changed |= other.dirty[k] > dirty[k] || other.reading[k] < reading[k];
      dirty[k] = std::max(dirty[k], other.dirty[k]);
      reading[k] = std::min(reading[k], other.reading[k]);
    }
    return changed;
  }
};

class RegisterCheck {
 public:
  RegisterCheck(Lowered& lowered, const std::vector<BasicBlock>& blocks, ProgramCode& program)
      : lowered_(lowered), blocks_(blocks), program_(program) {}

  void Run() {
    Collect();
    State start;
    start.reached = true, start.fenced = false;
    start.dirty.assign(number_.size(), 0);
    start.reading.assign(number_.size(), State::kFree);
    std::vector<State> in(blocks_.size());
    in[0] = std::move(start);
    std::vector<uint32_t> open = {0}, successors;
    while (!open.empty()) {
      const uint32_t block = open.back();
      open.pop_back();
      State state = in[block];
      Walk(block, state, false);
      Successors(lowered_, blocks_, block, successors);
      for (const uint32_t next : successors)
        if (next != kNoBlock && in[next].Join(state)) open.push_back(next);
    }
    for (uint32_t block = 0; block < blocks_.size(); ++block)
      if (in[block].reached) Walk(block, in[block], true);
  }

 private:
  // Registers of products, and those that moves bring into them.
  void Collect() {
    const auto add = [&](uint32_t id) { return number_.try_emplace(id, number_.size()).second; };
    for (const Instruction& in : lowered_.code) {
      if (in.op != Op::kWarpgroupProduct) continue;
      for (int k = 0; k < LastRegister(in); ++k) add(in.reg[k]);
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const Instruction& in : lowered_.code)
        if (IsMove(in) && number_.contains(in.reg[0]) && !IsConstant(in.reg[1])) changed |= add(in.reg[1]);
    }
  }
  bool IsConstant(uint32_t id) const { return lowered_.registers[id].constant >= 0; }
  // Behind the sums and A's registers.
  static int LastRegister(const Instruction& in) {
    return 2 * in.defs + (in.product.left_in_registers ? LeftRegisters(in.product.shape, 2) : 0);
  }
  size_t NumberOf(uint32_t id) const {
    const auto found = number_.find(id);
    return found == number_.end() ? SIZE_MAX : found->second;
  }

  void Walk(uint32_t block, State& state, bool report) {
    for (uint32_t i = blocks_[block].header; i < blocks_[block].end; ++i) {
      Instruction& in = lowered_.code[i];
      switch (in.op) {
        case Op::kWarpgroupFence:
          state.fenced = true;
          std::fill(state.dirty.begin(), state.dirty.end(), 0);
          break;
        case Op::kWarpgroupCommit:
          for (uint8_t& groups : state.reading)
            if (groups < 8) ++groups;
          break;
        case Op::kWarpgroupWait:
          for (uint8_t& groups : state.reading)
            if (groups != State::kFree && groups > in.immediate) groups = State::kFree;
          break;
        case Op::kWarpgroupProduct: StepProduct(in, state, report); break;
        default: StepOther(in, state, report); break;
      }
    }
  }

  void StepProduct(Instruction& in, State& state, bool report) {
    bool dirty = false;
    for (int k = in.defs; k < LastRegister(in); ++k) dirty |= state.dirty[NumberOf(in.reg[k])] != 0;
    if (report && !state.fenced) Mark(in, "missing wgmma.fence: none comes before the first wgmma.mma_async");
    else if (report && dirty)
      Mark(in, "missing wgmma.fence: registers of this wgmma.mma_async are written after the last one");
    for (int k = 0; k < in.defs; ++k) state.dirty[NumberOf(in.reg[k])] = 0;
    for (int k = 2 * in.defs; k < LastRegister(in); ++k) state.reading[NumberOf(in.reg[k])] = 0;
  }

  void StepOther(Instruction& in, State& state, bool report) {
    for (int k = 0; k < in.defs; ++k) {
      const size_t to = NumberOf(in.reg[k]);
      if (to == SIZE_MAX) continue;
      const size_t from = IsMove(in) ? NumberOf(in.reg[1]) : SIZE_MAX;
      if (report && state.reading[to] != State::kFree)
        Mark(in, "a register with a part of A is written before wgmma.wait_group has waited for the wgmma.mma_async");
      state.dirty[to] = !IsMove(in) ? 1 : from == SIZE_MAX ? 0 : state.dirty[from];
    }
  }

  // What is no product becomes a fault of its own.
  void Mark(Instruction& in, std::string_view why) {
    in.mode = 1;
    in.text = static_cast<uint32_t>(program_.texts.size());
    program_.texts.emplace_back(why);
    if (in.op == Op::kWarpgroupProduct) return;
    in.op = Op::kWarpgroupMisuse;
  }

  Lowered& lowered_;
  const std::vector<BasicBlock>& blocks_;
  ProgramCode& program_;
  std::unordered_map<uint32_t, size_t> number_;
};

}  // namespace

void CheckWarpgroupRegisters(Lowered& lowered, const std::vector<BasicBlock>& blocks, ProgramCode& program) {
  RegisterCheck(lowered, blocks, program).Run();
}

}  // namespace warpwright::sim
