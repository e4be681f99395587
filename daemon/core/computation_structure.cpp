#include "core/computation_structure.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "core/polynomial.h"

namespace warpwright::core {
namespace {

constexpr int64_t kMaxNeighbourDistance = 16;

VariableSet IndexSet(const Stage& stage) { return SetOf(static_cast<VariableId>(stage.extents.size())) - 1; }
std::vector<VariableId> ListOf(VariableSet set) {
  std::vector<VariableId> list;
  for (VariableId v = 0; v < kMaxVariables; ++v)
    if ((set & SetOf(v)) != 0) list.push_back(v);
  return list;
}
template <typename T>
const T* FirstOf(const Stage& stage, const std::vector<NodeId>& nodes) {
  for (const NodeId id : nodes)
    if (const T* node = std::get_if<T>(&stage.nodes[id])) return node;
  return nullptr;
}

// The nodes that one depends on, itself included.
std::vector<NodeId> Below(const Stage& stage, NodeId root) {
  std::vector<bool> needed(root + 1);
  needed[root] = true;
  std::vector<NodeId> below;
  for (NodeId id = root + 1; id-- > 0;) {
    if (!needed[id]) continue;
    below.push_back(id);
    ForEachArgument(stage.nodes[id], [&](NodeId arg) { needed[arg] = true; });
  }
  return below;
}

// Factors of a product, one level deep, without conversions around them.
std::vector<NodeId> FactorsOf(const Stage& stage, NodeId id) {
  while (const auto* convert = std::get_if<Convert>(&stage.nodes[id])) id = convert->arg;
  const auto* nary = std::get_if<Nary>(&stage.nodes[id]);
  if (nary == nullptr || nary->op != ReduceOp::kProduct) return {id};
  std::vector<NodeId> factors;
  for (const NodeId arg : nary->args)
    for (const NodeId factor : FactorsOf(stage, arg)) factors.push_back(factor);
  return factors;
}

class StageAnalysis {
 public:
  StageAnalysis(const Stage& stage, ComputationStructure& out)
      : stage_(stage), out_(out), free_(FreeVariables(stage)), reachable_(Reachable(stage)) {}

  OperationClass Run() {
    OperationClass best = OperationClass::kElementwise;
    bool reduces = false;
    for (NodeId id = 0; id < stage_.nodes.size(); ++id) {
      const auto* reduce = reachable_[id] ? std::get_if<Reduce>(&stage_.nodes[id]) : nullptr;
      if (reduce == nullptr) continue;
      const OperationClass found = OfReduce(id, *reduce);
      if (!reduces || IsReduction(best)) best = found;
      reduces = true;
    }
    return reduces ? best : WithoutReduction();
  }

 private:
  OperationClass OfReduce(NodeId id, const Reduce& reduce) {
    const VariableSet own = VariablesOf(reduce);
    const bool windowed = AddReads(reduce, own);
    if (reduce.op == ReduceOp::kSum && AddContraction(reduce, own)) {
      const bool slides = std::any_of(out_.windows.begin(), out_.windows.end(), [&](const Window& window) {
        return window.stage == stage_.name && !IsGroup(window);
      });
      if (windowed && slides) return OperationClass::kConvolution;
      const Contraction& found = out_.contractions.back();
      return found.m.empty() || found.n.empty() ? OperationClass::kMatvec : OperationClass::kMatmul;
    }
    if (windowed) return OperationClass::kStencil;
    if (const auto counting = Counting(reduce, own)) return *counting;
    if (IsPrefix(reduce, own)) return OperationClass::kScan;
    if (IsArg(reduce.op)) return OperationClass::kArgReduction;
    return HasOneResult(id) ? OperationClass::kFullReduction : OperationClass::kRowReduction;
  }
  bool HasOneResult(NodeId id) const {
    for (VariableId v = 0; v < stage_.extents.size(); ++v)
      if ((free_[id] & SetOf(v)) != 0 && !IsNumber(stage_.extents[v], 1)) return false;
    return true;
  }

