#include "sim/if_convert.h"

#include <map>
#include <optional>

#include "sim/if_regions.h"
#include "sim/liveness.h"

namespace warpwright::sim {
namespace {

constexpr size_t kJoin = SIZE_MAX;  // of a region, as a place among its blocks

// A predicate or its opposite; without a register: true.
struct Literal {
  uint32_t reg = kNoOperand;
  bool negated = false;
  bool IsTrue() const { return reg == kNoOperand; }
};

// What the lowering emits around calls, in memory that nothing else reads.
bool PassesArgument(const Instruction& in) {
  return in.space == Space::kLocal && in.count_as == core::InstructionClass::kMove;
}

// Writes the instructions of one region in a straight line.
class Linearizer {
 public:
  Linearizer(const FlowGraph& graph, const IfRegion& region, const LiveRegisters& live, Lowered& out)
      : graph_(graph), region_(region), live_(live), out_(out), line_(graph.Last(region.head).line) {}
  void Run();

 private:
  using Versions = std::map<uint32_t, uint32_t>;  // registers that were written since the head, and where they are now
  struct Node {
    uint32_t block = 0;
    Versions versions;  // after the block
    Literal condition;  // under which `taken` follows
    size_t taken = kJoin, otherwise = kJoin;
    size_t dominator = 0;
    std::vector<size_t> predecessors;
    std::optional<Literal> path;  // the condition under which the block is reached from the head
  };

  void MakeNodes();
  void MergeVersions(size_t node);
  void EndBlock(Node& node);
  void Copy(size_t node, Instruction in);
  void Leave();
  static uint32_t Version(const Versions& versions, uint32_t reg) {
    const auto found = versions.find(reg);
    return found == versions.end() ? reg : found->second;
  }
  // Where `reg` is on arrival at `target`, on all paths from `node`; kNoOperand if none leads there.
  uint32_t Value(size_t node, size_t target, uint32_t reg, std::map<size_t, uint32_t>& known);
  Literal Path(size_t node);
  bool PostDominates(uint32_t block, uint32_t of) const;

  Instruction Start(Op op, Type type) const;
  uint32_t NewRegister(RegisterClass cls) {
    out_.registers.push_back({cls, -1});
    return static_cast<uint32_t>(out_.registers.size() - 1);
  }
  RegisterClass ClassOfRegister(uint32_t reg) const { return out_.registers[reg].cls; }
  void Move(uint32_t to, uint32_t from, Literal guard = {});
  uint32_t Select(Literal condition, uint32_t then, uint32_t otherwise);
  uint32_t Logic(Op op, uint32_t a, uint32_t b);
  uint32_t Positive(Literal literal);
  Literal And(Literal a, Literal b);

