#include "sim/if_regions.h"

#include <algorithm>

namespace warpwright::sim {
namespace {

constexpr size_t kMaxInstructions = 600;
constexpr size_t kMaxBlocks = 128;

bool IsExit(const Instruction& in) { return in.op == Op::kExit || in.op == Op::kEnd; }

// May run in threads that would not have come here, stores and atomics under a guard?
bool MayRun(const Instruction& in) {
  switch (in.op) {
    case Op::kUnsupported:
    case Op::kBarrier:
    case Op::kBarrierArrive:
    case Op::kBarrierReduce:
    case Op::kWarpBarrier:
    case Op::kTrap:
    case Op::kPrint:
    case Op::kAssertFail:
    case Op::kClock:
    case Op::kShuffle:
    case Op::kVote:
    case Op::kMatchAny:
    case Op::kMatchAll:
    case Op::kRedux:
    case Op::kAsyncCopy:
    case Op::kMbarrier:
    case Op::kAsyncCommit:
    case Op::kAsyncWait:
    case Op::kMatrixProduct:
    case Op::kMatrixTranspose:
    case Op::kMatrixLoad:
    case Op::kMatrixStore:
    case Op::kWarpgroupProduct:
    case Op::kWarpgroupFence:
    case Op::kWarpgroupCommit:
    case Op::kWarpgroupWait:
    case Op::kWarpgroupMisuse:
    case Op::kProxyFence:
    case Op::kActiveMask:
    case Op::kElect: return false;
    default: return !in.is_volatile;
  }
}

class RegionFinder {
 public:
  explicit RegionFinder(const FlowGraph& graph) : graph_(graph) {}

  std::optional<IfRegion> Around(uint32_t block) {
    if (auto own = At(block); own || !second_entry_) return own;
    std::optional<IfRegion> smallest;
    for (uint32_t head = 0; head < graph_.blocks().size(); ++head) {
      if (head == block || !graph_.Edges(head).conditional) continue;
      auto region = At(head);
      if (!region || std::find(region->blocks.begin(), region->blocks.end(), block) == region->blocks.end()) continue;
      if (!smallest || region->blocks.size() < smallest->blocks.size()) smallest = std::move(region);
    }
    return smallest;
  }

 private:
  std::optional<IfRegion> At(uint32_t head) {
    second_entry_ = false;
    region_ = {.head = head, .join = graph_.PostDominator(head)};
    state_.assign(graph_.blocks().size(), State::kNew);
    state_[head] = State::kOpen;
    size_ = 0;
    const BlockEdges edges = graph_.Edges(head);
    if (!Visit(edges.taken) || !Visit(edges.otherwise)) return std::nullopt;
    for (const uint32_t block : region_.blocks)
      for (const uint32_t before : graph_.Predecessors(block))
        second_entry_ |= before != head && state_[before] != State::kDone;
    if (second_entry_) return std::nullopt;
    std::reverse(region_.blocks.begin(), region_.blocks.end());
    return region_;
  }

  // Depth first; false if there is a loop, or something that must not run.
  bool Visit(uint32_t block) {
    if (block == region_.join || block == kNoBlock) return true;
    if (state_[block] != State::kNew) return state_[block] == State::kDone;
    state_[block] = State::kOpen;
    const BasicBlock& code = graph_.blocks()[block];
    size_ += code.end - code.header;
    if (size_ > kMaxInstructions || region_.blocks.size() >= kMaxBlocks) return false;
    for (uint32_t i = code.header; i < code.end; ++i) {
      const Instruction& in = graph_.lowered().code[i];
      if (!MayRun(in) || (IsExit(in) && region_.join != kNoBlock)) return false;
    }
    const BlockEdges edges = graph_.Edges(block);
    if (!Visit(edges.taken) || !Visit(edges.otherwise)) return false;
    state_[block] = State::kDone;
    region_.blocks.push_back(block);
    return true;
  }

  enum class State : uint8_t { kNew, kOpen, kDone };
  const FlowGraph& graph_;
  IfRegion region_;
  std::vector<State> state_;
  size_t size_ = 0;
  bool second_entry_ = false;
};

}  // namespace

FlowGraph::FlowGraph(const Lowered& lowered, const std::vector<BasicBlock>& blocks)
    : lowered_(lowered), blocks_(blocks), only_exits_(blocks.size()), predecessors_(blocks.size()) {
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    const Instruction& first = lowered.code[blocks[b].header + 1];
    only_exits_[b] = IsExit(first) && first.guard == kNoOperand;
  }
  std::vector<bool> seen(blocks.size(), false);
  std::vector<uint32_t> open{0};
  seen[0] = true;
  while (!open.empty()) {
    const uint32_t block = open.back();
    open.pop_back();
    const BlockEdges edges = Edges(block);
    const auto follow = [&](uint32_t next) {
      if (next == kNoBlock) return;
      predecessors_[next].push_back(block);
      if (!seen[next]) open.push_back(next);
      seen[next] = true;
    };
    follow(edges.taken);
    if (edges.otherwise != edges.taken) follow(edges.otherwise);
  }
}

BlockEdges FlowGraph::Edges(uint32_t block) const {
  const auto target = [this](uint32_t next) { return only_exits_[next] ? kNoBlock : next; };
  const Instruction& last = Last(block);
  if (last.op == Op::kBranch && last.operands > 0) return {target(last.block), target(block + 1), true};
  if (last.op == Op::kBranch) return {target(last.block), target(last.block), false};
  if (IsExit(last) || last.op == Op::kTrap) {
    if (last.guard == kNoOperand) return {};
    return {kNoBlock, target(block + 1), true};
  }
  return {target(block + 1), target(block + 1), false};
}

uint32_t FlowGraph::PostDominator(uint32_t block) const {
  const Instruction& last = Last(block);
  if (last.op == Op::kBranch && last.operands > 0) return last.reconverge;
  const BlockEdges edges = Edges(block);
  return edges.conditional ? kNoBlock : edges.taken;
}

std::vector<IfRegion> FindIfRegions(const FlowGraph& graph, const std::set<uint32_t>& branches) {
  std::vector<IfRegion> found;
  RegionFinder finder(graph);
  for (uint32_t b = 0; b < graph.blocks().size(); ++b) {
    if (!graph.Edges(b).conditional || !branches.contains(graph.Last(b).branch)) continue;
    if (auto region = finder.Around(b)) found.push_back(std::move(*region));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const IfRegion& a, const IfRegion& b) { return a.blocks.size() > b.blocks.size(); });
  std::vector<IfRegion> chosen;
  std::vector<bool> taken(graph.blocks().size(), false), heads = taken;
  for (IfRegion& region : found) {
    const bool overlaps =
        taken[region.head] || heads[region.head] ||
        std::any_of(region.blocks.begin(), region.blocks.end(), [&](uint32_t b) { return taken[b] || heads[b]; });
    if (overlaps) continue;
    heads[region.head] = true;
    for (const uint32_t b : region.blocks) taken[b] = true;
    chosen.push_back(std::move(region));
  }
  return chosen;
}

}  // namespace warpwright::sim
