#include "schedule/contraction.h"

#include <algorithm>

#include "core/computation_walk.h"

namespace warpwright::schedule {
namespace {

using core::NodeId;
using core::Stage;
using core::VariableSet;

constexpr std::string_view kNothingReused = "no element of a factor is used by several results";

tl::unexpected<Error> Unsupported(const std::string& why) { return Fail(ErrorCode::kUnsupported, why); }

// The one sum of a stage.
Result<NodeId> SumOf(const Stage& stage) {
  const std::vector<bool> reachable = Reachable(stage);
  std::optional<NodeId> sum;
  for (NodeId id = 0; id < stage.nodes.size(); ++id) {
    const auto* reduce = reachable[id] ? std::get_if<core::Reduce>(&stage.nodes[id]) : nullptr;
    if (reduce == nullptr) continue;
    if (reduce->op != core::ReduceOp::kSum) return Unsupported("a reduction that is no sum");
    if (sum) return Unsupported("several sums in one stage");
    sum = id;
  }
  if (!sum) return Unsupported("no sum");
  return *sum;
}

// What a sum's terms are the product of, and the conditions under which they are not 0.
struct Terms {
  std::vector<NodeId> factors, conditions;
};

void AddFactors(const Stage& stage, NodeId id, Terms& terms) {
  if (const auto* select = std::get_if<core::Select>(&stage.nodes[id])) {
    const auto* otherwise = std::get_if<core::Constant>(&stage.nodes[select->otherwise]);
    if (otherwise != nullptr && otherwise->value == 0) {
      terms.conditions.push_back(select->condition);
      return AddFactors(stage, select->then, terms);
    }
  }
  const auto* nary = std::get_if<core::Nary>(&stage.nodes[id]);
  if (nary == nullptr || nary->op != core::ReduceOp::kProduct) return terms.factors.push_back(id);
  for (const NodeId arg : nary->args) AddFactors(stage, arg, terms);
}

class Analysis {
 public:
  Analysis(const Stage& stage, NodeId sum, std::span<const core::VariableId> neighbours)
      : stage_(stage),
        neighbours_(neighbours),
        reduce_(std::get<core::Reduce>(stage.nodes[sum])),
        free_(FreeVariables(stage)),
        own_(VariablesOf(reduce_)),
        index_(core::SetOf(static_cast<core::VariableId>(stage.extents.size())) - 1) {
    out_.sum = sum;
  }

  Result<Contraction> Run() {
    Terms terms;
    AddFactors(stage_, reduce_.body, terms);
    WW_TRY(SplitFactors(terms.factors));
    WW_TRY(PlaceConditions(terms.conditions));
    WW_TRY(PlaceGuards());
    WW_TRY(SplitVariables());
    return std::move(out_);
  }

 private:
  // Factors with the same index variables are one; those with none go to the left one, as weights of its terms.
  Status SplitFactors(const std::vector<NodeId>& factors) {
    std::vector<NodeId> weights;
    for (const NodeId id : factors) {
      const VariableSet index = free_[id] & index_;
      if ((free_[id] & own_) == 0) out_.scale.push_back(id);
      else if (index == 0) weights.push_back(id);
      else if (out_.left.nodes.empty() || index == (left_ & index_)) Add(out_.left, left_, id);
      else if (out_.right.nodes.empty() || index == (right_ & index_)) Add(out_.right, right_, id);
      else return Unsupported("more than two factors");
    }
    if (out_.left.nodes.empty() || (out_.right.nodes.empty() && weights.empty()))
      return Unsupported("the sum is of one factor, not of two");
    if (out_.right.nodes.empty()) return Unsupported(std::string(kNothingReused));
    for (const NodeId id : weights) Add(out_.left, left_, id);
    // A factor without terms multiplies each of them, as in the formula: outside the sum infinities would meet others.
    std::vector<NodeId> scalars;
    for (const NodeId id : out_.scale) {
      if (free_[id] == 0) scalars.push_back(id);
      else if ((free_[id] & ~left_) == 0) Add(out_.left, left_, id);
      else if ((free_[id] & ~right_) == 0) Add(out_.right, right_, id);
      else scalars.push_back(id);
    }
    out_.scale = std::move(scalars);
    if ((left_ & right_ & own_) == 0) return Unsupported("the factors have no variable of the sum in common");
    const auto of_one = std::find_if(neighbours_.begin(), neighbours_.end(), [&](core::VariableId variable) {
      return ((left_ ^ right_) & core::SetOf(variable)) != 0;
    });
    if (of_one != neighbours_.end() && (left_ & core::SetOf(*of_one)) != 0) {
      std::swap(out_.left, out_.right);
      std::swap(left_, right_);
    }
    return {};
  }
  void Add(Factor& factor, VariableSet& variables, NodeId id) {
    factor.nodes.push_back(id);
    variables |= free_[id];
  }

