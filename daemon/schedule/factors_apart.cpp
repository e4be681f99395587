#include "schedule/factors_apart.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

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

// What a factor is made of element by element: the sums of the most variables, or a tensor of more that is not the
// factor itself, as of a norm; and where it is read.
struct Source {
  TensorRead read;
  std::vector<core::Size> extents;  // empty: there is none
  std::vector<core::Guard> domain;  // of the sums: the triangle of a causal mask
  std::string name;
  int line = 0;
};
bool HasCall(const Stage& factor) {
  return std::any_of(factor.nodes.begin(), factor.nodes.end(),
                     [](const core::Node& node) { return std::holds_alternative<core::Call>(node); });
}
Source SourceOf(const core::Computation& computation, const Stage& factor) {
  Source source;
  bool of_sums = false;
  for (const core::Node& node : factor.nodes) {
    const auto* read = std::get_if<TensorRead>(&node);
    const Stage* from = read != nullptr && read->stage ? computation.FindStage(read->tensor) : nullptr;
    if (from == nullptr || RootSumOf(*from) == nullptr || from->output) continue;
    of_sums = true;
    if (source.extents.empty() || from->extents.size() > source.extents.size())
      source = {
          .read = *read, .extents = from->extents, .domain = from->domain, .name = from->name, .line = from->line};
  }
  if (!of_sums && !HasCall(factor)) return source;
  for (const core::Node& node : factor.nodes) {
    const auto* read = std::get_if<TensorRead>(&node);
    const core::TensorArgument* tensor =
        read != nullptr && !read->stage ? computation.FindTensor(read->tensor) : nullptr;
    if (tensor != nullptr && core::IsFloat(tensor->dtype) && tensor->shape.size() > source.extents.size())
      source = {.read = *read, .extents = tensor->shape, .domain = {}, .name = tensor->name, .line = factor.line};
  }
  return source;
}

// Factors of a product that are made of the same sums, at the same positions: x and sigmoid(x) of a swish.
struct Together {
  std::vector<NodeId> factors;
  Source source;
};
std::vector<Together> TogetherIn(const core::Computation& computation, const Stage& reader, const core::Nary& product) {
  std::vector<Together> all;
  for (const NodeId id : product.args) {
    const Source source = SourceOf(computation, UpTo(reader, id));
    if (source.extents.empty()) continue;
    const auto known =
        std::find_if(all.begin(), all.end(), [&](const Together& other) { return other.source.read == source.read; });
    if (known == all.end()) all.push_back({{id}, source});
    else known->factors.push_back(id);
  }
  return all;
}

// What several sums come to at the same positions, where there are several: the gate and the values of a gated layer.
std::optional<Together> AtOnePlace(const std::vector<Together>& each) {
  if (each.size() < 2) return std::nullopt;
  Together all = each.front();
  const std::vector<core::Size>& extents = all.source.extents;
  for (size_t i = 1; i < each.size(); ++i) {
    const Source& other = each[i].source;
    const bool same = other.read.at == all.source.read.at &&
                      std::equal(extents.begin(), extents.end(), other.extents.begin(), other.extents.end(), Equal);
    if (!same) return std::nullopt;
    all.factors.insert(all.factors.end(), each[i].factors.begin(), each[i].factors.end());
  }
  return all;
}

// The stage whose value is the product of the factors.
Stage ProductOf(const Stage& reader, std::vector<NodeId> factors) {
  Stage part = reader;
  part.nodes.resize(*std::max_element(factors.begin(), factors.end()) + 1);
  if (factors.size() > 1) part.nodes.push_back(core::Nary{core::ReduceOp::kProduct, std::move(factors)});
  return WithoutUnused(std::move(part));
}

// Whether the stage is the factor, written out: what the original has stored, and read for its next product.
bool IsOutputOf(const Stage& factor, const Stage& stage) {
  return stage.output && stage.at.empty() && stage.domain.empty() &&
         std::equal(stage.extents.begin(), stage.extents.end(), factor.extents.begin(), factor.extents.end(), Equal) &&
         WithoutUnused(stage).nodes == factor.nodes;
}
TensorRead ReadOf(const Stage& stage) {
  TensorRead read{stage.name, true, {}};
  for (core::VariableId v = 0; v < stage.extents.size(); ++v) read.at.emplace_back(core::AffineOf(v));
  return read;
}

std::optional<FactorApart> Apart(const core::Computation& computation, size_t reader, NodeId product,
                                 const Together& together) {
  const auto& [factors, source] = together;
  Stage factor = ProductOf(computation.stages[reader], factors);
  if (factor.nodes.size() == 1) return std::nullopt;
  const auto at = PositionsOf(source.read);
  if (!at || !Renumber(factor, *at)) return std::nullopt;
  const auto is_taken = [&factors = factors](NodeId id) {
    return std::find(factors.begin(), factors.end(), id) != factors.end();
  };
  const auto& args = std::get<core::Nary>(computation.stages[reader].nodes[product]).args;
  const bool of_others = std::any_of(args.begin(), args.end(), [&](NodeId other) {
    return !is_taken(other) && HasOthers(computation.stages[reader], other, *at);
  });
  if (!of_others) return std::nullopt;
  factor.name = computation.FreeName(source.name + "_factor");
  factor.output = false, factor.at.clear();
  factor.extents = source.extents;
  factor.domain = source.domain;
  factor.line = source.line;
  FactorApart apart{computation, reader};
  Stage& of_factor = apart.computation.stages[reader];
  of_factor.nodes[factors.front()] = TensorRead{factor.name, true, source.read.at};
  std::erase_if(std::get<core::Nary>(of_factor.nodes[product]).args,
                [&](NodeId id) { return id != factors.front() && is_taken(id); });
  of_factor = WithoutUnused(std::move(of_factor));
  for (Stage& stage : apart.computation.stages)
    if (IsOutputOf(factor, stage)) stage.nodes = {ReadOf(factor)};
  apart.computation.stages.insert(apart.computation.stages.begin() + static_cast<std::ptrdiff_t>(reader),
                                  std::move(factor));
  return apart;
}

