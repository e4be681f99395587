// Variables replaced by positions, in what is in normal form.
#include <algorithm>

#include "core/normal_graph.h"

namespace warpwright::core {
namespace {

template <typename Tokens, typename Renaming>
bool Affects(const Tokens& tokens, const Renaming& renaming) {
  return std::any_of(tokens.begin(), tokens.end(), [&](TokenId token) { return renaming.contains(token); });
}

}  // namespace

NormalId NormalGraph::Renamed(NormalId id, const Renaming& renaming) {
  Memo memo;
  return Renamed(id, renaming, memo);
}
NormalIndex NormalGraph::Renamed(const NormalIndex& index, const Renaming& renaming) {
  Memo memo;
  return Renamed(index, renaming, memo);
}

NormalIndex NormalGraph::Renamed(const NormalIndex& index, const Renaming& renaming, Memo& memo) {
  NormalIndex result{{}, index.constant, Polynomial(1)};
  for (const auto& [id, coefficient] : index.terms) {
    const Atom atom = atoms_[id];
    NormalIndex replaced = OfAtom(id);
    if (Affects(atom.tokens, renaming)) {
      switch (atom.kind) {
        case Atom::Kind::kToken: replaced = renaming.at(atom.token); break;
        case Atom::Kind::kGather: replaced = OfGather(Renamed(atom.node, renaming, memo)); break;
        case Atom::Kind::kQuotient:
          replaced = Part(Affine::Part::kQuotient, Renamed(atom.inner, renaming, memo), atom.modulus);
          break;
        case Atom::Kind::kRemainder:
          replaced = Part(Affine::Part::kRemainder, Renamed(atom.inner, renaming, memo), atom.modulus);
          break;
      }
    }
    result = Sum(result, replaced, coefficient);
  }
  return Divided(std::move(result), index.divisor);
}

// What a node needs is renamed before it, without recursion: the graph may be deep.
NormalId NormalGraph::Renamed(NormalId id, const Renaming& renaming, Memo& memo) {
  std::vector<std::pair<NormalId, bool>> stack = {{id, false}};
  while (!stack.empty() && !full()) {
    const auto [at, ready] = stack.back();
    stack.pop_back();
    if (memo.contains(at)) continue;
    if (!Affects(nodes_[at].tokens, renaming)) {
      memo[at] = at;
    } else if (ready) {
      const NormalId remade = Remade(at, renaming, memo);
      memo[at] = remade;
    } else {
      stack.emplace_back(at, true);
      for (const NormalId below : Below(at))
        if (!memo.contains(below)) stack.emplace_back(below, false);
    }
  }
  const auto found = memo.find(id);
  return found == memo.end() ? id : found->second;
}

// With arguments that are in the memo.
NormalId NormalGraph::Remade(NormalId id, const Renaming& renaming, Memo& memo) {
  const NormalNode node = nodes_[id];
  std::vector<NormalId> args;
  Weighted weighted;
  for (size_t i = 0; i < node.args.size(); ++i) {
    args.push_back(memo.contains(node.args[i]) ? memo.at(node.args[i]) : node.args[i]);
    weighted.emplace_back(args.back(), node.weights.empty() ? 1 : node.weights[i]);
  }
  std::vector<NormalIndex> positions;
  for (const auto& position : node.positions) positions.push_back(Renamed(position, renaming, memo));
  switch (node.op) {
    case NormalOp::kConstant:
    case NormalOp::kSymbol: return id;
    case NormalOp::kAtom: return OfIndex(Renamed(OfAtom(node.atom), renaming, memo));
    case NormalOp::kRead: return Read(node.name, positions[0]);
    case NormalOp::kLinear: return Linear(node.value, weighted);
    case NormalOp::kProduct: return Product(1, std::move(weighted));
    case NormalOp::kMax: return Max(std::move(args));
    case NormalOp::kCall:
      return node.name.empty() ? Call(static_cast<Function>(node.detail), args) : Conversion(node.name, args[0]);
    case NormalOp::kCompare: return Compare(static_cast<Comparison>(node.detail), args[0], Constant(0));
    case NormalOp::kAnd:
    case NormalOp::kOr: return Logic(node.op, std::move(args));
    case NormalOp::kNot: return Not(args[0]);
    case NormalOp::kSelect: return Select(args[0], args[1], args[2]);
    case NormalOp::kReduce:
    case NormalOp::kOutput: {
      NormalNode binder = node;
      binder.args = std::move(args);
      binder.positions = std::move(positions);
      return Bind(std::move(binder), !node.tied);
    }
    case NormalOp::kGuarded:
      TidyConstraints(positions, {});
      return Intern({.op = NormalOp::kGuarded, .args = std::move(args), .positions = std::move(positions)});
    case NormalOp::kCases: SortByHash(args); return Intern({.op = NormalOp::kCases, .args = std::move(args)});
    case NormalOp::kAll: return All(std::move(args));
  }
  return id;
}

}  // namespace warpwright::core