  // Axes and windows of what the body reads. True: there is a window.
  bool AddReads(const Reduce& reduce, VariableSet own) {
    bool windowed = false;
    for (const NodeId id : Below(stage_, reduce.body)) {
      const auto* read = std::get_if<TensorRead>(&stage_.nodes[id]);
      if (read == nullptr) continue;
      for (size_t dimension = 0; dimension < read->at.size(); ++dimension) {
        const auto* position = std::get_if<Affine>(&read->at[dimension]);
        if (position == nullptr || (VariablesOf(*position) & own) == 0) continue;
        if (const auto variable = AsVariable(*position)) AddAxis(reduce, *variable, read->tensor, dimension);
        else windowed = AddWindow(reduce, own, *position, read->tensor, dimension) || windowed;
      }
    }
    return windowed;
  }
  void AddAxis(const Reduce& reduce, VariableId variable, const std::string& tensor, size_t dimension) {
    for (const auto& own : reduce.variables) {
      if (own.id != variable) continue;
      ReductionAxis axis{
          .stage = stage_.name, .op = reduce.op, .tensor = tensor, .dimension = dimension, .extent = own.extent};
      if (std::find(out_.axes.begin(), out_.axes.end(), axis) == out_.axes.end()) out_.axes.push_back(std::move(axis));
    }
  }
  bool AddWindow(const Reduce& reduce, VariableSet own, const Affine& position, const std::string& tensor,
                 size_t dimension) {
    Window window{.stage = stage_.name,
                  .tensor = tensor,
                  .dimension = dimension,
                  .offset = position.constant,
                  .divisor = position.divisor};
    size_t indices = 0, terms = 0;
    for (const auto& term : position.terms) {
      if (term.part != Affine::Part::kWhole) return false;
      const bool inner = (SetOf(term.variable) & own) != 0;
      (inner ? window.dilation : window.stride) = term.coefficient;
      ++(inner ? terms : indices);
      for (const auto& variable : reduce.variables)
        if (variable.id == term.variable) window.extent = variable.extent;
    }
    if (indices != 1 || terms != 1) return false;
    if (std::find(out_.windows.begin(), out_.windows.end(), window) == out_.windows.end())
      out_.windows.push_back(std::move(window));
    return true;
  }

  // Two groups of factors by the index variables that they depend on; factors without the reduction's variables do not
  // count.
  bool AddContraction(const Reduce& reduce, VariableSet own) {
    const VariableSet index = IndexSet(stage_);
    std::vector<std::pair<VariableSet, std::vector<NodeId>>> groups;
    for (const NodeId factor : FactorsOf(stage_, reduce.body)) {
      if ((free_[factor] & own) == 0) continue;
      if ((free_[factor] & index) == 0 && TensorIn({factor}).empty()) continue;  // weights that are no operand
      const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
        return (group.first & index) == (free_[factor] & index);
      });
      if (same == groups.end()) groups.push_back({free_[factor], {factor}});
      else same->first |= free_[factor], same->second.push_back(factor);
    }
    if (groups.size() != 2) return false;
    const VariableSet left = groups[0].first, right = groups[1].first;
    if ((left & right & own) == 0) return false;
    Contraction contraction{.stage = stage_.name,
                            .left = TensorIn(groups[0].second),
                            .right = TensorIn(groups[1].second),
                            .batch = ListOf(left & right & index),
                            .m = ListOf(left & ~right & index),
                            .n = ListOf(right & ~left & index),
                            .k = ListOf(own)};
    if (contraction.m.empty() && contraction.n.empty()) return false;
    if (std::find(out_.contractions.begin(), out_.contractions.end(), contraction) == out_.contractions.end())
      out_.contractions.push_back(std::move(contraction));
    return true;
  }
  std::string TensorIn(const std::vector<NodeId>& factors) const {
    for (const NodeId factor : factors)
      if (const auto* read = FirstOf<TensorRead>(stage_, Below(stage_, factor))) return read->tensor;
    return {};
  }

