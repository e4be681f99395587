#include "core/computation_digest.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/hash.h"
#include "core/computation_walk.h"
#include "core/normal_graph.h"

namespace warpwright::core {
namespace {

constexpr size_t kMaxChoicesOfNames = 24;

// Names of sizes and scalars, and what they are called in the form.
using Symbols = std::map<std::string, std::string>;

class Normalizer {
 public:
  Normalizer(const Computation& computation, const Symbols& symbols, uint64_t limit)
      : computation_(computation), symbols_(symbols), graph_(limit) {
    std::set<std::string> used;
    for (const auto& stage : computation.stages) {
      if (stage.output) used.insert(stage.name);
      for (const auto& node : stage.nodes)
        if (const auto* read = std::get_if<TensorRead>(&node); read != nullptr && !read->stage)
          used.insert(read->tensor);
    }
    for (const auto& tensor : computation.tensors)
      if (used.contains(tensor.name)) positions_.emplace(tensor.name, "a" + std::to_string(positions_.size()));
  }

  // None: the limit was reached.
  std::optional<std::string> Text() {
    std::vector<NormalId> outputs;
    for (const auto& stage : computation_.stages)
      if (stage.output) outputs.push_back(OfOutput(stage));
    const NormalId all = graph_.All(std::move(outputs));
    if (graph_.full()) return std::nullopt;
    return graph_.Text(all);
  }

 private:
  using Variables = std::map<VariableId, NormalIndex>;

  Polynomial OfSize(const Size& size) const {
    return Polynomial::Of(size, [&](const std::string& name) {
      const auto found = symbols_.find(name);
      return found == symbols_.end() ? name : found->second;
    });
  }
  NormalIndex OfAffine(const Affine& affine, const Variables& variables) {
    NormalIndex sum = graph_.OfNumber(OfSize(affine.constant));
    for (const auto& term : affine.terms) {
      NormalIndex part = variables.at(term.variable);
      if (term.modulus) part = graph_.Part(term.part, part, OfSize(*term.modulus));
      sum = graph_.Sum(sum, part, OfSize(term.coefficient));
    }
    return graph_.Divided(std::move(sum), OfSize(affine.divisor));
  }
  std::vector<NormalIndex> OfGuards(const std::vector<Guard>& guards, const Variables& variables) {
    std::vector<NormalIndex> constraints;
    for (const auto& guard : guards) {
      std::optional<Polynomial> low, high;
      if (guard.low) low = OfSize(*guard.low);
      if (guard.high) high = OfSize(*guard.high);
      graph_.AddConstraints(OfAffine(guard.value, variables), low, high, constraints);
    }
    return constraints;
  }
  // Elements count from the beginning of the buffer, so that its declared shape does not matter.
  NormalIndex OffsetOf(const TensorArgument& tensor, const std::vector<NormalIndex>& at) {
    NormalIndex offset;
    Polynomial stride(1);
    for (size_t i = at.size(); i-- > 0;) {
      offset = graph_.Sum(offset, at[i], stride);
      stride = stride * OfSize(tensor.shape[i]);
    }
    return offset;
  }

  NormalId OfOutput(const Stage& stage) {
    Variables variables;
    NormalGraph::Variables box;
    for (VariableId v = 0; v < stage.extents.size(); ++v) {
      const Polynomial extent = OfSize(stage.extents[v]);
      const TokenId token = graph_.FreshToken(extent);
      box.emplace_back(token, extent);
      variables[v] = graph_.OfToken(token);
    }
    std::vector<NormalIndex> at;
    for (const auto& position : stage.at) at.push_back(OfAffine(position, variables));
    if (stage.at.empty())
      for (const auto& [v, index] : variables) at.push_back(index);
    const TensorArgument& tensor = *computation_.FindTensor(stage.name);
    const std::string name = positions_.at(stage.name) + " " + std::string(core::Name(stage.dtype));
    const NormalId value = OfStage(stage, variables);
    return graph_.Output(name, box, OfGuards(stage.domain, variables), OffsetOf(tensor, at), value);
  }

  // Reductions beside each other may share a variable, with another extent.
  void AddVariable(const Reduce::Variable& variable, Variables& variables) {
    const Polynomial extent = OfSize(variable.extent);
    const auto [at, added] = variables.emplace(variable.id, NormalIndex{});
    if (added) at->second = graph_.OfToken(graph_.FreshToken(extent));
    else graph_.LimitExtent(graph_.TokenOf(at->second), extent);
  }

