#include "schedule/written_terms.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <vector>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "core/polynomial.h"
#include "core/real_function.h"

namespace warpwright::schedule {
namespace {

using core::Node;
using core::NodeId;
using core::ReduceOp;
using Bindings = std::map<core::VariableId, core::Affine>;

constexpr size_t kMostNodesOfStage = 1024;

// Copies a stage's nodes, each node once, with reductions written out and numbers computed.
class TermWriter {
 public:
  TermWriter(const core::Computation& form, const core::Stage& stage, size_t most_terms, bool begins_at_infinity)
      : stage_(stage),
        most_terms_(most_terms),
        begins_at_infinity_(begins_at_infinity),
        types_(core::TypesOf(form, stage)),
        free_(core::FreeVariables(stage)) {}

  std::optional<core::Stage> Write() {
    const auto root = Copy(static_cast<NodeId>(stage_.nodes.size() - 1));
    if (!root || nodes_.size() > kMostNodesOfStage) return std::nullopt;
    core::Stage written = stage_;
    // The value is the last node.
    if (*root + 1 != nodes_.size()) nodes_.push_back(nodes_[*root]);
    written.nodes = std::move(nodes_);
    return written;
  }

 private:
  using Copied = std::optional<NodeId>;

  NodeId Add(Node node) {
    const auto found = std::find(nodes_.begin(), nodes_.end(), node);
    if (found != nodes_.end()) return static_cast<NodeId>(found - nodes_.begin());
    nodes_.push_back(std::move(node));
    return static_cast<NodeId>(nodes_.size() - 1);
  }
  std::optional<double> NumberOf(NodeId id) const {
    const auto* constant = std::get_if<core::Constant>(&nodes_[id]);
    return constant ? std::optional(constant->value) : std::nullopt;
  }
  NodeId Number(double value) { return Add(core::Constant{value}); }

  Copied Copy(NodeId id) {
    if (nodes_.size() > kMostNodesOfStage) return std::nullopt;
    const bool of_term = (free_[id] & bound_) != 0;
    auto& copies = of_term ? of_term_ : always_;
    if (const auto found = copies.find(id); found != copies.end()) return found->second;
    const Copied copy = Made(id);
    if (copy) (of_term ? of_term_ : always_)[id] = *copy;
    return copy;
  }

  Copied Made(NodeId id) {
    if (const auto* reduce = std::get_if<core::Reduce>(&stage_.nodes[id])) return Terms(*reduce);
    Node node = stage_.nodes[id];
    bool expressed = true;
    core::ForEachPosition(node, [&](core::Affine& position) {
      auto replaced = core::Substituted(position, bindings_);
      expressed &= replaced.has_value();
      if (replaced) position = std::move(*replaced);
    });
    core::ForEachArgument(node, [&](NodeId& arg) {
      const Copied copy = expressed ? Copy(arg) : std::nullopt;
      expressed &= copy.has_value();
      if (copy) arg = *copy;
    });
    if (!expressed) return std::nullopt;
    return Simplified(std::move(node));
  }

  NodeId Simplified(Node node) {
    if (const auto* index = std::get_if<core::IndexValue>(&node))
      if (const auto number = core::AsNumber(index->index)) return Number(static_cast<double>(*number));
    if (auto* nary = std::get_if<core::Nary>(&node)) return Combined(nary->op, nary->args);
    if (const auto* compare = std::get_if<core::Compare>(&node)) {
      const auto left = NumberOf(compare->left), right = NumberOf(compare->right);
      if (left && right) return Number(Holds(compare->op, *left, *right) ? 1 : 0);
    }
    if (const auto* select = std::get_if<core::Select>(&node))
      if (const auto condition = NumberOf(select->condition)) return *condition != 0 ? select->then : select->otherwise;
    if (const auto* call = std::get_if<core::Call>(&node)) return Called(*call);
    return Add(std::move(node));
  }
  static bool Holds(core::Comparison op, double left, double right) {
    switch (op) {
      case core::Comparison::kLess: return left < right;
      case core::Comparison::kLessEqual: return left <= right;
      case core::Comparison::kEqual: return left == right;
      case core::Comparison::kNotEqual: return left != right;
    }
    return false;
  }
  NodeId Called(const core::Call& call) {
    std::vector<double> numbers;
    for (const NodeId arg : call.args)
      if (const auto number = NumberOf(arg)) numbers.push_back(*number);
    if (numbers.size() != call.args.size()) return Add(call);
    numbers.resize(2);
    if (core::IsInteger(call.function))
      return Number(static_cast<double>(
          core::ApplyInteger(call.function, static_cast<int64_t>(numbers[0]), static_cast<int64_t>(numbers[1]))));
    return Number(core::Apply(call.function, numbers[0], numbers[1]));
  }

  // Of values that need not be two: without neutral numbers, and numbers as one.
  NodeId Combined(ReduceOp op, const std::vector<NodeId>& args) {
    std::vector<NodeId> rest;
    const double neutral = op == ReduceOp::kProduct ? 1 : 0;
    double number = neutral;
    const bool arithmetic = op == ReduceOp::kSum || op == ReduceOp::kProduct;
    for (const NodeId arg : args) {
      const auto value = NumberOf(arg);
      if (!arithmetic || !value) rest.push_back(arg);
      else number = op == ReduceOp::kProduct ? number * *value : number + *value;
    }
    if (op == ReduceOp::kProduct && number == 0) return Number(0);
    if (arithmetic && (number != neutral || rest.empty())) rest.insert(rest.begin(), Number(number));
    if (rest.size() == 1) return rest[0];
    return Add(core::Nary{op, std::move(rest)});
  }

