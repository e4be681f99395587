#include "schedule/centred_squares.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "core/polynomial.h"
#include "schedule/problem.h"

namespace warpwright::schedule {
namespace {

using core::NodeId;
using core::Polynomial;
using core::Stage;

// numerator / denominator, of sizes; and what it is of.
struct Scaled {
  Polynomial numerator{1}, denominator{1};
  std::vector<NodeId> others = {};
};

// Takes the factor apart.
void AddFactor(const Stage& stage, NodeId id, bool below, Scaled& scaled) {
  const core::Node& node = stage.nodes[id];
  Polynomial& side = below ? scaled.denominator : scaled.numerator;
  if (const auto* size = std::get_if<core::SizeValue>(&node)) {
    side = side * Polynomial::Of(size->size);
  } else if (const auto* constant = std::get_if<core::Constant>(&node); constant && core::IsWhole(constant->value)) {
    side = side * Polynomial(static_cast<int64_t>(constant->value));
  } else if (const auto* call = std::get_if<core::Call>(&node); call && call->function == core::Function::kReciprocal) {
    AddFactor(stage, call->args[0], !below, scaled);
  } else if (const auto* nary = std::get_if<core::Nary>(&node); nary && nary->op == core::ReduceOp::kProduct) {
    for (const NodeId arg : nary->args) AddFactor(stage, arg, below, scaled);
  } else {
    // What is no number of sizes is not looked for below.
    if (below) side = Polynomial(0);
    scaled.others.push_back(id);
  }
}

const core::TensorRead* ReadOf(const Stage& stage, NodeId id) {
  const auto* read = std::get_if<core::TensorRead>(&stage.nodes[id]);
  return read != nullptr && read->stage ? read : nullptr;
}

bool SameNode(const Stage& a, NodeId i, const Stage& b, NodeId j) {
  core::Node x = a.nodes[i], y = b.nodes[j];
  std::vector<NodeId> of_x, of_y;
  core::ForEachArgument(x, [&](NodeId& arg) { of_x.push_back(std::exchange(arg, 0)); });
  core::ForEachArgument(y, [&](NodeId& arg) { of_y.push_back(std::exchange(arg, 0)); });
  if (!(x == y) || of_x.size() != of_y.size()) return false;
  for (size_t k = 0; k < of_x.size(); ++k)
    if (!SameNode(a, of_x[k], b, of_y[k])) return false;
  return true;
}

void AddFactors(const Stage& stage, NodeId id, std::vector<NodeId>& factors) {
  const auto* nary = std::get_if<core::Nary>(&stage.nodes[id]);
  if (nary == nullptr || nary->op != core::ReduceOp::kProduct) return factors.push_back(id);
  for (const NodeId arg : nary->args) AddFactors(stage, arg, factors);
}

// Whether `squares` is a sum of the squares of what `plain` is the sum of.
bool IsOfSquares(const Stage& squares, const Stage& plain) {
  const core::Reduce *of_squares = RootSumOf(squares), *of_plain = RootSumOf(plain);
  if (of_squares == nullptr || of_plain == nullptr || squares.output || plain.output ||
      squares.extents != plain.extents || squares.domain != plain.domain ||
      of_squares->variables != of_plain->variables || of_squares->guards != of_plain->guards)
    return false;
  std::vector<NodeId> twice, once;
  AddFactors(squares, of_squares->body, twice);
  AddFactors(plain, of_plain->body, once);
  if (twice.size() != 2 * once.size()) return false;
  for (const NodeId factor : once)
    for (int time = 0; time < 2; ++time) {
      const auto found =
          std::find_if(twice.begin(), twice.end(), [&](NodeId f) { return SameNode(squares, f, plain, factor); });
      if (found == twice.end()) return false;
      twice.erase(found);
    }
  return true;
}

bool IsComputed(const Stage& stage) {
  return std::any_of(stage.nodes.begin(), stage.nodes.end(), [](const core::Node& node) {
    const auto* read = std::get_if<core::TensorRead>(&node);
    return read != nullptr && read->stage;
  });
}

// s2 / n - (s1 / n)^2 among the terms of a sum: where they stand in it.
struct Variance {
  size_t squares = 0, mean = 0;
  std::string of_squares, of_mean;
  core::Size count;  // n
};
std::optional<Variance> VarianceIn(const core::Computation& form, const Stage& stage, const core::Nary& sum) {
  std::vector<Scaled> terms;
  for (const NodeId arg : sum.args) AddFactor(stage, arg, false, terms.emplace_back());
  for (size_t s = 0; s < terms.size(); ++s) {
    const auto* squares = terms[s].others.size() == 1 ? ReadOf(stage, terms[s].others[0]) : nullptr;
    const auto count = terms[s].denominator.ToExpression();
    if (squares == nullptr || !count || terms[s].numerator.constant() != 1) continue;
    for (size_t m = 0; m < terms.size(); ++m) {
      const Scaled& term = terms[m];
      if (term.others.size() != 2) continue;
      const auto *mean = ReadOf(stage, term.others[0]), *again = ReadOf(stage, term.others[1]);
      if (mean == nullptr || again == nullptr || !(*mean == *again) || mean->at != squares->at) continue;
      const bool is_square =
          term.numerator.constant() == -1 && term.denominator == terms[s].denominator * terms[s].denominator;
      const Stage *of_squares = form.FindStage(squares->tensor), *of_mean = form.FindStage(mean->tensor);
      if (is_square && of_squares && of_mean && IsOfSquares(*of_squares, *of_mean) && IsComputed(*of_mean))
        return Variance{s, m, squares->tensor, mean->tensor, *count};
    }
  }
  return std::nullopt;
}

size_t ReadsOf(const core::Computation& form, const std::string& name) {
  size_t count = 0;
  for (const Stage& stage : form.stages)
    count += std::count_if(stage.nodes.begin(), stage.nodes.end(), [&](const core::Node& node) {
      const auto* read = std::get_if<core::TensorRead>(&node);
      return read != nullptr && read->stage && read->tensor == name;
    });
  return count;
}

// sum (x - s1 / n)^2, with the terms of s1.
Stage Centred(const Stage& plain, const std::string& name, const core::Size& count) {
  Stage stage = plain;
  stage.name = name;
  core::Reduce sum = std::get<core::Reduce>(stage.nodes.back());
  stage.nodes.pop_back();
  const auto add = [&](core::Node node) {
    stage.nodes.push_back(std::move(node));
    return static_cast<NodeId>(stage.nodes.size() - 1);
  };
  core::TensorRead mean{plain.name, true, {}};
  for (core::VariableId v = 0; v < plain.extents.size(); ++v) mean.at.emplace_back(core::AffineOf(v));
  const NodeId total = add(std::move(mean));
  const NodeId inverse = add(core::Call{core::Function::kReciprocal, {add(core::SizeValue{count})}});
  const NodeId minus = add(core::Constant{-1});
  const NodeId opposite = add(core::Nary{core::ReduceOp::kProduct, {minus, inverse, total}});
  const NodeId difference = add(core::Nary{core::ReduceOp::kSum, {sum.body, opposite}});
  sum.body = add(core::Nary{core::ReduceOp::kProduct, {difference, difference}});
  add(std::move(sum));
  return stage;
}

}  // namespace

core::Computation WithCentredSquares(core::Computation computation) {
  for (Stage& stage : computation.stages)
    for (NodeId id = 0; id < stage.nodes.size(); ++id) {
      const auto* sum = std::get_if<core::Nary>(&stage.nodes[id]);
      if (sum == nullptr || sum->op != core::ReduceOp::kSum) continue;
      const auto variance = VarianceIn(computation, stage, *sum);
      if (!variance || ReadsOf(computation, variance->of_squares) != 1) continue;
      const auto named = [&](const std::string& name) {
        return std::find_if(computation.stages.begin(), computation.stages.end(),
                            [&](const Stage& s) { return s.name == name; });
      };
      const auto plain = named(variance->of_mean), squares = named(variance->of_squares);
      core::Nary others = *sum;
      others.args.erase(others.args.begin() + static_cast<std::ptrdiff_t>(variance->mean));
      Stage centred = Centred(*plain, variance->of_squares, variance->count);
      centred.line = squares->line;
      core::Node left = others.args.size() > 1 ? core::Node(others) : stage.nodes[others.args[0]];
      stage.nodes[id] = std::move(left);
      stage = WithoutUnused(std::move(stage));
      *squares = std::move(centred);
      if (plain > squares) std::iter_swap(plain, squares);  // which is read by the other
      return WithCentredSquares(std::move(computation));
    }
  return computation;
}

}  // namespace warpwright::schedule