  Status PlaceConditions(const std::vector<NodeId>& conditions) {
    for (const NodeId id : conditions) {
      const VariableSet variables = free_[id];
      if ((variables & ~left_) == 0) out_.left.conditions.push_back(id);
      else if ((variables & ~right_) == 0) out_.right.conditions.push_back(id);
      else return Unsupported("a condition on both factors");
    }
    return {};
  }
  Status PlaceGuards() {
    for (const core::Guard& guard : reduce_.guards) {
      const VariableSet variables = VariablesOf(guard.value);
      if ((variables & own_) == 0) {
        out_.guards.push_back(guard);
        continue;
      }
      const bool left = (variables & ~left_) == 0, right = (variables & ~right_) == 0;
      if (!left && !right) return Unsupported("a condition on both factors");
      // One of k alone is both factors': neither may be read there.
      if (left) out_.left.guards.push_back(guard);
      if (right) out_.right.guards.push_back(guard);
    }
    return {};
  }

  Status SplitVariables() {
    for (core::VariableId v = 0; v < stage_.extents.size(); ++v) {
      const VariableSet bit = core::SetOf(v);
      const Axis axis{v, stage_.extents[v]};
      const bool left = (left_ & bit) != 0, right = (right_ & bit) != 0;
      if (left != right) (left ? out_.m : out_.n).push_back(axis);
      else if (left || IsNumber(axis.extent, 1)) out_.batch.push_back(axis);
      else return Unsupported("results that differ in neither factor");
    }
    if (out_.m.empty() || out_.n.empty()) return Unsupported(std::string(kNothingReused));
    for (const auto& variable : reduce_.variables) out_.k.push_back({variable.id, variable.extent});
    return {};
  }

  const Stage& stage_;
  const std::span<const core::VariableId> neighbours_;
  const core::Reduce& reduce_;
  const std::vector<VariableSet> free_;
  const VariableSet own_, index_;
  VariableSet left_ = 0, right_ = 0;  // variables of the factors
  Contraction out_;
};

}  // namespace

bool IsProductOfMatrices(const core::Stage& stage, const core::Reduce& sum) {
  const auto* product = std::get_if<core::Nary>(&stage.nodes[sum.body]);
  if (product == nullptr || product->op != core::ReduceOp::kProduct) return false;
  const std::vector<core::VariableSet> free = core::FreeVariables(stage);
  const core::VariableSet index = core::SetOf(static_cast<core::VariableId>(stage.extents.size())) - 1;
  for (const core::NodeId a : product->args)
    for (const core::NodeId b : product->args)
      if ((free[a] & index & ~free[b]) != 0 && (free[b] & index & ~free[a]) != 0) return true;
  return false;
}

Result<Contraction> ContractionOf(const core::Computation& computation, const Stage& stage,
                                  std::span<const core::VariableId> neighbours) {
  const auto sum = SumOf(stage);
  if (!sum) return Fail(sum.error());
  if (TypesOf(computation, stage)[*sum] != core::ValueType::kReal) return Unsupported("a sum of integers");
  return Analysis(stage, *sum, neighbours).Run();
}

}  // namespace warpwright::schedule