  // The condition under which a term counts; none: it always does, or (`never`) it never does.
  Copied Condition(const std::vector<core::Guard>& guards, bool& never, bool& expressed) {
    std::vector<NodeId> conditions;
    for (const core::Guard& guard : guards) {
      const auto value = core::Substituted(guard.value, bindings_);
      if (!value || !core::IsNumber(value->divisor, 1)) return expressed = false, std::nullopt;
      const NodeId index = Simplified(core::IndexValue{*value});
      const auto add = [&](core::Comparison op, NodeId left, NodeId right) {
        const NodeId condition = Simplified(core::Compare{op, left, right});
        const auto known = NumberOf(condition);
        if (!known) conditions.push_back(condition);
        never |= known == 0.0;
      };
      if (guard.low) add(core::Comparison::kLessEqual, SizeNode(*guard.low), index);
      if (guard.high) add(core::Comparison::kLess, index, SizeNode(*guard.high));
    }
    if (conditions.empty()) return std::nullopt;
    return conditions.size() == 1 ? conditions[0] : Add(core::Logic{core::Logic::Op::kAnd, conditions});
  }
  NodeId SizeNode(const core::Size& size) {
    if (const auto number = core::Polynomial::Of(size).constant()) return Number(static_cast<double>(*number));
    return Add(core::SizeValue{size});
  }

  Copied Terms(const core::Reduce& reduce) {
    if (core::IsArg(reduce.op)) return std::nullopt;
    std::vector<int64_t> extents;
    size_t terms = 1;
    for (const auto& variable : reduce.variables) {
      const auto extent = core::Polynomial::Of(variable.extent).constant();
      if (!extent || *extent < 1 || *extent > static_cast<int64_t>(most_terms_)) return std::nullopt;
      extents.push_back(*extent);
      terms *= static_cast<size_t>(*extent);
      if (terms > most_terms_) return std::nullopt;
    }
    const auto outer_bindings = bindings_;
    const auto outer_bound = bound_;
    const auto outer_copies = of_term_;
    bound_ |= core::VariablesOf(reduce);
    std::vector<NodeId> values;
    bool expressed = true;
    for (size_t term = 0; term < terms && expressed; ++term) {
      size_t rest = term;
      for (size_t v = extents.size(); v-- > 0;) {
        const auto extent = static_cast<size_t>(extents[v]);
        bindings_[reduce.variables[v].id] = core::AffineOf(core::Size::Constant(static_cast<int64_t>(rest % extent)));
        rest /= extent;
      }
      of_term_.clear();
      bool never = false;
      const Copied condition = Condition(reduce.guards, never, expressed);
      if (never || !expressed) continue;
      Copied value = Copy(reduce.body);
      if (condition && reduce.op != ReduceOp::kSum) value.reset();  // there is no neutral number of all types
      if (value && condition) value = Add(core::Select{*condition, *value, Number(0)});
      expressed = value.has_value();
      if (value) values.push_back(*value);
    }
    bindings_ = outer_bindings, bound_ = outer_bound, of_term_ = outer_copies;
    if (!expressed || (values.empty() && reduce.op != ReduceOp::kSum)) return std::nullopt;
    std::erase_if(values, [&](NodeId value) { return reduce.op == ReduceOp::kSum && NumberOf(value) == 0.0; });
    if (values.empty()) return Number(0);
    // As the original's loops begin: an extremum of nothing but NaN is where it began.
    const bool extremum = reduce.op == ReduceOp::kMax || reduce.op == ReduceOp::kMin;
    if (extremum && begins_at_infinity_ && types_[reduce.body] == core::ValueType::kReal) {
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      values.insert(values.begin(), Number(reduce.op == ReduceOp::kMax ? -kInfinity : kInfinity));
    }
    return Combined(reduce.op, values);
  }

  const core::Stage& stage_;
  const size_t most_terms_;
  const bool begins_at_infinity_;
  const std::vector<core::ValueType> types_;
  const std::vector<core::VariableSet> free_;
  Bindings bindings_;                          // of the term that is being written
  core::VariableSet bound_ = 0;                // variables that have a value in it
  std::map<NodeId, NodeId> always_, of_term_;  // where a node went
  std::vector<Node> nodes_;
};

}  // namespace

std::optional<core::Stage> WithWrittenTerms(const Problem& problem, const core::Stage& stage, size_t most_terms) {
  if (std::none_of(stage.nodes.begin(), stage.nodes.end(),
                   [](const Node& node) { return std::holds_alternative<core::Reduce>(node); }))
    return stage;
  return TermWriter(problem.form, stage, most_terms, problem.entry.names_infinity).Write();
}

core::Computation WithWrittenPairs(const core::Computation& computation) {
  core::Computation written = computation;
  for (core::Stage& stage : written.stages) {
    const core::Reduce* sum = RootSumOf(stage);
    if (sum == nullptr || sum->variables.size() != 1 || !core::IsNumber(sum->variables[0].extent, 2)) continue;
    const bool of_stages = std::any_of(stage.nodes.begin(), stage.nodes.end(), [](const Node& node) {
      const auto* read = std::get_if<core::TensorRead>(&node);
      return read != nullptr && read->stage;
    });
    if (of_stages) continue;
    stage = TermWriter(computation, stage, 2, false).Write().value_or(stage);
  }
  return written;
}

}  // namespace warpwright::schedule
