#include "schedule/contraction_group.h"

#include <algorithm>
#include <limits>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "schedule/contraction_rows.h"
#include "schedule/product_window.h"

namespace warpwright::schedule {
namespace {

using core::VariableId;

// The sum's variables by how far apart an output's elements are that differ in them; the last ones first where nobody
// can say.
std::vector<VariableId> Neighbours(const Problem& problem, const ContractionGroup& group) {
  std::vector<std::pair<int64_t, VariableId>> distances;
  const auto offset = StoredOffset(problem, group.outputs.front());
  for (auto v = static_cast<VariableId>(problem.stage(group.stage).extents.size()); v-- > 0;) {
    std::optional<int64_t> distance;
    if (offset && offset->coefficients.contains(v))
      distance = ValueIn(offset->coefficients.at(v), HeaviestCase(problem));
    distances.emplace_back(distance.value_or(std::numeric_limits<int64_t>::max()), v);
  }
  std::stable_sort(distances.begin(), distances.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<VariableId> neighbours;
  for (const auto& [distance, variable] : distances) neighbours.push_back(variable);
  return neighbours;
}

bool SameAxes(const Contraction& a, const Contraction& b) { return a.m == b.m && a.n == b.n && a.batch == b.batch; }

// Of a group whose reductions are all products, each of whose results the outputs take at one place; none: it is none.
std::optional<ContractionGroup> SeveralProductsOf(const Problem& problem, const Group& group) {
  constexpr size_t kMost = 3;  // there are registers for as many tiles of sums
  ContractionGroup found;
  std::vector<size_t> sums;
  for (const size_t i : group.stages) {
    if (!core::HasReduction(problem.stage(i))) continue;
    const core::Reduce* sum = RootSumOf(problem.stage(i));
    if (sum == nullptr || problem.stage(i).output || !IsProductOfMatrices(problem.stage(i), *sum)) return std::nullopt;
    sums.push_back(i);
  }
  if (sums.size() < 2 || sums.size() > kMost) return std::nullopt;
  found.stage = sums[0];
  for (const size_t i : group.stages) {
    if (core::HasReduction(problem.stage(i))) continue;
    std::optional<VariableMap> variables;
    for (const size_t sum : sums) {
      if (!ReadsTensor(problem.stage(i), problem.stage(sum).name, true)) continue;
      auto of_sum = VariablesOfReader(problem.stage(sum), problem.stage(i));
      if (!of_sum || (variables && *variables != *of_sum)) return std::nullopt;
      variables = std::move(of_sum);
    }
    if (!problem.stage(i).output || !variables) return std::nullopt;
    found.outputs.push_back({i, std::move(*variables)});
  }
  if (found.outputs.empty()) return std::nullopt;
  for (const size_t sum : sums) {
    auto contraction = ContractionOf(problem.form, problem.stage(sum), Neighbours(problem, found));
    if (!contraction) return std::nullopt;
    if (sum == sums[0]) found.contraction = std::move(*contraction);
    else if (!SameAxes(found.contraction, *contraction)) return std::nullopt;
    else found.others.push_back({sum, std::move(*contraction)});
  }
  return found;
}

}  // namespace

std::variant<core::RewriteRefusal, ContractionGroup> ContractionGroupOf(const Problem& problem, const Group& group) {
  auto reduced = ReducedGroupOf(problem, group);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&reduced)) {
    const auto reductions = std::count_if(group.stages.begin(), group.stages.end(),
                                          [&](size_t i) { return core::HasReduction(problem.stage(i)); });
    if (reductions < 2) return *refusal;
    if (auto several = SeveralProductsOf(problem, group)) return std::move(*several);
    // Results that have a place in memory are better read from there: neighbours of a window's are no neighbours.
    if (problem.rows_in_turns) {
      auto window = WindowOfProduct(problem, group);
      if (auto* found = std::get_if<ContractionGroup>(&window)) return std::move(*found);
    }
    return RowsOfProduct(problem, group);
  }
  ContractionGroup found;
  found.stage = std::get<ReducedGroup>(reduced).stage;
  found.outputs = std::move(std::get<ReducedGroup>(reduced).outputs);
  const core::Stage& sum = problem.stage(found.stage);
  if (sum.extents.empty()) return Refuse("the sum has one result");
  auto contraction = ContractionOf(problem.form, sum, Neighbours(problem, found));
  if (!contraction) return Refuse(contraction.error().message, sum.line);
  found.contraction = std::move(*contraction);
  return found;
}

bool IsLongProduct(const Problem& problem, const core::Stage& stage, const core::Reduce& sum) {
  constexpr int64_t kLongest = 64;
  std::vector<core::Size> extents;
  for (const auto& variable : sum.variables) extents.push_back(variable.extent);
  return IsProductOfMatrices(stage, sum) && LargestOf(problem, Product(extents)).value_or(0) > kLongest;
}

}  // namespace warpwright::schedule
