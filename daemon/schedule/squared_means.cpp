#include "schedule/squared_means.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "core/computation_walk.h"
#include "core/polynomial.h"
#include "schedule/problem.h"

namespace warpwright::schedule {
namespace {

using core::NodeId;
using core::Polynomial;

// n of n * n, where that is a product of names and numbers.
std::optional<core::Size> RootOf(const core::Size& size) {
  const Polynomial square = Polynomial::Of(size);
  if (square.terms().size() != 1 || square.constant()) return std::nullopt;
  const auto& [atoms, coefficient] = *square.terms().begin();
  const auto number =
      static_cast<int64_t>(std::llround(std::sqrt(static_cast<double>(std::max<int64_t>(coefficient, 0)))));
  if (number < 1 || number * number != coefficient || atoms.size() % 2 != 0) return std::nullopt;
  std::string root = std::to_string(number);
  for (size_t i = 0; i < atoms.size(); i += 2) {
    if (atoms[i] != atoms[i + 1]) return std::nullopt;
    root += " * (" + atoms[i] + ")";
  }
  const auto parsed = core::Size::Parse(root);
  const auto normal = parsed ? Polynomial::Of(*parsed).ToExpression() : std::nullopt;
  return normal && Polynomial::Of(*normal) * Polynomial::Of(*normal) == square ? normal : std::nullopt;
}

// Those of factors that are products as well.
void AddFactors(const core::Stage& stage, const core::Nary& product, std::vector<NodeId>& factors) {
  for (const NodeId arg : product.args) {
    const auto* inner = std::get_if<core::Nary>(&stage.nodes[arg]);
    if (inner != nullptr && inner->op == core::ReduceOp::kProduct) AddFactors(stage, *inner, factors);
    else factors.push_back(arg);
  }
}

// n of 1 / (n * n), which is one size or a product of two.
std::optional<core::Size> RootOfInverse(const core::Stage& stage, NodeId id) {
  const auto* call = std::get_if<core::Call>(&stage.nodes[id]);
  if (call == nullptr || call->function != core::Function::kReciprocal) return std::nullopt;
  const auto size_at = [&](NodeId node) { return std::get_if<core::SizeValue>(&stage.nodes[node]); };
  if (const auto* square = size_at(call->args[0])) return RootOf(square->size);
  const auto* product = std::get_if<core::Nary>(&stage.nodes[call->args[0]]);
  if (product == nullptr || product->op != core::ReduceOp::kProduct || product->args.size() != 2) return std::nullopt;
  const auto *left = size_at(product->args[0]), *right = size_at(product->args[1]);
  return left != nullptr && right != nullptr && Equal(left->size, right->size) ? std::optional(left->size)
                                                                               : std::nullopt;
}

// The product's factors but for 1 / (n * n), s and s.
struct SquaredMean {
  core::Size count;  // n
  NodeId sum = 0;    // s
  std::vector<NodeId> others;
};
std::optional<SquaredMean> AsSquaredMean(const core::Stage& stage, const core::Nary& product) {
  if (product.op != core::ReduceOp::kProduct) return std::nullopt;
  std::vector<NodeId> factors;
  AddFactors(stage, product, factors);
  for (const NodeId inverse : factors) {
    const auto root = RootOfInverse(stage, inverse);
    if (!root) continue;
    for (const NodeId sum : factors) {
      if (sum == inverse || std::count(factors.begin(), factors.end(), sum) < 2) continue;
      SquaredMean found{*root, sum, factors};
      for (const NodeId used : {inverse, sum, sum})
        found.others.erase(std::find(found.others.begin(), found.others.end(), used));
      return found;
    }
  }
  return std::nullopt;
}

void Rewrite(core::Stage& stage) {
  std::vector<core::Node> nodes;
  std::vector<NodeId> now;
  const auto add = [&](core::Node node) {
    nodes.push_back(std::move(node));
    return static_cast<NodeId>(nodes.size() - 1);
  };
  for (core::Node node : stage.nodes) {
    const auto* product = std::get_if<core::Nary>(&node);
    const auto mean = product != nullptr ? AsSquaredMean(stage, *product) : std::nullopt;
    if (!mean) {
      core::ForEachArgument(node, [&](NodeId& arg) { arg = now[arg]; });
      now.push_back(add(std::move(node)));
      continue;
    }
    const NodeId count = add(core::SizeValue{mean->count});
    const NodeId inverse = add(core::Call{core::Function::kReciprocal, {count}});
    const NodeId of_sum = add(core::Nary{core::ReduceOp::kProduct, {inverse, now[mean->sum]}});
    std::vector<NodeId> factors = {of_sum, of_sum};
    for (const NodeId other : mean->others) factors.push_back(now[other]);
    now.push_back(add(core::Nary{core::ReduceOp::kProduct, std::move(factors)}));
  }
  stage.nodes = std::move(nodes);
  stage = WithoutUnused(std::move(stage));
}

}  // namespace

core::Computation WithSquaredMeans(core::Computation computation) {
  for (core::Stage& stage : computation.stages) Rewrite(stage);
  return computation;
}

}  // namespace warpwright::schedule
