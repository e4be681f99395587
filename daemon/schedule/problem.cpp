#include "schedule/problem.h"

#include <algorithm>
#include <numeric>

#include "core/affine.h"
#include "core/computation_inline.h"
#include "core/polynomial.h"
#include "schedule/single_positions.h"
#include "schedule/split_index.h"
#include "schedule/whole_outputs.h"

namespace warpwright::schedule {
namespace {

using core::Polynomial;

bool SameShape(const core::Computation& form, const std::string& a, const std::string& b) {
  const core::TensorArgument *x = form.FindTensor(a), *y = form.FindTensor(b);
  return x && y && std::equal(x->shape.begin(), x->shape.end(), y->shape.begin(), y->shape.end(), Equal);
}

std::optional<FlatOffset> ToOffset(const std::map<core::VariableId, Polynomial>& coefficients,
                                   const Polynomial& constant) {
  FlatOffset offset;
  const auto size = constant.ToExpression();
  if (!size) return std::nullopt;
  offset.constant = *size;
  for (const auto& [variable, coefficient] : coefficients) {
    if (coefficient == Polynomial()) continue;
    const auto text = coefficient.ToExpression();
    if (!text) return std::nullopt;
    offset.coefficients[variable] = *text;
  }
  return offset;
}

}  // namespace

core::Stage WithoutUnused(core::Stage stage) {
  const std::vector<bool> used = core::Reachable(stage);
  std::vector<core::NodeId> now(stage.nodes.size());
  std::vector<core::Node> nodes;
  for (size_t id = 0; id < stage.nodes.size(); ++id) {
    if (!used[id]) continue;
    core::ForEachArgument(stage.nodes[id], [&](core::NodeId& arg) { arg = now[arg]; });
    now[id] = static_cast<core::NodeId>(nodes.size());
    nodes.push_back(std::move(stage.nodes[id]));
  }
  stage.nodes = std::move(nodes);
  return stage;
}

const core::Reduce* RootSumOf(const core::Stage& stage) {
  const auto* reduce = stage.nodes.empty() ? nullptr : std::get_if<core::Reduce>(&stage.nodes.back());
  return reduce != nullptr && reduce->op == core::ReduceOp::kSum ? reduce : nullptr;
}

bool ReadsTensor(const core::Stage& stage, const std::string& tensor, bool of_stage) {
  return std::any_of(stage.nodes.begin(), stage.nodes.end(), [&](const core::Node& node) {
    const auto* read = std::get_if<core::TensorRead>(&node);
    return read != nullptr && read->stage == of_stage && read->tensor == tensor;
  });
}

std::optional<int64_t> ValueIn(const core::Size& size, const core::ScheduledCase& c) {
  const auto value = size.Evaluate(c.sizes);
  return value ? std::optional<int64_t>(*value) : std::nullopt;
}

const core::ScheduledCase& HeaviestCase(const Problem& problem) {
  static const core::ScheduledCase kNone;
  const auto& cases = problem.input.cases;
  if (cases.empty()) return kNone;
  // The weight says how much a case's time counts; among equals the largest takes the longest.
  const auto work = [&](const core::ScheduledCase& c) {
    double elements = 0;
    for (const auto& tensor : problem.form.tensors) {
      double product = 1;
      for (const auto& extent : tensor.shape) product *= static_cast<double>(ValueIn(extent, c).value_or(1));
      elements += product;
    }
    return c.weight * elements;
  };
  return *std::max_element(cases.begin(), cases.end(), [&](const auto& a, const auto& b) { return work(a) < work(b); });
}

std::optional<int64_t> LargestOf(const Problem& problem, const core::Size& size) {
  std::optional<int64_t> largest;
  for (const auto& c : problem.input.cases) {
    const auto value = ValueIn(size, c);
    if (!value) return std::nullopt;
    largest = std::max(largest.value_or(*value), *value);
  }
  return largest;
}

std::vector<Group> GroupsOf(const core::Computation& form, Joining joining) {
  std::vector<size_t> leader(form.stages.size());
  std::iota(leader.begin(), leader.end(), size_t{0});
  const auto find = [&](size_t i) {
    while (leader[i] != i) i = leader[i];
    return i;
  };
  for (size_t i = 0; i < form.stages.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const bool needs = !form.stages[j].output && ReadsTensor(form.stages[i], form.stages[j].name, true);
      const core::Stage &a = form.stages[i], &b = form.stages[j];
      const bool parts = joining >= Joining::kParts && a.output && a.name == b.name;
      const bool shapes = joining >= Joining::kShapes && a.output && b.output && SameShape(form, a.name, b.name);
      if (needs || parts || shapes) leader[find(i)] = find(j);
    }
  }
  std::map<size_t, Group> groups;
  for (size_t i = 0; i < form.stages.size(); ++i) groups[find(i)].stages.push_back(i);
  std::vector<Group> result;
  for (auto& [first, group] : groups) result.push_back(std::move(group));
  return result;
}