bool ReadsOnly(const Stage& function, const std::string& sums) {
  return std::none_of(function.nodes.begin(), function.nodes.end(), [&](const core::Node& node) {
    const auto* read = std::get_if<TensorRead>(&node);
    return std::holds_alternative<core::Reduce>(node) || (read != nullptr && read->stage && read->tensor != sums);
  });
}

// What the node makes of the sums at the one position where it reads them, in terms of that position's coordinates.
struct Function {
  Stage stage;
  std::vector<core::Coordinate> at;
};
std::optional<Function> FunctionAt(const Stage& reader, NodeId node, const std::string& sums) {
  Function function{UpTo(reader, node), {}};
  if (!ReadsOnly(function.stage, sums)) return std::nullopt;
  for (const core::Node& other : function.stage.nodes) {
    const auto* read = std::get_if<TensorRead>(&other);
    if (read == nullptr || !read->stage) continue;
    if (!function.at.empty() && function.at != read->at) return std::nullopt;
    function.at = read->at;
  }
  const auto at = PositionsOf({sums, true, function.at});
  if (!at || at->empty() || !Renumber(function.stage, *at)) return std::nullopt;
  return function;
}

bool SameValue(const Stage& a, NodeId i, const Stage& b, NodeId j) {
  core::Node x = a.nodes[i], y = b.nodes[j];
  std::vector<NodeId> of_x, of_y;
  core::ForEachArgument(x, [&](NodeId& arg) { of_x.push_back(std::exchange(arg, 0)); });
  core::ForEachArgument(y, [&](NodeId& arg) { of_y.push_back(std::exchange(arg, 0)); });
  if (!(x == y) || of_x.size() != of_y.size()) return false;
  const bool in_any_order = std::holds_alternative<core::Nary>(x);
  for (const NodeId arg : of_x) {
    const auto end = in_any_order ? of_y.end() : of_y.begin() + 1;
    const auto found = std::find_if(of_y.begin(), end, [&](NodeId other) { return SameValue(a, arg, b, other); });
    if (found == end) return false;
    of_y.erase(found);
  }
  return true;
}

// With the function's values where they are made; whether the sums themselves are read nowhere then.
bool Replace(Stage& reader, const Function& function, const std::string& sums, const std::string& name) {
  for (NodeId id = 0; id < reader.nodes.size(); ++id) {
    const auto own = FunctionAt(reader, id, sums);
    if (own && SameValue(own->stage, static_cast<NodeId>(own->stage.nodes.size() - 1), function.stage,
                         static_cast<NodeId>(function.stage.nodes.size() - 1)))
      reader.nodes[id] = TensorRead{name, true, own->at};
  }
  reader = WithoutUnused(std::move(reader));
  return !ReadsTensor(reader, sums, true);
}

std::optional<FactorApart> FunctionApart(const core::Computation& computation, size_t sums) {
  const Stage& of_sums = computation.stages[sums];
  std::vector<size_t> readers;
  for (size_t s = sums + 1; s < computation.stages.size(); ++s)
    if (ReadsTensor(computation.stages[s], of_sums.name, true)) readers.push_back(s);
  if (readers.size() < 2) return std::nullopt;
  const Stage& first = computation.stages[readers.front()];
  // The most that is a function first.
  for (NodeId node = static_cast<NodeId>(first.nodes.size()); node-- > 0;) {
    const auto function = FunctionAt(first, node, of_sums.name);
    if (!function || !HasCall(function->stage)) continue;
    FactorApart apart{computation, sums + 1};
    Stage finished = function->stage;
    finished.name = computation.FreeName(of_sums.name + "_function");
    finished.output = false, finished.at.clear();
    finished.extents = of_sums.extents, finished.domain = of_sums.domain, finished.line = of_sums.line;
    const bool all = std::all_of(readers.begin(), readers.end(), [&](size_t s) {
      return Replace(apart.computation.stages[s], *function, of_sums.name, finished.name);
    });
    if (!all) continue;
    apart.computation.stages.insert(apart.computation.stages.begin() + static_cast<std::ptrdiff_t>(sums) + 1,
                                    std::move(finished));
    return apart;
  }
  return std::nullopt;
}

}  // namespace

std::vector<FactorApart> FunctionsApart(const core::Computation& computation) {
  std::vector<FactorApart> all;
  for (size_t s = 0; s < computation.stages.size(); ++s) {
    if (RootSumOf(computation.stages[s]) == nullptr || computation.stages[s].output) continue;
    if (auto apart = FunctionApart(computation, s)) all.push_back(std::move(*apart));
  }
  return all;
}

std::vector<FactorApart> FactorsApart(const core::Computation& computation) {
  std::vector<FactorApart> all;
  for (size_t s = 0; s < computation.stages.size(); ++s) {
    const core::Reduce* sum = RootSumOf(computation.stages[s]);
    if (sum == nullptr) continue;
    const auto* product = std::get_if<core::Nary>(&computation.stages[s].nodes[sum->body]);
    if (product == nullptr || product->op != core::ReduceOp::kProduct) continue;
    std::vector<Together> factors = TogetherIn(computation, computation.stages[s], *product);
    if (auto all_factors = AtOnePlace(factors)) factors.insert(factors.begin(), std::move(*all_factors));
    for (const Together& together : factors)
      if (auto apart = Apart(computation, s, sum->body, together)) all.push_back(std::move(*apart));
  }
  return all;
}

}  // namespace warpwright::schedule
