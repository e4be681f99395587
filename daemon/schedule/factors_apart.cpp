#include "schedule/factors_apart.h"

#include <algorithm>
#include <map>
#include <optional>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "schedule/problem.h"

namespace warpwright::schedule {
namespace {

using core::Affine;
using core::NodeId;
using core::Stage;
using core::TensorRead;

// The positions of the read, where each is one and none is a gather.
std::optional<std::vector<Affine>> PositionsOf(const TensorRead& read) {
  std::vector<Affine> positions;
  for (const core::Coordinate& coordinate : read.at) {
    const auto* position = std::get_if<Affine>(&coordinate);
    if (position == nullptr) return std::nullopt;
    positions.push_back(*position);
  }
  return positions;
}

// The stage whose last node is the factor.
Stage UpTo(const Stage& stage, NodeId factor) {
  Stage part = stage;
  part.nodes.resize(factor + 1);
  return WithoutUnused(std::move(part));
}

// In terms of the coordinates at which the sums are read, which are the variables then. Whether it can be.
bool Renumber(Stage& factor, const std::vector<Affine>& at) {
  bool all = true;
  for (core::Node& node : factor.nodes)
    core::ForEachPosition(node, [&](Affine& position) {
      if (position.terms.empty()) return;
      const auto like = std::find(at.begin(), at.end(), position);
      all &= like != at.end();
      if (like != at.end()) position = core::AffineOf(static_cast<core::VariableId>(like - at.begin()));
    });
  return all;
}

bool HasOthers(const Stage& stage, NodeId factor, const std::vector<Affine>& at) {
  Stage part = UpTo(stage, factor);
  return std::any_of(part.nodes.begin(), part.nodes.end(),
                     [](const core::Node& node) { return std::holds_alternative<TensorRead>(node); }) &&
         !Renumber(part, at);
}

// The sums that a factor is made of: those of the most variables, and where they are read.
struct Sums {
  const Stage* stage = nullptr;
  TensorRead read;
};
Sums SumsOf(const core::Computation& computation, const Stage& factor) {
  Sums sums;
  for (const core::Node& node : factor.nodes) {
    const auto* read = std::get_if<TensorRead>(&node);
    const Stage* from = read != nullptr && read->stage ? computation.FindStage(read->tensor) : nullptr;
    if (from == nullptr || RootSumOf(*from) == nullptr || from->output || !from->domain.empty()) continue;
    if (sums.stage == nullptr || from->extents.size() > sums.stage->extents.size()) sums = {from, *read};
  }
  return sums;
}

std::optional<FactorApart> Apart(const core::Computation& computation, size_t reader, NodeId id,
                                 const core::Nary& product) {
  Stage factor = UpTo(computation.stages[reader], id);
  const Sums sums = SumsOf(computation, factor);
  if (sums.stage == nullptr || factor.nodes.size() == 1) return std::nullopt;
  const auto at = PositionsOf(sums.read);
  if (!at || !Renumber(factor, *at)) return std::nullopt;
  const bool of_others = std::any_of(product.args.begin(), product.args.end(), [&](NodeId other) {
    return other != id && HasOthers(computation.stages[reader], other, *at);
  });
  if (!of_others) return std::nullopt;
  factor.name = computation.FreeName(sums.stage->name + "_factor");
  factor.output = false, factor.at.clear(), factor.domain.clear();
  factor.extents = sums.stage->extents;
  factor.line = sums.stage->line;
  FactorApart apart{computation, reader};
  Stage& of_factor = apart.computation.stages[reader];
  of_factor.nodes[id] = TensorRead{factor.name, true, sums.read.at};
  of_factor = WithoutUnused(std::move(of_factor));
  apart.computation.stages.insert(apart.computation.stages.begin() + static_cast<std::ptrdiff_t>(reader),
                                  std::move(factor));
  return apart;
}

}  // namespace

std::vector<FactorApart> FactorsApart(const core::Computation& computation) {
  std::vector<FactorApart> all;
  for (size_t s = 0; s < computation.stages.size(); ++s) {
    const core::Reduce* sum = RootSumOf(computation.stages[s]);
    if (sum == nullptr) continue;
    const auto* product = std::get_if<core::Nary>(&computation.stages[s].nodes[sum->body]);
    if (product == nullptr || product->op != core::ReduceOp::kProduct) continue;
    for (const NodeId factor : product->args)
      if (auto apart = Apart(computation, s, factor, *product)) all.push_back(std::move(*apart));
  }
  return all;
}

}  // namespace warpwright::schedule