  // idx[r] == i, perhaps among other conditions
  bool MatchesKey(NodeId condition, VariableSet own) const {
    if (const auto* logic = std::get_if<Logic>(&stage_.nodes[condition]))
      return logic->op == Logic::Op::kAnd &&
             std::any_of(logic->args.begin(), logic->args.end(), [&](NodeId part) { return MatchesKey(part, own); });
    const auto* compare = std::get_if<Compare>(&stage_.nodes[condition]);
    if (compare == nullptr || compare->op != Comparison::kEqual) return false;
    const VariableSet left = free_[compare->left], right = free_[compare->right];
    return ((left & own) != 0 && (right & IndexSet(stage_)) != 0 && (right & own) == 0) ||
           ((right & own) != 0 && (left & IndexSet(stage_)) != 0 && (left & own) == 0);
  }
  // sum of (idx[r] == i ? x : 0)
  std::optional<OperationClass> Counting(const Reduce& reduce, VariableSet own) const {
    const auto* select = std::get_if<Select>(&stage_.nodes[reduce.body]);
    if (select == nullptr || !MatchesKey(select->condition, own)) return std::nullopt;
    return free_[select->then] == 0 ? OperationClass::kHistogram : OperationClass::kScatter;
  }
  // The terms up to the element itself, which the body does not depend on.
  bool IsPrefix(const Reduce& reduce, VariableSet own) const {
    for (const auto& guard : reduce.guards) {
      const VariableSet variables = VariablesOf(guard.value), outer = variables & IndexSet(stage_);
      if ((variables & own) != 0 && outer != 0 && (free_[reduce.body] & outer) == 0) return true;
    }
    return false;
  }

  OperationClass WithoutReduction() const {
    std::vector<const TensorRead*> reads;
    bool computes = false;  // anything but choices between an element and a number, as a padded copy makes them
    for (NodeId id = 0; id < stage_.nodes.size(); ++id) {
      if (!reachable_[id]) continue;
      const Node& node = stage_.nodes[id];
      if (const auto* read = std::get_if<TensorRead>(&node)) reads.push_back(read);
      else computes = computes || !(std::holds_alternative<Convert>(node) || std::holds_alternative<Constant>(node));
    }
    for (const auto* read : reads)
      for (const auto& coordinate : read->at)
        if (std::holds_alternative<NodeId>(coordinate)) return OperationClass::kGather;
    for (size_t i = 0; i < reads.size(); ++i)
      for (size_t k = i + 1; k < reads.size(); ++k)
        if (reads[i]->tensor == reads[k]->tensor && AreNeighbours(*reads[i], *reads[k]))
          return SumsWeighedReads() ? OperationClass::kConvolution : OperationClass::kStencil;
    const bool moves = !computes && reads.size() == 1 && IsRearranged(*reads[0]);
    return moves ? OperationClass::kTranspose : OperationClass::kElementwise;
  }
  // Other results read the one where this result reads the other: the same position but for a few steps.
  static bool AreNeighbours(const TensorRead& a, const TensorRead& b) {
    bool differ = false;
    for (size_t i = 0; i < a.at.size(); ++i) {
      const auto *left = std::get_if<Affine>(&a.at[i]), *right = std::get_if<Affine>(&b.at[i]);
      if (left == nullptr || right == nullptr || left->terms != right->terms || left->divisor != right->divisor)
        return false;
      const auto distance = (Polynomial::Of(left->constant) - Polynomial::Of(right->constant)).constant();
      if (!distance || std::abs(*distance) > kMaxNeighbourDistance) return false;
      if (*distance == 0) continue;
      if (left->terms.empty()) return false;  // two places, not two neighbours
      for (const auto& term : left->terms) {
        const auto step = Polynomial::Of(term.coefficient).constant();
        if (term.part != Affine::Part::kWhole || !step || *step == 0 || *distance % *step != 0) return false;
      }
      differ = true;
    }
    return differ;
  }
  // A sum that is written out, of products of elements of two tensors, of both of which the elements differ.
  bool SumsWeighedReads() const {
    for (NodeId id = 0; id < stage_.nodes.size(); ++id) {
      const auto* sum = reachable_[id] ? std::get_if<Nary>(&stage_.nodes[id]) : nullptr;
      if (sum == nullptr || sum->op != ReduceOp::kSum) continue;
      std::map<std::string, std::set<NodeId>> read;  // in terms that read two tensors
      for (const NodeId term : sum->args) {
        std::map<std::string, NodeId> factors;
        for (const NodeId factor : FactorsOf(stage_, term))
          if (const auto* element = std::get_if<TensorRead>(&stage_.nodes[factor])) factors[element->tensor] = factor;
        if (factors.size() != 2) continue;
        for (const auto& [tensor, element] : factors) read[tensor].insert(element);
      }
      if (read.size() == 2 && read.begin()->second.size() > 1 && read.rbegin()->second.size() > 1) return true;
    }
    return false;
  }
  // Not at the indices in their order, whatever is left out or added at the ends.
  bool IsRearranged(const TensorRead& read) const {
    std::vector<VariableId> order, target;
    for (const auto& coordinate : read.at) {
      const Affine& position = std::get<Affine>(coordinate);
      if (position.terms.empty()) continue;
      const auto& term = position.terms[0];
      if (position.terms.size() > 1 || term.part != Affine::Part::kWhole || !IsNumber(term.coefficient, 1) ||
          !IsNumber(position.divisor, 1))
        return true;
      order.push_back(term.variable);
    }
    for (VariableId v = 0; v < stage_.extents.size(); ++v) target.push_back(v);
    for (size_t i = 0; i < stage_.at.size(); ++i) {
      if (stage_.at[i].terms.size() > 1) return true;
      if (const auto variable = AsVariable(stage_.at[i]); variable && i < target.size()) target[i] = *variable;
    }
    return std::is_permutation(order.begin(), order.end(), target.begin(), target.end()) && order != target;
  }