  const FlowGraph& graph_;
  const IfRegion& region_;
  const LiveRegisters& live_;
  Lowered& out_;
  const uint32_t line_;
  std::vector<Node> nodes_;  // [0]: the head
  std::map<uint32_t, uint32_t> negated_;
};

Instruction Linearizer::Start(Op op, Type type) const {
  Instruction in;
  in.op = op;
  in.type = type;
  in.counted = 0;
  in.line = line_;
  return in;
}

void Linearizer::Move(uint32_t to, uint32_t from, Literal guard) {
  const RegisterClass cls = ClassOfRegister(to);
  Instruction in = Start(Op::kMove, cls == RegisterClass::k64   ? Type::kB64
                                    : cls == RegisterClass::k32 ? Type::kB32
                                                                : Type::kPred);
  in.defs = 1;
  in.operands = 2;
  in.reg[0] = to;
  in.reg[1] = from;
  in.guard = guard.reg;
  in.guard_negated = guard.negated;
  out_.code.push_back(in);
}

uint32_t Linearizer::Select(Literal condition, uint32_t then, uint32_t otherwise) {
  const RegisterClass cls = ClassOfRegister(then);
  const uint32_t result = NewRegister(cls);
  if (cls == RegisterClass::kPredicate) {
    Move(result, otherwise);
    Move(result, then, condition);
    return result;
  }
  Instruction in = Start(Op::kSelect, cls == RegisterClass::k64 ? Type::kB64 : Type::kB32);
  in.defs = 1;
  in.operands = 4;
  in.reg[0] = result;
  in.reg[1] = condition.negated ? otherwise : then;
  in.reg[2] = condition.negated ? then : otherwise;
  in.reg[3] = condition.reg;
  out_.code.push_back(in);
  return result;
}

uint32_t Linearizer::Logic(Op op, uint32_t a, uint32_t b) {
  Instruction in = Start(Op::kPredicateLogic, Type::kPred);
  in.mode = static_cast<uint8_t>(op);
  in.defs = 1;
  in.operands = op == Op::kNot ? 2 : 3;
  in.reg[0] = NewRegister(RegisterClass::kPredicate);
  in.reg[1] = a;
  if (op != Op::kNot) in.reg[2] = b;
  out_.code.push_back(in);
  return in.reg[0];
}

uint32_t Linearizer::Positive(Literal literal) {
  if (!literal.negated) return literal.reg;
  const auto [known, inserted] = negated_.try_emplace(literal.reg, 0);
  if (inserted) known->second = Logic(Op::kNot, literal.reg, 0);
  return known->second;
}

Literal Linearizer::And(Literal a, Literal b) {
  if (a.IsTrue()) return b;
  if (b.IsTrue()) return a;
  return {Logic(Op::kAnd, Positive(a), Positive(b))};
}

void Linearizer::MakeNodes() {
  std::map<uint32_t, size_t> place;
  nodes_.push_back({.block = region_.head});
  place[region_.head] = 0;
  for (const uint32_t block : region_.blocks) {
    place[block] = nodes_.size();
    nodes_.push_back({.block = block});
  }
  const auto target = [&](uint32_t block) {
    const auto found = place.find(block);
    return block == region_.join || found == place.end() ? kJoin : found->second;
  };
  for (size_t n = 0; n < nodes_.size(); ++n) {
    const BlockEdges edges = graph_.Edges(nodes_[n].block);
    nodes_[n].taken = target(edges.taken);
    nodes_[n].otherwise = target(edges.otherwise);
    if (nodes_[n].taken != kJoin) nodes_[nodes_[n].taken].predecessors.push_back(n);
    if (nodes_[n].otherwise != kJoin && nodes_[n].otherwise != nodes_[n].taken)
      nodes_[nodes_[n].otherwise].predecessors.push_back(n);
  }
  for (size_t n = 1; n < nodes_.size(); ++n) {
    size_t dominator = nodes_[n].predecessors[0];
    for (size_t other : nodes_[n].predecessors)
      while (dominator != other) {
        size_t& later = dominator > other ? dominator : other;
        later = nodes_[later].dominator;
      }
    nodes_[n].dominator = dominator;
  }
}

bool Linearizer::PostDominates(uint32_t block, uint32_t of) const {
  while (of != region_.join && of != kNoBlock && of != block) of = graph_.PostDominator(of);
  return of == block;
}

Literal Linearizer::Path(size_t n) {
  if (n == 0) return {};
  if (nodes_[n].path) return *nodes_[n].path;
  Literal path;
  if (PostDominates(nodes_[n].block, nodes_[nodes_[n].dominator].block)) {
    path = Path(nodes_[n].dominator);
  } else {
    for (const size_t before : nodes_[n].predecessors) {
      const Node& node = nodes_[before];
      Literal edge;
      if (node.taken != node.otherwise) edge = {node.condition.reg, node.condition.negated != (node.taken != n)};
      edge = And(Path(before), edge);
      path = path.IsTrue() ? edge : Literal{Logic(Op::kOr, Positive(path), Positive(edge))};
    }
  }
  nodes_[n].path = path;
  return path;
}

uint32_t Linearizer::Value(size_t n, size_t target, uint32_t reg, std::map<size_t, uint32_t>& known) {
  if (const auto found = known.find(n); found != known.end()) return found->second;
  const Node& node = nodes_[n];
  const auto by = [&](size_t next) {
    if (next == target) return Version(node.versions, reg);
    return next < target && next != kJoin ? Value(next, target, reg, known) : kNoOperand;
  };
  const uint32_t then = by(node.taken), otherwise = by(node.otherwise);
  uint32_t value = then;
  if (then == kNoOperand) value = otherwise;
  else if (otherwise != kNoOperand && otherwise != then) value = Select(node.condition, then, otherwise);
  known[n] = value;
  return value;
}

void Linearizer::MergeVersions(size_t n) {
  Versions merged;
  for (const size_t before : nodes_[n].predecessors)
    for (const auto& [reg, version] : nodes_[before].versions) {
      if (merged.contains(reg) || !live_.IsLiveIn(nodes_[n].block, reg)) continue;
      std::map<size_t, uint32_t> known;
      merged[reg] = Value(nodes_[n].dominator, n, reg, known);
    }
  nodes_[n].versions = std::move(merged);
}

void Linearizer::Copy(size_t n, Instruction in) {
  Versions& versions = nodes_[n].versions;
  for (int k = in.defs; k < in.operands; ++k) in.reg[k] = Version(versions, in.reg[k]);
  Literal own;
  if (in.guard != kNoOperand) own = {Version(versions, in.guard), in.guard_negated};
  const bool passes = PassesArgument(in), load = in.op == Op::kLoad && !passes;
  const bool changes = (in.op == Op::kStore && !passes) || in.op == Op::kAtomic || in.op == Op::kReduction;
  const Literal guard = load || changes ? And(own, Path(n)) : own;
  in.guard = guard.reg;
  in.guard_negated = guard.negated;
  in.speculative = load && !guard.IsTrue();
  // Where its own guard does not hold, a register keeps its value.
  std::vector<std::pair<uint32_t, uint32_t>> kept;
  for (int k = 0; k < in.defs; ++k) {
    kept.emplace_back(in.reg[k], Version(versions, in.reg[k]));
    in.reg[k] = versions[in.reg[k]] = NewRegister(ClassOfRegister(in.reg[k]));
    if (!guard.IsTrue() && !load) Move(in.reg[k], kept.back().second);
  }
  out_.code.push_back(in);
  if (!load || own.IsTrue()) return;
  for (const auto& [reg, before] : kept) versions[reg] = Select(own, versions[reg], before);
}

void Linearizer::EndBlock(Node& node) {
  const Instruction& last = graph_.Last(node.block);
  if (last.op == Op::kBranch && last.operands > 0)
    node.condition = {Version(node.versions, last.reg[0]), last.negate_predicate};
  else if (last.op == Op::kExit && last.guard != kNoOperand)
    node.condition = {Version(node.versions, last.guard), last.guard_negated};
}

// The registers get their values, all at once, and the kernel goes on.
void Linearizer::Leave() {
  if (region_.join == kNoBlock) {
    out_.code.push_back(Start(Op::kExit, Type::kNone));
    return;
  }
  std::map<uint32_t, uint32_t> values;
  for (const Node& node : nodes_) {
    if (node.taken != kJoin && node.otherwise != kJoin) continue;
    for (const auto& [reg, version] : node.versions) {
      if (values.contains(reg) || !live_.IsLiveIn(region_.join, reg)) continue;
      std::map<size_t, uint32_t> known;
      values[reg] = Value(0, kJoin, reg, known);
    }
  }
  for (const auto& [reg, value] : values)
    if (reg != value) Move(reg, value);
  Instruction branch = Start(Op::kBranch, Type::kNone);
  branch.block = region_.join;
  out_.code.push_back(branch);
}

void Linearizer::Run() {
  MakeNodes();
  EndBlock(nodes_[0]);
  for (size_t n = 1; n < nodes_.size(); ++n) {
    MergeVersions(n);
    const BasicBlock& block = graph_.blocks()[nodes_[n].block];
    for (uint32_t i = block.header + 1; i < block.end; ++i) {
      const Instruction& in = graph_.lowered().code[i];
      if (in.op != Op::kBranch && in.op != Op::kExit && in.op != Op::kEnd) Copy(n, in);
    }
    EndBlock(nodes_[n]);
  }
  Leave();
}

}  // namespace

Status IfConvert(Lowered& lowered, const std::set<uint32_t>& branches) {
  Lowered source = lowered;
  std::vector<BasicBlock> blocks;
  WW_TRY(BuildBlocks(source, blocks));
  const FlowGraph graph(source, blocks);
  const std::vector<IfRegion> regions = FindIfRegions(graph, branches);
  if (regions.empty()) return {};
  LiveRegisters live;
  WW_TRY(live.Compute(source, blocks));
  std::vector<const IfRegion*> headed(blocks.size(), nullptr);
  std::vector<bool> inside(blocks.size(), false);
  for (const IfRegion& region : regions) {
    headed[region.head] = &region;
    for (const uint32_t b : region.blocks) inside[b] = true;
  }
  lowered.code.clear();
  lowered.labels.assign(blocks.size(), 0);  // of the blocks: `source` names these in its branches
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    if (inside[b]) continue;
    lowered.labels[b] = static_cast<uint32_t>(lowered.code.size());
    const uint32_t end = headed[b] ? blocks[b].end - 1 : blocks[b].end;
    for (uint32_t i = blocks[b].header + 1; i < end; ++i)
      if (source.code[i].op != Op::kEnd) lowered.code.push_back(source.code[i]);
    if (headed[b]) Linearizer(graph, *headed[b], live, lowered).Run();
  }
  return {};
}

}  // namespace warpwright::sim
