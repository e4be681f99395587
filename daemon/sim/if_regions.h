// Parts of a kernel between a conditional branch and the point where its paths meet, which can run without the branch.
// Internal to DecodePtx.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "sim/cfg.h"

namespace warpwright::sim {

struct IfRegion {
  uint32_t head = 0;             // the block that ends with the branch; not of the region itself
  uint32_t join = kNoBlock;      // where all paths meet; kNoBlock: the end of the kernel
  std::vector<uint32_t> blocks;  // in an order in which each comes after its predecessors
};

// What follows a block: a block that only exits counts as the end of the kernel, kNoBlock.
struct BlockEdges {
  uint32_t taken = kNoBlock, otherwise = kNoBlock;  // equal where there is no choice
  bool conditional = false;
};

class FlowGraph {
 public:
  // `lowered` and `blocks` as BuildBlocks made them; both outlive this.
  FlowGraph(const Lowered& lowered, const std::vector<BasicBlock>& blocks);
  BlockEdges Edges(uint32_t block) const;
  // Where all paths from the block meet first.
  uint32_t PostDominator(uint32_t block) const;
  // The blocks before it that can be reached.
  const std::vector<uint32_t>& Predecessors(uint32_t block) const { return predecessors_[block]; }
  const Instruction& Last(uint32_t block) const { return lowered_.code[blocks_[block].end - 1]; }
  const Lowered& lowered() const { return lowered_; }
  const std::vector<BasicBlock>& blocks() const { return blocks_; }

 private:
  const Lowered& lowered_;
  const std::vector<BasicBlock>& blocks_;
  std::vector<bool> only_exits_;
  std::vector<std::vector<uint32_t>> predecessors_;
};

// Of the branches with these numbers (Instruction::branch): the largest regions, which are disjoint, that have no loop,
// one entry, a moderate number of instructions, and nothing that other threads or the host could notice but stores and
// atomics. A branch into the middle of a larger one's region brings that one along.
std::vector<IfRegion> FindIfRegions(const FlowGraph& graph, const std::set<uint32_t>& branches);

}  // namespace warpwright::sim