  const Stage& stage_;
  ComputationStructure& out_;
  const std::vector<VariableSet> free_;
  const std::vector<bool> reachable_;
};

void AddFusions(const Computation& computation, ComputationStructure& out) {
  for (const auto& reader : computation.stages) {
    std::map<std::string, std::vector<const TensorRead*>> reads;
    for (const auto& node : reader.nodes)
      if (const auto* read = std::get_if<TensorRead>(&node); read != nullptr && read->stage)
        reads[read->tensor].push_back(read);
    for (const auto& [name, all] : reads) {
      const Stage& producer = *computation.FindStage(name);
      Fusion fusion{.producer = name, .reader = reader.name};
      // At variables of the reader's own: all of them, or those of the row.
      const bool own = std::all_of(all.begin(), all.end(), [&](const TensorRead* read) {
        std::set<VariableId> seen;
        return std::all_of(read->at.begin(), read->at.end(), [&](const Coordinate& coordinate) {
          const auto* position = std::get_if<Affine>(&coordinate);
          const auto variable = position == nullptr ? std::nullopt : AsVariable(*position);
          return variable && *variable < reader.extents.size() && seen.insert(*variable).second;
        });
      });
      const bool whole = own && producer.extents.size() == reader.extents.size();
      if (!HasReduction(producer)) fusion.kind = Fusion::Kind::kInline;
      else if (whole && !HasReduction(reader)) fusion.kind = Fusion::Kind::kEpilogue;
      else if (own) fusion.kind = Fusion::Kind::kRow;
      else continue;
      if (std::find(out.fusions.begin(), out.fusions.end(), fusion) == out.fusions.end())
        out.fusions.push_back(std::move(fusion));
    }
  }
}

}  // namespace

bool IsGroup(const Window& window) {
  return Polynomial::Of(window.stride) == Polynomial::Of(window.extent) && IsNumber(window.dilation, 1) &&
         IsNumber(window.offset, 0) && IsNumber(window.divisor, 1);
}

std::string_view Name(Fusion::Kind kind) {
  switch (kind) {
    case Fusion::Kind::kInline: return "inline";
    case Fusion::Kind::kEpilogue: return "epilogue";
    case Fusion::Kind::kRow: return "row";
  }
  return "?";
}

ComputationStructure StructureOf(const Computation& computation) {
  ComputationStructure structure;
  for (size_t i = 0; i < computation.stages.size(); ++i) {
    const Stage& stage = computation.stages[i];
    structure.stages.push_back({stage.name, i, StageAnalysis(stage, structure).Run()});
  }
  AddFusions(computation, structure);
  structure.operation = ClassOf(computation, structure);
  return structure;
}

}  // namespace warpwright::core
