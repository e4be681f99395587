#include "sim/liveness.h"

namespace warpwright::sim {
namespace {

constexpr uint64_t kBitLimit = 1ull << 31;  // of the sets of one kernel

}  // namespace

// Registers that some block reads before it writes them, or that are live in more than one block.
void LiveRegisters::FindGlobals(const Lowered& lowered, const std::vector<BasicBlock>& blocks) {
  const size_t count = lowered.registers.size();
  std::vector<uint32_t> home(count, kNoBlock);
  std::vector<uint32_t> defined_in(count, kNoBlock);
  std::vector<bool> global(count, false);
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    for (uint32_t i = blocks[b].header; i < blocks[b].end; ++i) {
      const Instruction& in = lowered.code[i];
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
    if (!global[id] || lowered.registers[id].constant >= 0) continue;
    global_of_[id] = static_cast<uint32_t>(globals_.size());
    globals_.push_back(id);
  }
}

void LiveRegisters::Solve(const Lowered& lowered, const std::vector<BasicBlock>& blocks) {
  const size_t words = (globals_.size() + 63) / 64;
  const auto count = static_cast<uint32_t>(blocks.size());
  std::vector<std::vector<uint64_t>> use(count, std::vector<uint64_t>(words)), def = use;
  in_ = out_ = use;
  std::vector<std::vector<uint32_t>> predecessors(count);
  std::vector<uint32_t> successors;
  for (uint32_t b = 0; b < count; ++b) {
    for (uint32_t i = blocks[b].header; i < blocks[b].end; ++i) {
      const Instruction& in = lowered.code[i];
      ForEachUse(in, [&](uint32_t id) {
        const uint32_t g = global_of_[id];
        if (g != kNoOperand && !(def[b][g / 64] >> (g % 64) & 1)) use[b][g / 64] |= 1ull << (g % 64);
      });
      for (int d = 0; d < in.defs; ++d)
        if (const uint32_t g = global_of_[in.reg[d]]; g != kNoOperand) def[b][g / 64] |= 1ull << (g % 64);
    }
    Successors(lowered, blocks, b, successors);
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
    Successors(lowered, blocks, b, successors);
    for (size_t w = 0; w < words; ++w) {
      uint64_t out = 0;
      for (uint32_t s : successors)
        if (s != kNoBlock) out |= in_[s][w];
      out_[b][w] = out;
    }
    bool changed = false;
    for (size_t w = 0; w < words; ++w) {
      const uint64_t in = use[b][w] | (out_[b][w] & ~def[b][w]);
      changed |= in != in_[b][w];
      in_[b][w] = in;
    }
    if (!changed) continue;
    for (uint32_t p : predecessors[b])
      if (!queued[p]) {
        queued[p] = true;
        work.push_back(p);
      }
  }
}

Status LiveRegisters::Compute(const Lowered& lowered, const std::vector<BasicBlock>& blocks) {
  FindGlobals(lowered, blocks);
  if (static_cast<uint64_t>(globals_.size()) * blocks.size() * 4 > kBitLimit)
    return Fail(ErrorCode::kUnsupported, "kernel " + lowered.info.symbol + " is too large to simulate");
  Solve(lowered, blocks);
  return {};
}

}  // namespace warpwright::sim
