#include "schedule/added_sums.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "schedule/problem.h"

namespace warpwright::schedule {
namespace {

using core::Coordinate;
using core::Nary;
using core::NodeId;
using core::Stage;
using core::TensorRead;
using core::VariableId;

constexpr size_t kNodesOfSum = 3;  // of a stage that adds two reads and does nothing else

// By index variable of the first sum, the one of the second.
using Order = std::vector<VariableId>;

bool IsSum(const Stage& stage) { return RootSumOf(stage) != nullptr && !stage.output && stage.domain.empty(); }

const TensorRead* ReadOf(const Stage& stage, NodeId id, const std::string& name) {
  const auto* read = std::get_if<TensorRead>(&stage.nodes[id]);
  return read != nullptr && read->stage && read->tensor == name ? read : nullptr;
}

// "t0[i, j]" or "c * t0[i, j]".
struct Term {
  const TensorRead* read = nullptr;
  double factor = 1;
};
std::optional<Term> TermOf(const Stage& stage, NodeId id, const std::string& name) {
  if (const TensorRead* read = ReadOf(stage, id, name)) return Term{read, 1};
  const auto* product = std::get_if<Nary>(&stage.nodes[id]);
  if (product == nullptr || product->op != core::ReduceOp::kProduct || product->args.size() != 2) return std::nullopt;
  for (const size_t factor : {0, 1}) {
    const auto* constant = std::get_if<core::Constant>(&stage.nodes[product->args[factor]]);
    const TensorRead* read = ReadOf(stage, product->args[1 - factor], name);
    if (constant != nullptr && read != nullptr) return Term{read, constant->value};
  }
  return std::nullopt;
}

size_t ReadsOf(const Stage& stage, const std::string& name) {
  const auto reachable = core::Reachable(stage);
  size_t reads = 0;
  for (NodeId id = 0; id < stage.nodes.size(); ++id) reads += reachable[id] && ReadOf(stage, id, name) != nullptr;
  return reads;
}

bool FitsOrder(const TensorRead& first, const TensorRead& second, const Order& order) {
  for (size_t v = 0; v < order.size(); ++v)
    if (first.at[v] != second.at[order[v]]) return false;
  return true;
}

// The pairs of a sum's terms in every reader.
struct Pair {
  size_t stage = 0;
  NodeId sum = 0;
  size_t first = 0, second = 0;  // arguments
};
std::optional<std::vector<Pair>> PairsOf(const core::Computation& computation, const Stage& a, const Stage& b,
                                         const Order& order) {
  std::vector<Pair> pairs;
  for (size_t i = 0; i < computation.stages.size(); ++i) {
    const Stage& stage = computation.stages[i];
    const size_t reads = ReadsOf(stage, a.name), others = ReadsOf(stage, b.name);
    if (reads != others) return std::nullopt;
    if (reads == 0) continue;
    const auto reachable = core::Reachable(stage);
    size_t found = 0;
    for (NodeId id = 0; id < stage.nodes.size(); ++id) {
      const auto* sum = reachable[id] ? std::get_if<Nary>(&stage.nodes[id]) : nullptr;
      if (sum == nullptr || sum->op != core::ReduceOp::kSum) continue;
      for (size_t x = 0; x < sum->args.size(); ++x) {
        const auto first = TermOf(stage, sum->args[x], a.name);
        for (size_t y = 0; first && y < sum->args.size(); ++y) {
          const auto second = TermOf(stage, sum->args[y], b.name);
          if (!second || second->factor != first->factor || !FitsOrder(*first->read, *second->read, order)) continue;
          pairs.push_back({i, id, x, y});
          ++found;
        }
      }
    }
    // A read that several sums have, or none: it is not only what both come to that is needed.
    if (found != reads) return std::nullopt;
  }
  std::set<std::pair<size_t, NodeId>> sums;
  for (const Pair& pair : pairs)
    if (!sums.emplace(pair.stage, pair.sum).second) return std::nullopt;
  const auto is_no_more = [&](const Pair& pair) { return computation.stages[pair.stage].nodes.size() <= kNodesOfSum; };
  return std::all_of(pairs.begin(), pairs.end(), is_no_more) ? std::nullopt : std::optional(std::move(pairs));
}

// The ways in which the second's extents may be the first's.
std::vector<Order> OrdersOf(const Stage& a, const Stage& b) {
  constexpr size_t kMost = 3;
  std::vector<Order> orders;
  if (a.extents.size() != b.extents.size() || a.extents.size() > kMost) return orders;
  Order order(a.extents.size());
  for (size_t v = 0; v < order.size(); ++v) order[v] = static_cast<VariableId>(v);
  do {
    bool same = true;
    for (size_t v = 0; v < order.size(); ++v) same &= Equal(a.extents[v], b.extents[order[v]]);
    if (same) orders.push_back(order);
  } while (std::next_permutation(order.begin(), order.end()));
  return orders;
}

// The first's read becomes one of both.
void ReadBoth(Stage& stage, const Pair& pair, const Stage& a, const std::string& both) {
  const auto* sum = std::get_if<Nary>(&stage.nodes[pair.sum]);
  const NodeId term = sum->args[pair.first];
  auto* read = std::get_if<TensorRead>(&stage.nodes[term]);
  if (read == nullptr)
    for (const NodeId factor : std::get<Nary>(stage.nodes[term]).args)
      if (ReadOf(stage, factor, a.name) != nullptr) read = std::get_if<TensorRead>(&stage.nodes[factor]);
  read->tensor = both;
}

void Add(core::Computation& computation, size_t a, size_t b, const Order& order, const std::vector<Pair>& pairs) {
  const Stage first = computation.stages[a], second = computation.stages[b];
  Stage both{
      .name = computation.FreeName(first.name + "_" + second.name), .extents = first.extents, .line = first.line};
  TensorRead of_first{first.name, true, {}}, of_second{second.name, true, std::vector<Coordinate>(order.size())};
  for (VariableId v = 0; v < order.size(); ++v) {
    of_first.at.emplace_back(core::AffineOf(v));
    of_second.at[order[v]] = core::AffineOf(v);
  }
  both.nodes = {std::move(of_first), std::move(of_second), Nary{core::ReduceOp::kSum, {0, 1}}};
  for (const Pair& pair : pairs) ReadBoth(computation.stages[pair.stage], pair, first, both.name);
  for (const Pair& pair : pairs) {
    auto& nodes = computation.stages[pair.stage].nodes;
    auto& args = std::get<Nary>(nodes[pair.sum]).args;
    args.erase(args.begin() + static_cast<std::ptrdiff_t>(pair.second));
    if (args.size() == 1) nodes[pair.sum] = core::Node(nodes[args[0]]);
  }
  for (const Pair& pair : pairs) computation.stages[pair.stage] = WithoutUnused(computation.stages[pair.stage]);
  computation.stages.insert(computation.stages.begin() + static_cast<std::ptrdiff_t>(std::max(a, b) + 1),
                            std::move(both));
}

}  // namespace

core::Computation WithAddedSums(core::Computation computation) {
  for (size_t a = 0; a < computation.stages.size(); ++a)
    for (size_t b = 0; b < computation.stages.size(); ++b) {
      const auto& stages = computation.stages;
      if (a == b || !IsSum(stages[a]) || !IsSum(stages[b])) continue;
      for (const Order& order : OrdersOf(stages[a], stages[b]))
        if (const auto pairs = PairsOf(computation, stages[a], stages[b], order)) {
          Add(computation, a, b, order, *pairs);
          break;
        }
    }
  return computation;
}

}  // namespace warpwright::schedule
