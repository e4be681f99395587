#include "sim/cfg.h"

#include <algorithm>

namespace warpwright::sim {
namespace {

// A block ends after these.
bool EndsBlock(const Instruction& in) { return in.op == Op::kBranch || in.op == Op::kExit || in.op == Op::kTrap; }
bool Falls(const Instruction& in) {
  if (in.op == Op::kBranch) return in.operands > 0;
  if (in.op == Op::kExit || in.op == Op::kTrap) return in.guard != kNoOperand;
  return in.op != Op::kEnd;
}

// Immediate post-dominators by Cooper, Harvey and Kennedy's iteration ("A Simple, Fast Dominance Algorithm", 2001) on
// the reversed graph, whose root is the end of the kernel (index n).
class PostDominators {
 public:
  explicit PostDominators(const std::vector<std::vector<uint32_t>>& successors)
      : n_(static_cast<uint32_t>(successors.size())),
        predecessors_(n_ + 1),
        order_of_(n_ + 1, kNoBlock),
        parent_(n_ + 1, kNoBlock) {
    for (uint32_t b = 0; b < n_; ++b)
      for (uint32_t s : successors[b]) predecessors_[s == kNoBlock ? n_ : s].push_back(b);
    Order();
    parent_[n_] = n_;
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t b : order_) {
        if (b == n_) continue;
        uint32_t meet = kNoBlock;
        for (uint32_t s : successors[b]) {
          const uint32_t node = s == kNoBlock ? n_ : s;
          if (order_of_[node] == kNoBlock || parent_[node] == kNoBlock) continue;
          meet = meet == kNoBlock ? node : Intersect(meet, node);
        }
        if (meet != kNoBlock && parent_[b] != meet) {
          parent_[b] = meet;
          changed = true;
        }
      }
    }
  }
  // kNoBlock: only the end, or no path to the end.
  uint32_t Of(uint32_t block) const { return parent_[block] == n_ ? kNoBlock : parent_[block]; }

 private:
  void Order() {  // reverse post-order from the end, without recursion
    std::vector<std::pair<uint32_t, size_t>> stack{{n_, 0}};
    std::vector<bool> seen(n_ + 1, false);
    seen[n_] = true;
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next < predecessors_[node].size()) {
        const uint32_t to = predecessors_[node][next++];
        if (!seen[to]) {
          seen[to] = true;
          stack.emplace_back(to, 0);
        }
      } else {
        order_.push_back(node);
        stack.pop_back();
      }
    }
    std::reverse(order_.begin(), order_.end());
    for (uint32_t i = 0; i < order_.size(); ++i) order_of_[order_[i]] = i;
  }
  uint32_t Intersect(uint32_t a, uint32_t b) const {
    while (a != b) {
      while (order_of_[a] > order_of_[b]) a = parent_[a];
      while (order_of_[b] > order_of_[a]) b = parent_[b];
    }
    return a;
  }

  uint32_t n_;
  std::vector<std::vector<uint32_t>> predecessors_;
  std::vector<uint32_t> order_, order_of_, parent_;
};

}  // namespace

void Successors(const Lowered& lowered, const std::vector<BasicBlock>& blocks, uint32_t block,
                std::vector<uint32_t>& out) {
  out.clear();
  const Instruction& last = lowered.code[blocks[block].end - 1];
  if (last.op == Op::kBranch) out.push_back(last.block);
  if (Falls(last)) out.push_back(block + 1);
  if (last.op == Op::kExit || last.op == Op::kTrap || last.op == Op::kEnd) out.push_back(kNoBlock);
}

Status BuildBlocks(Lowered& lowered, std::vector<BasicBlock>& blocks) {
  const std::vector<Instruction> code = std::move(lowered.code);
  const auto size = static_cast<uint32_t>(code.size());
  std::vector<bool> leader(size + 1, false);
  leader[0] = leader[size] = true;
  for (uint32_t i = 0; i < size; ++i) {
    if (code[i].op == Op::kBranch) leader[lowered.labels[code[i].block]] = true;
    if (EndsBlock(code[i])) leader[i + 1] = true;
  }
  std::vector<uint32_t> block_at(size + 1, kNoBlock);
  lowered.code.clear();
  lowered.code.reserve(size + size / 4 + 4);
  for (uint32_t i = 0; i <= size; ++i) {
    if (leader[i]) {
      if (!blocks.empty()) blocks.back().end = static_cast<uint32_t>(lowered.code.size());
      Instruction header;
      header.op = Op::kHeader;
      header.counted = 0;
      header.block = block_at[i] = static_cast<uint32_t>(blocks.size());
      header.line = i < size ? code[i].line : 0;
      blocks.push_back({static_cast<uint32_t>(lowered.code.size()), 0});
      lowered.code.push_back(header);
    }
    if (i < size) {
      lowered.code.push_back(code[i]);
      lowered.code[blocks.back().header].immediate += code[i].counted;
    }
  }
  // A kernel that runs off its end has returned.
  Instruction end;
  end.op = Op::kEnd;
  end.counted = 0;
  lowered.code.push_back(end);
  blocks.back().end = static_cast<uint32_t>(lowered.code.size());
  const auto count = static_cast<uint32_t>(blocks.size());
  for (uint32_t b = 0; b < count; ++b) {
    Instruction& last = lowered.code[blocks[b].end - 1];
    if (last.op != Op::kBranch) continue;
    last.block = block_at[lowered.labels[last.block]];
    last.fall_through = b + 1;
  }
  std::vector<bool> only_exits(count);
  for (uint32_t b = 0; b < count; ++b) {
    const Instruction& first = lowered.code[blocks[b].header + 1];
    only_exits[b] = (first.op == Op::kExit || first.op == Op::kEnd) && first.guard == kNoOperand;
  }
  std::vector<std::vector<uint32_t>> successors(count);
  for (uint32_t b = 0; b < count; ++b) {
    Successors(lowered, blocks, b, successors[b]);
    const Instruction& last = lowered.code[blocks[b].end - 1];
    // An unguarded trap never reaches the end: paths meet as if it did not exist.
    if (last.op == Op::kTrap) successors[b].pop_back();
    for (uint32_t& s : successors[b])
      if (s != kNoBlock && only_exits[s]) s = kNoBlock;
  }
  const PostDominators dominators(successors);
  for (uint32_t b = 0; b < count; ++b) {
    Instruction& last = lowered.code[blocks[b].end - 1];
    if (last.op != Op::kBranch || last.operands == 0) continue;
    last.reconverge = dominators.Of(b);
    if (last.reconverge != kNoBlock) lowered.code[blocks[last.reconverge].header].reconverge = last.reconverge;
  }
  return {};
}

}  // namespace warpwright::sim