  // The value of a stage at a position: `variables` has its index variables.
  NormalId OfStage(const Stage& stage, Variables variables) {
    for (const auto& node : stage.nodes) {
      const auto* reduce = std::get_if<Reduce>(&node);
      if (reduce == nullptr) continue;
      for (const auto& variable : reduce->variables) AddVariable(variable, variables);
    }
    const auto reachable = Reachable(stage);
    std::vector<NormalId> values(stage.nodes.size());
    for (size_t i = 0; i < stage.nodes.size() && !graph_.full(); ++i)
      if (reachable[i]) values[i] = OfNode(stage.nodes[i], variables, values);
    return values.back();
  }

  NormalId OfRead(const TensorRead& read, const Variables& variables, const std::vector<NormalId>& values) {
    std::vector<NormalIndex> at;
    for (const auto& coordinate : read.at) {
      const auto* node = std::get_if<NodeId>(&coordinate);
      at.push_back(node != nullptr ? graph_.OfGather(values[*node])
                                   : OfAffine(std::get<Affine>(coordinate), variables));
    }
    if (read.stage) return OfStageRead(read.tensor, at);
    const TensorArgument& tensor = *computation_.FindTensor(read.tensor);
    return graph_.Read(positions_.at(read.tensor) + (IsFloat(tensor.dtype) ? "" : " integer"), OffsetOf(tensor, at));
  }
  NormalId OfStageRead(const std::string& name, const std::vector<NormalIndex>& at) {
    std::string key = name;
    for (const auto& index : at) key += "|" + graph_.Key(index);
    if (const auto found = stages_.find(key); found != stages_.end()) return found->second;
    std::vector<std::pair<std::vector<NormalIndex>, NormalId>> parts;
    bool elsewhere = false;
    for (const auto& stage : computation_.stages) {
      if (stage.name != name) continue;
      elsewhere = elsewhere || !stage.at.empty();
      if (elsewhere) break;
      Variables variables;
      for (VariableId v = 0; v < at.size(); ++v) variables[v] = at[v];
      std::vector<NormalIndex> constraints = OfGuards(stage.domain, variables);
      parts.emplace_back(std::move(constraints), OfStage(stage, variables));
    }
    // Where it is read, one part exists.
    if (parts.size() == 1) parts[0].first.clear();
    // An output that is written at computed positions is read as what it contains then.
    const NormalId value =
        elsewhere ? graph_.Read(positions_.at(name) + " after", OffsetOf(*computation_.FindTensor(name), at))
                  : graph_.Cases(parts);
    stages_.emplace(key, value);
    return value;
  }

  NormalId OfReduce(const Reduce& reduce, const Variables& variables, const std::vector<NormalId>& values) {
    NormalGraph::Variables box;
    for (const auto& variable : reduce.variables)
      box.emplace_back(graph_.TokenOf(variables.at(variable.id)), OfSize(variable.extent));
    std::optional<NormalIndex> index;
    if (reduce.index) index = OfAffine(*reduce.index, variables);
    return graph_.Reduce(reduce.op, std::move(box), OfGuards(reduce.guards, variables), std::move(index),
                         values[reduce.body]);
  }
  NormalId OfNary(const Nary& nary, const std::vector<NormalId>& args) {
    NormalGraph::Weighted weighted;
    for (const NormalId arg : args) weighted.emplace_back(arg, 1);
    switch (nary.op) {
      case ReduceOp::kSum: return graph_.Linear(0, weighted);
      case ReduceOp::kProduct: return graph_.Product(1, std::move(weighted));
      case ReduceOp::kMax: return graph_.Max(args);
      default: return graph_.Min(args);
    }
  }
  NormalId OfNode(const Node& node, const Variables& variables, const std::vector<NormalId>& values) {
    std::vector<NormalId> args;
    ForEachArgument(node, [&](NodeId arg) { args.push_back(values[arg]); });
    return std::visit(
        Overload{[&](const Constant& c) { return graph_.Constant(c.value); },
                 [&](const ScalarRead& read) {
                   const auto found = symbols_.find(read.name);
                   return graph_.Symbol("scalar " + (found == symbols_.end() ? read.name : found->second));
                 },
                 [&](const SizeValue& value) { return graph_.OfPolynomial(OfSize(value.size)); },
                 [&](const IndexValue& value) { return graph_.OfIndex(OfAffine(value.index, variables)); },
                 [&](const TensorRead& read) { return OfRead(read, variables, values); },
                 [&](const Reduce& reduce) { return OfReduce(reduce, variables, values); },
                 [&](const Nary& nary) { return OfNary(nary, args); },
                 [&](const Call& call) { return graph_.Call(call.function, args); },
                 [&](const Compare& compare) { return graph_.Compare(compare.op, args[0], args[1]); },
                 [&](const Logic& logic) {
                   if (logic.op == Logic::Op::kNot) return graph_.Not(args[0]);
                   return graph_.Logic(logic.op == Logic::Op::kAnd ? NormalOp::kAnd : NormalOp::kOr, args);
                 },
                 [&](const Select&) { return graph_.Select(args[0], args[1], args[2]); },
                 [&](const Convert& convert) {
                   return IsFloat(convert.to) ? args[0]
                                              : graph_.Conversion(std::string(core::Name(convert.to)), args[0]);
                 }},
        node);
  }

