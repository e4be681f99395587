#include "core/outside_terms.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "core/computation_walk.h"

namespace warpwright::core {
namespace {

class ZeroWriter {
 public:
  ZeroWriter(const Computation& computation, const Stage& stage) : stage_(stage) {
    for (NodeId id = 0; id < stage.nodes.size(); ++id) {
      const auto* sum = std::get_if<Reduce>(&stage.nodes[id]);
      if (sum == nullptr || sum->op != ReduceOp::kSum) continue;
      for (const Guard& guard : sum->guards)
        if (guard.outside == Guard::Outside::kZero)
          for (const NodeId node : NodesThatEnd(computation, stage, *sum, guard))
            ends_[node].push_back(guard), taken_[id].push_back(guard);
    }
  }

  std::vector<Node> Write() {
    std::vector<NodeId> moved;
    for (NodeId id = 0; id < stage_.nodes.size(); ++id) {
      Node node = stage_.nodes[id];
      ForEachArgument(node, [&](NodeId& arg) { arg = moved[arg]; });
      if (const auto taken = taken_.find(id); taken != taken_.end())
        for (const Guard& guard : taken->second) TakeBounds(guard, std::get<Reduce>(node));
      NodeId own = Add(std::move(node));
      if (const auto ends = ends_.find(id); ends != ends_.end())
        for (const Guard& guard : ends->second) {
          const NodeId inside = Inside(guard);
          own = Add(Select{inside, own, Add(Constant{0})});
        }
      moved.push_back(own);
    }
    return std::move(nodes_);
  }

 private:
  NodeId Add(Node node) {
    nodes_.push_back(std::move(node));
    return static_cast<NodeId>(nodes_.size() - 1);
  }
  // What is no integer has no read, and stays left out.
  static void TakeBounds(const Guard& guard, Reduce& sum) {
    const auto found = std::find(sum.guards.begin(), sum.guards.end(), guard);
    if (found == sum.guards.end()) return;
    found->low = found->high = std::nullopt;
    if (IsNumber(found->value.divisor, 1)) sum.guards.erase(found);
  }
  NodeId Inside(const Guard& guard) {
    const NodeId at = Add(IndexValue{guard.value});
    std::vector<NodeId> bounds;
    if (guard.low) {
      const NodeId low = Add(SizeValue{*guard.low});
      bounds.push_back(Add(Compare{Comparison::kLessEqual, low, at}));
    }
    if (guard.high) {
      const NodeId high = Add(SizeValue{*guard.high});
      bounds.push_back(Add(Compare{Comparison::kLess, at, high}));
    }
    return bounds.size() == 1 ? bounds[0] : Add(Logic{Logic::Op::kAnd, std::move(bounds)});
  }

  const Stage& stage_;
  std::map<NodeId, std::vector<Guard>> ends_, taken_;  // by what ends, and by sum
  std::vector<Node> nodes_;
};

// The factors that are made of these nodes.
std::set<NodeId> FactorsOf(const Stage& stage, const Nary& product, const std::set<NodeId>& nodes) {
  std::set<NodeId> made = nodes;
  for (NodeId id = 0; id < stage.nodes.size(); ++id)
    ForEachArgument(stage.nodes[id], [&](NodeId arg) {
      if (made.contains(arg)) made.insert(id);
    });
  std::set<NodeId> factors;
  for (const NodeId factor : product.args)
    if (made.contains(factor)) factors.insert(factor);
  return factors;
}

}  // namespace

std::set<NodeId> NodesThatEnd(const Computation& computation, const Stage& stage, const Reduce& sum,
                              const Guard& guard) {
  std::set<NodeId> nodes;
  if (!guard.low && !guard.high) return nodes;
  for (NodeId id = 0; id <= sum.body; ++id) {
    const auto* read = std::get_if<TensorRead>(&stage.nodes[id]);
    if (read == nullptr || std::find(read->at.begin(), read->at.end(), Coordinate(guard.value)) == read->at.end())
      continue;
    const TensorArgument* tensor = read->stage ? nullptr : computation.FindTensor(read->tensor);
    if (tensor == nullptr || IsFloat(tensor->dtype)) nodes.insert(id);
  }
  const auto* product = std::get_if<Nary>(&stage.nodes[sum.body]);
  if (product == nullptr || product->op != ReduceOp::kProduct || product->args.size() < 2) return nodes;
  if (!nodes.empty()) return FactorsOf(stage, *product, nodes);
  for (const NodeId factor : product->args)
    if (const auto* call = std::get_if<Call>(&stage.nodes[factor]); call && call->function == Function::kExp)
      nodes.insert(factor);
  return nodes;
}

Computation WithZerosOutside(const Computation& computation) {
  Computation with = computation;
  for (Stage& stage : with.stages) stage.nodes = ZeroWriter(computation, stage).Write();
  return with;
}

}  // namespace warpwright::core
