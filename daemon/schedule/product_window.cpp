#include "schedule/product_window.h"

#include <algorithm>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "schedule/contraction_rows.h"

namespace warpwright::schedule {
namespace {

using core::Affine;
using core::VariableId;

// Windows that overlap compute what they share again: so many times is less than what tiles gain.
constexpr double kMostTimes = 2.5;

struct Found {
  size_t product = 0, window = 0;  // stages
  std::vector<Affine> at;          // where the window's terms are
};

// Where the stage reads the other one; none: nowhere, or at several places.
std::optional<std::vector<Affine>> PlaceOf(const core::Stage& stage, const std::string& read_stage) {
  std::optional<std::vector<Affine>> place;
  const auto reachable = core::Reachable(stage);
  for (size_t id = 0; id < stage.nodes.size(); ++id) {
    const auto* read = reachable[id] ? std::get_if<core::TensorRead>(&stage.nodes[id]) : nullptr;
    if (read == nullptr || !read->stage || read->tensor != read_stage) continue;
    std::vector<Affine> at;
    for (const core::Coordinate& coordinate : read->at) {
      const auto* position = std::get_if<Affine>(&coordinate);
      if (position == nullptr || !core::IsNumber(position->divisor, 1)) return std::nullopt;
      for (const Affine::Term& term : position->terms)
        if (term.part != Affine::Part::kWhole) return std::nullopt;
      at.push_back(*position);
    }
    if (place && *place != at) return std::nullopt;
    place = std::move(at);
  }
  return place;
}

// The group's reductions, if they are a product of matrices and one over windows of its results.
std::optional<Found> FindWindow(const Problem& problem, const Group& group) {
  std::optional<size_t> product, window;
  for (const size_t i : group.stages) {
    const core::Stage& stage = problem.stage(i);
    if (!core::HasReduction(stage)) continue;
    const auto* reduce = std::get_if<core::Reduce>(&stage.nodes.back());
    if (reduce == nullptr) return std::nullopt;
    const bool multiplies = reduce->op == core::ReduceOp::kSum && !stage.output && IsProductOfMatrices(stage, *reduce);
    std::optional<size_t>& found = multiplies ? product : window;
    if (found) return std::nullopt;
    found = i;
  }
  if (!product || !window) return std::nullopt;
  const core::Stage &of = problem.stage(*product), &by = problem.stage(*window);
  const auto& reduce = std::get<core::Reduce>(by.nodes.back());
  // Places beyond the product's own have no factors.
  if (core::IsArg(reduce.op) || !reduce.guards.empty() || !of.domain.empty() || !by.domain.empty()) return std::nullopt;
  for (size_t i = 0; i < problem.form.stages.size(); ++i)
    if (i != *window && ReadsTensor(problem.stage(i), of.name, true)) return std::nullopt;
  auto at = PlaceOf(by, of.name);
  if (!at || at->size() != of.extents.size()) return std::nullopt;
  return Found{*product, *window, std::move(*at)};
}

double ElementsIn(const Problem& problem, const std::vector<core::Size>& extents) {
  double elements = 1;
  for (const core::Size& extent : extents)
    elements *= static_cast<double>(ValueIn(extent, HeaviestCase(problem)).value_or(1));
  return elements;
}

}  // namespace

core::Computation WithWindowsOfProduct(const Problem& problem, const Group& group) {
  core::Computation changed = problem.form;
  const auto found = FindWindow(problem, group);
  if (!found) return changed;
  core::Stage &product = changed.stages[found->product], &window = changed.stages[found->window];
  const auto& reduce = std::get<core::Reduce>(window.nodes.back());
  core::Stage apart = product;
  apart.extents = window.extents;
  std::map<VariableId, Affine> of_window;  // the window's variables, behind the results' own
  for (const auto& variable : reduce.variables) {
    of_window[variable.id] = core::AffineOf(static_cast<VariableId>(apart.extents.size()));
    apart.extents.push_back(variable.extent);
  }
  if (ElementsIn(problem, apart.extents) > kMostTimes * ElementsIn(problem, product.extents)) return problem.form;
  std::map<VariableId, Affine> replaced;
  for (VariableId v = 0; v < found->at.size(); ++v) {
    auto place = core::Substituted(found->at[v], of_window);
    if (!place) return problem.form;
    replaced[v] = std::move(*place);
  }
  auto& sum = std::get<core::Reduce>(apart.nodes.back());
  auto next = static_cast<VariableId>(apart.extents.size());
  for (auto& variable : sum.variables) {
    replaced[variable.id] = core::AffineOf(next);
    variable.id = next++;
  }
  bool expressed = next <= core::kMaxVariables;
  for (core::Node& node : apart.nodes)
    core::ForEachPosition(node, [&](Affine& position) {
      auto moved = core::Substituted(position, replaced);
      expressed = expressed && moved.has_value();
      if (moved) position = std::move(*moved);
    });
  if (!expressed) return problem.form;
  std::vector<core::Coordinate> own;
  for (VariableId v = 0; v < window.extents.size(); ++v) own.emplace_back(core::AffineOf(v));
  for (const auto& variable : reduce.variables) own.emplace_back(core::AffineOf(variable.id));
  for (core::Node& node : window.nodes)
    if (auto* read = std::get_if<core::TensorRead>(&node); read && read->stage && read->tensor == product.name)
      read->at = own;
  product = std::move(apart);
  return changed;
}

std::variant<core::RewriteRefusal, ContractionGroup> WindowOfProduct(const Problem& problem, const Group& group) {
  const auto found = FindWindow(problem, group);
  if (!found) return Refuse("the group is not one product of matrices and a reduction of windows of its results");
  const core::Stage &product = problem.stage(found->product), &window = problem.stage(found->window);
  if (ReadsWhatItWrites(problem, group)) return Refuse("what windows are made of is overwritten", product.line);
  const auto& reduce = std::get<core::Reduce>(window.nodes.back());
  ProductWindow of{.stage = found->window, .positions = {}, .variables = {}};
  for (VariableId v = 0; v < found->at.size(); ++v) {
    const auto own = core::AsVariable(found->at[v]);
    if (!own) return Refuse("results are used at other places than their own", product.line);
    of.variables[*own] = v;
  }
  if (of.variables.size() != window.extents.size() + reduce.variables.size())
    return Refuse("results are used at other places than their own", product.line);
  for (const auto& variable : reduce.variables) of.positions.push_back({of.variables.at(variable.id), variable.extent});
  ContractionGroup grouped;
  grouped.stage = found->product;
  std::vector<VariableId> neighbours;
  for (auto v = static_cast<VariableId>(window.extents.size()); v-- > 0;) neighbours.push_back(of.variables.at(v));
  for (const size_t i : group.stages) {
    if (!problem.stage(i).output) continue;
    std::optional<VariableMap> by_window = VariableMap();
    if (i == found->window)
      for (VariableId v = 0; v < window.extents.size(); ++v) (*by_window)[v] = v;
    else by_window = VariablesOfReader(window, problem.stage(i));
    if (!by_window) return Refuse("a window's result is used at other places than its own", product.line);
    StageReader reader{i, {}};
    for (const auto& [own, of_window] : *by_window) reader.variables[own] = of.variables.at(of_window);
    grouped.outputs.push_back(std::move(reader));
  }
  if (grouped.outputs.empty()) return Refuse("nothing is written");
  auto contraction = ContractionOf(problem.form, product, neighbours);
  if (!contraction) return Refuse(contraction.error().message, product.line);
  const auto is_position = [&](const Axis& axis) {
    return std::any_of(of.positions.begin(), of.positions.end(),
                       [&](const Axis& t) { return t.variable == axis.variable; });
  };
  for (std::vector<Axis>* axes : {&contraction->m, &contraction->n, &contraction->batch})
    std::erase_if(*axes, is_position);
  if (contraction->m.empty() || contraction->n.empty()) return Refuse("a window has all of one factor's results");
  grouped.contraction = std::move(*contraction);
  grouped.window = std::make_shared<ProductWindow>(std::move(of));
  return grouped;
}

}  // namespace warpwright::schedule