  const Computation& computation_;
  const Symbols& symbols_;
  NormalGraph graph_;
  std::map<std::string, std::string> positions_;  // of arguments that are used
  std::map<std::string, NormalId> stages_;
};

// Names of sizes and scalars in an order that depends on what they are for alone; with the orders of those that differ
// in nothing that was looked at.
Result<std::vector<std::vector<std::string>>> OrdersOfSymbols(const Computation& computation, uint64_t limit) {
  std::vector<std::string> names = SizeNames(computation);
  const std::set<std::string> sizes(names.begin(), names.end());
  names.insert(names.end(), computation.scalars.begin(), computation.scalars.end());
  Symbols none;
  for (const auto& name : names) none[name] = "other";
  const auto without = Normalizer(computation, none, limit).Text();
  std::vector<std::pair<std::string, std::string>> keyed;
  for (const auto& name : names) {
    Symbols symbols;
    for (const auto& other : names) symbols[other] = other == name ? "this" : "other";
    const auto text = Normalizer(computation, symbols, limit).Text();
    if (!text) return Fail(ErrorCode::kLimit, "the normal form takes more than " + std::to_string(limit) + " steps");
    if (text == without) continue;  // it is not used
    keyed.emplace_back((sizes.contains(name) ? "0" : "1") + base::Sha256(*text), name);
  }
  std::sort(keyed.begin(), keyed.end());
  std::vector<std::vector<std::string>> orders(1);
  for (size_t begin = 0; begin < keyed.size();) {
    size_t end = begin + 1;
    while (end < keyed.size() && keyed[end].first == keyed[begin].first) ++end;
    std::vector<std::string> group;
    for (size_t i = begin; i < end; ++i) group.push_back(keyed[i].second);
    std::vector<std::vector<std::string>> more;
    do {
      for (const auto& order : orders) {
        more.push_back(order);
        more.back().insert(more.back().end(), group.begin(), group.end());
      }
    } while (more.size() <= kMaxChoicesOfNames && std::next_permutation(group.begin(), group.end()));
    orders = std::move(more);
    begin = end;
  }
  return orders;
}

}  // namespace

Result<NormalForm> Normalize(const Computation& computation, uint64_t limit) {
  for (const std::string& assumption : computation.assumptions)
    if (IsOfOnePath(assumption)) return Fail(ErrorCode::kUnsupported, "only one path is known: " + assumption);
  WW_ASSIGN(const auto orders, OrdersOfSymbols(computation, limit));
  NormalForm form;
  for (const auto& order : orders) {
    Symbols symbols;
    for (const auto& name : order) symbols[name] = "s" + std::to_string(symbols.size());
    const auto text = Normalizer(computation, symbols, limit).Text();
    if (!text) return Fail(ErrorCode::kLimit, "the normal form takes more than " + std::to_string(limit) + " steps");
    if (form.text.empty() || *text < form.text) form.text = *text;
  }
  form.digest = base::Sha256(form.text);
  std::set<DType> rounded;
  for (const auto& stage : computation.stages)
    for (const auto& node : stage.nodes)
      if (const auto* convert = std::get_if<Convert>(&node); convert != nullptr && IsFloat(convert->to))
        rounded.insert(convert->to);
  form.rounded.assign(rounded.begin(), rounded.end());
  return form;
}

}  // namespace warpwright::core