std::optional<core::RewriteRefusal> FindHazard(const core::Computation& form, const std::vector<Group>& groups) {
  for (size_t later = 0; later < groups.size(); ++later)
    for (size_t i : groups[later].stages)
      for (size_t earlier = 0; earlier < later; ++earlier)
        for (size_t j : groups[earlier].stages)
          if (form.stages[j].output && ReadsTensor(form.stages[i], form.stages[j].name, false))
            return Refuse(form.stages[j].name + " is overwritten before all of its old content was used");
  return std::nullopt;
}

core::Computation Fused(const core::Computation& computation) {
  return WithoutSinglePositions(WithSplitIndices(WithWholeOutputs(core::WithoutMaps(computation))));
}

std::optional<FlatOffset> FlatOffsetOf(const std::vector<core::Size>& shape, const std::vector<core::Affine>& at) {
  std::map<core::VariableId, Polynomial> coefficients;
  Polynomial constant, stride(1);
  for (size_t d = at.size(); d-- > 0;) {
    if (!core::IsNumber(at[d].divisor, 1)) return std::nullopt;
    for (const auto& term : at[d].terms) {
      if (term.part != core::Affine::Part::kWhole) return std::nullopt;
      Polynomial& sum = coefficients[term.variable];
      sum = sum + Polynomial::Of(term.coefficient) * stride;
    }
    constant = constant + Polynomial::Of(at[d].constant) * stride;
    if (d < shape.size()) stride = stride * Polynomial::Of(shape[d]);
  }
  return ToOffset(coefficients, constant);
}

std::optional<FlatOffset> FlatOffsetOf(const std::vector<core::Size>& shape, const std::vector<core::Coordinate>& at) {
  std::vector<core::Affine> positions;
  for (const auto& coordinate : at) {
    const auto* position = std::get_if<core::Affine>(&coordinate);
    if (position == nullptr) return std::nullopt;
    positions.push_back(*position);
  }
  return FlatOffsetOf(shape, positions);
}

std::vector<core::Affine> StoredAt(const core::Stage& stage) {
  if (!stage.at.empty()) return stage.at;
  std::vector<core::Affine> at;
  for (core::VariableId v = 0; v < stage.extents.size(); ++v) at.push_back(core::AffineOf(v));
  return at;
}

const std::vector<core::Size>& ShapeOf(const Problem& problem, const std::string& tensor) {
  static const std::vector<core::Size> kScalar;
  const core::TensorArgument* found = problem.form.FindTensor(tensor);
  return found ? found->shape : kScalar;
}

core::Size Product(const std::vector<core::Size>& sizes) {
  std::string text;
  for (const auto& size : sizes) {
    if (core::IsNumber(size, 1)) continue;
    text += (text.empty() ? "(" : " * (") + size.text() + ")";
  }
  if (text.empty()) return core::Size::Constant(1);
  return core::Size::Parse(text).value_or(core::Size::Constant(1));
}

bool IsZeroOutside(const Problem& problem, const core::Guard& guard) {
  if (guard.outside == core::Guard::Outside::kUnknown) return problem.zero_unless_seen;
  return guard.outside == core::Guard::Outside::kZero;
}

bool Equal(const core::Size& a, const core::Size& b) { return Polynomial::Of(a) == Polynomial::Of(b); }

}  // namespace warpwright::schedule
