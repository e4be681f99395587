#include "schedule/contraction_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "schedule/expression_code.h"
#include "schedule/single_positions.h"

namespace warpwright::schedule {
namespace {

using core::VariableId;

// The group's one product of matrices; none: it has several, or none.
std::optional<size_t> ProductOf(const Problem& problem, const Group& group) {
  std::optional<size_t> found;
  for (const size_t i : group.stages) {
    const core::Stage& stage = problem.stage(i);
    const core::Reduce* sum = RootSumOf(stage);
    if (sum == nullptr || stage.output || !IsProductOfMatrices(stage, *sum)) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

// The problem of the group's other stages, which read the product as a tensor.
Problem WithProductAsTensor(const Problem& problem, const core::Stage& product) {
  Problem below = problem;
  below.form.tensors.push_back({.name = product.name,
                                .dtype = problem.in_double ? core::DType::kF64 : core::DType::kF32,
                                .shape = product.extents,
                                .read = true});
  for (core::Stage& stage : below.form.stages) {
    if (stage.output) stage = WithoutSingles(std::move(stage));
    for (core::Node& node : stage.nodes)
      if (auto* read = std::get_if<core::TensorRead>(&node); read && read->stage && read->tensor == product.name)
        read->stage = false;
  }
  below.structure = core::StructureOf(below.form);
  return below;
}

// The product's variables by the plan's, if every stage reads it at one place, which is one of its rows' elements.
std::optional<VariableMap> VariablesOf(const RowPlan& plan, const core::Stage& product) {
  std::optional<VariableMap> found;
  for (const RowMember& member : plan.members) {
    bool reads = false;
    const auto reachable = core::Reachable(member.stage);
    for (size_t id = 0; id < member.stage.nodes.size(); ++id) {
      const auto* read = reachable[id] ? std::get_if<core::TensorRead>(&member.stage.nodes[id]) : nullptr;
      if (read == nullptr || read->stage || read->tensor != product.name) continue;
      reads = true;
      VariableMap variables;
      for (VariableId v = 0; v < read->at.size(); ++v) {
        const auto* position = std::get_if<core::Affine>(&read->at[v]);
        const auto variable = position ? core::AsVariable(*position) : std::nullopt;
        if (!variable) return std::nullopt;
        variables[*variable] = v;
      }
      const size_t all = plan.rows.size() + member.columns.size();
      if (variables.size() != product.extents.size() || variables.size() != all) return std::nullopt;
      if (found && *found != variables) return std::nullopt;
      found = std::move(variables);
    }
    if (!reads && !member.columns.empty()) return std::nullopt;
  }
  return found;
}

// What only the factor of the columns has, and is none of them, is the same for a whole block.
bool PlaceColumns(Contraction& contraction, const std::set<VariableId>& columns) {
  std::vector<Axis> n;
  for (const Axis& axis : contraction.n) (columns.contains(axis.variable) ? n : contraction.batch).push_back(axis);
  contraction.n = std::move(n);
  return contraction.n.size() == columns.size() && !contraction.m.empty();
}

double TimeOf(const TileShape& shape, const Problem& problem, const Contraction& contraction) {
  double time = 0;
  for (const core::ScheduledCase& c : problem.input.cases) {
    const double blocks = std::ceil(CountOf(contraction.m, c) / shape.m) * CountOf(contraction.batch, c);
    const double waves = std::ceil(blocks / problem.input.chip.multiprocessors);
    const double column_tiles = std::ceil(CountOf(contraction.n, c) / shape.n);
    time += c.weight * waves * column_tiles * shape.m * shape.n * CountOf(contraction.k, c) / shape.efficiency;
  }
  return time;
}

}  // namespace

bool ReadsWhatItWrites(const Problem& problem, const Group& group) {
  return std::any_of(group.stages.begin(), group.stages.end(), [&](size_t i) {
    return problem.stage(i).output && std::any_of(group.stages.begin(), group.stages.end(), [&](size_t reader) {
             return ReadsTensor(problem.stage(reader), problem.stage(i).name, false);
           });
  });
}

std::variant<core::RewriteRefusal, ContractionGroup> RowsOfProduct(const Problem& problem, const Group& group) {
  const auto product = ProductOf(problem, group);
  if (!product) return Refuse("the group is not one product of matrices and reductions of its rows");
  const core::Stage& stage = problem.stage(*product);
  if (ReadsWhatItWrites(problem, group)) return Refuse("what rows are made of is overwritten", stage.line);
  Group others;
  for (const size_t i : group.stages)
    if (i != *product) others.stages.push_back(i);
  ProductRows rows{.problem = WithProductAsTensor(problem, stage), .product = stage.name, .plan = {}, .variables = {}};
  RowPlanOutcome plan = PlanRows(rows.problem, others);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&plan)) return *refusal;
  rows.plan = std::move(std::get<RowPlan>(plan));
  auto variables = VariablesOf(rows.plan, stage);
  if (!variables) return Refuse("results are used at other places than their own", stage.line);
  rows.variables = std::move(*variables);
  std::set<VariableId> columns;
  std::vector<VariableId> neighbours;
  for (const auto& [of_plan, of_product] : rows.variables)
    if (of_plan >= rows.plan.rows.size()) columns.insert(of_product), neighbours.push_back(of_product);
  auto contraction = ContractionOf(problem.form, stage, neighbours);
  if (!contraction) return Refuse(contraction.error().message, stage.line);
  if (columns.empty() || !PlaceColumns(*contraction, columns))
    return Refuse("what is reduced are not one factor's rows", stage.line);
  return ContractionGroup{.stage = *product,
                          .contraction = std::move(*contraction),
                          .outputs = {},
                          .rows = std::make_shared<ProductRows>(std::move(rows))};
}

std::optional<RowTiles> RowTilesOf(std::span<const TileShape> shapes, const Problem& problem,
                                   const ContractionGroup& group) {
  std::vector<core::Size> extents;
  for (const Axis& axis : group.contraction.n) extents.push_back(axis.extent);
  const core::Size columns = Product(extents);
  const int64_t longest = LargestOf(problem, columns).value_or(std::numeric_limits<int64_t>::max());
  RowTiles best;
  double least = std::numeric_limits<double>::infinity();
  for (const bool whole : {true, false}) {
    if (!whole && (best.shape != nullptr || !problem.rows_in_turns)) break;
    for (const TileShape& shape : shapes) {
      if (whole && longest > shape.n) continue;
      const double time = TimeOf(shape, problem, group.contraction);
      if (time < least) least = time, best = {&shape, whole, ""};
    }
  }
  if (best.shape == nullptr) return std::nullopt;
  if (best.whole && !columns.Variables().empty())
    best.condition = fmt::format("{} <= {}", SizeText(columns), best.shape->n);
  return best;
}

}  // namespace warpwright::schedule
