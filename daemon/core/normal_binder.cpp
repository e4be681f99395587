// What binds variables: reductions and outputs.
#include <algorithm>
#include <cmath>
#include <set>

#include "core/normal_graph.h"

namespace warpwright::core {
namespace {

constexpr size_t kMaxChoices = 120;

bool Contains(const std::vector<TokenId>& sorted, TokenId token) {
  return std::binary_search(sorted.begin(), sorted.end(), token);
}
bool DependsOn(const std::vector<TokenId>& sorted, const NormalGraph::Variables& variables) {
  return std::any_of(variables.begin(), variables.end(), [&](const auto& v) { return Contains(sorted, v.first); });
}

// All orders of what has equal keys; `begins` are where groups begin.
std::vector<std::vector<size_t>> Choices(const std::vector<size_t>& sorted, const std::vector<size_t>& begins) {
  std::vector<std::vector<size_t>> choices = {sorted};
  for (size_t g = 0; g < begins.size(); ++g) {
    const size_t begin = begins[g], end = g + 1 < begins.size() ? begins[g + 1] : sorted.size();
    std::vector<std::vector<size_t>> more;
    for (const auto& choice : choices) {
      std::vector<size_t> group(choice.begin() + static_cast<std::ptrdiff_t>(begin),
                                choice.begin() + static_cast<std::ptrdiff_t>(end));
      std::sort(group.begin(), group.end());
      do {
        more.push_back(choice);
        std::copy(group.begin(), group.end(), more.back().begin() + static_cast<std::ptrdiff_t>(begin));
      } while (more.size() <= kMaxChoices && std::next_permutation(group.begin(), group.end()));
    }
    if (more.size() > kMaxChoices) break;
    choices = std::move(more);
  }
  return choices;
}

}  // namespace

NormalId NormalGraph::Reduce(ReduceOp op, Variables variables, std::vector<NormalIndex> constraints,
                             std::optional<NormalIndex> index, NormalId body) {
  const bool arg_min = op == ReduceOp::kArgMinFirst || op == ReduceOp::kArgMinLast;
  if (op == ReduceOp::kMin || arg_min) {
    const ReduceOp negated = op == ReduceOp::kMin           ? ReduceOp::kMax
                             : op == ReduceOp::kArgMinFirst ? ReduceOp::kArgMaxFirst
                                                            : ReduceOp::kArgMaxLast;
    const NormalId max =
        Reduce(negated, std::move(variables), std::move(constraints), std::move(index), Linear(0, {{body, -1}}));
    return arg_min ? max : Linear(0, {{max, -1}});
  }
  NormalNode binder{.op = NormalOp::kReduce, .detail = static_cast<uint8_t>(op), .args = {body}};
  if (index) binder.positions.push_back(std::move(*index)), binder.own = 1;
  for (auto& constraint : constraints) binder.positions.push_back(std::move(constraint));
  binder.variables = std::move(variables);
  return Bind(std::move(binder), false);
}

NormalId NormalGraph::Output(const std::string& name, const Variables& variables, std::vector<NormalIndex> constraints,
                             const NormalIndex& element, NormalId value) {
  NormalNode binder{.op = NormalOp::kOutput, .name = name, .args = {value}, .positions = {element}};
  for (auto& constraint : constraints) binder.positions.push_back(std::move(constraint));
  binder.variables = variables;
  binder.own = 1;
  return Bind(std::move(binder), false);
}

std::vector<NormalIndex> NormalGraph::Constraints(const NormalNode& binder) const {
  return {binder.positions.begin() + binder.own, binder.positions.end()};
}
void NormalGraph::SetConstraints(NormalNode& binder, std::vector<NormalIndex> constraints) const {
  TidyConstraints(constraints, binder.variables);
  binder.positions.resize(binder.own);
  for (auto& constraint : constraints) binder.positions.push_back(std::move(constraint));
}
void NormalGraph::Substitute(NormalNode& binder, const Renaming& renaming) {
  Memo memo;
  binder.args[0] = Renamed(binder.args[0], renaming, memo);
  for (auto& position : binder.positions) position = Renamed(position, renaming, memo);
}

bool NormalGraph::RemoveUnits(NormalNode& binder) {
  Renaming zeros;
  for (const auto& [token, extent] : binder.variables)
    if (extent == Polynomial(1)) zeros[token] = NormalIndex{};
  if (zeros.empty()) return false;
  Substitute(binder, zeros);
  std::erase_if(binder.variables, [&](const auto& variable) { return zeros.contains(variable.first); });
  return true;
}

// A sum of sums is one sum.
bool NormalGraph::MergeInner(NormalNode& binder) {
  const auto op = static_cast<ReduceOp>(binder.detail);
  const NormalNode inner = nodes_[binder.args[0]];
  if (inner.op != NormalOp::kReduce || inner.detail != binder.detail || op > ReduceOp::kMax) return false;
  Renaming fresh;
  NormalNode body = inner;
  for (auto& [token, extent] : body.variables) {
    const TokenId name = FreshToken(extent);
    fresh[token] = OfToken(name);
    token = name;
  }
  Substitute(body, fresh);
  binder.args = body.args;
  binder.variables.insert(binder.variables.end(), body.variables.begin(), body.variables.end());
  binder.positions.insert(binder.positions.end(), body.positions.begin(), body.positions.end());
  return true;
}

// Factors that do not depend on the variables; of a maximum only positive numbers.
bool NormalGraph::PullOut(NormalNode& binder, Weighted& before) {
  const auto op = static_cast<ReduceOp>(binder.detail);
  if (op != ReduceOp::kSum && op != ReduceOp::kMax) return false;
  const NormalNode body = nodes_[binder.args[0]];
  if (body.op == NormalOp::kLinear) {
    const double factor = op == ReduceOp::kMax ? std::fabs(body.weights[0]) : body.weights[0];
    if (factor == 1) return false;
    before.emplace_back(Constant(factor), 1);
    binder.args[0] = Linear(0, {{binder.args[0], 1 / factor}});
    return true;
  }
  if (body.op != NormalOp::kProduct || op != ReduceOp::kSum) return false;
  Weighted inside;
  for (size_t i = 0; i < body.args.size(); ++i) {
    const bool depends = DependsOn(nodes_[body.args[i]].tokens, binder.variables);
    (depends ? inside : before).emplace_back(body.args[i], body.weights[i]);
  }
  if (inside.size() == body.args.size()) return false;
  binder.args[0] = Product(1, std::move(inside));
  return true;
}

// A sum over f(r) g(s) is a product of two sums.
bool NormalGraph::Split(const NormalNode& binder, Weighted& before) {
  const NormalNode body = nodes_[binder.args[0]];
  if (body.op != NormalOp::kProduct || static_cast<ReduceOp>(binder.detail) != ReduceOp::kSum) return false;
  // The group of each variable: the first variable that factors or constraints connect it with.
  std::vector<size_t> group(binder.variables.size());
  for (size_t i = 0; i < group.size(); ++i) group[i] = i;
  const auto group_of = [&](const std::vector<TokenId>& tokens) {
    size_t first = group.size();
    for (size_t i = 0; i < group.size(); ++i)
      if (Contains(tokens, binder.variables[i].first)) first = std::min(first, group[i]);
    return first;
  };
  const auto connect = [&](const std::vector<TokenId>& tokens) {
    const size_t first = group_of(tokens);
    for (size_t i = 0; i < group.size(); ++i) {
      if (!Contains(tokens, binder.variables[i].first)) continue;
      const size_t joined = group[i];
      std::replace(group.begin(), group.end(), joined, first);
    }
  };
  for (const NormalId factor : body.args) connect(nodes_[factor].tokens);
  for (const auto& position : binder.positions) connect(TokensOf(position));
  const std::set<size_t> groups(group.begin(), group.end());
  if (groups.size() < 2) return false;
  for (const size_t g : groups) {
    NormalNode part = binder;
    part.variables.clear(), part.positions.clear();
    for (size_t i = 0; i < group.size(); ++i)
      if (group[i] == g) part.variables.push_back(binder.variables[i]);
    Weighted factors;
    for (size_t i = 0; i < body.args.size(); ++i)
      if (group_of(nodes_[body.args[i]].tokens) == g) factors.emplace_back(body.args[i], body.weights[i]);
    for (const auto& position : binder.positions) {  // one without variables belongs to the first
      const size_t its = group_of(TokensOf(position));
      if (its == g || (its == group.size() && g == *groups.begin())) part.positions.push_back(position);
    }
    part.args = {Product(1, std::move(factors))};
    before.emplace_back(Bind(std::move(part), false), 1);
  }
  return true;
}

bool NormalGraph::DropUnused(NormalNode& binder, Weighted& before) {
  const auto op = static_cast<ReduceOp>(binder.detail);
  if (op != ReduceOp::kSum && op != ReduceOp::kMax) return false;
  std::vector<TokenId> used = nodes_[binder.args[0]].tokens;
  for (const auto& position : binder.positions) {
    const auto tokens = TokensOf(position);
    used.insert(used.end(), tokens.begin(), tokens.end());
  }
  std::sort(used.begin(), used.end());
  return std::erase_if(binder.variables, [&](const auto& variable) {
           if (Contains(used, variable.first)) return false;
           if (op == ReduceOp::kSum) before.emplace_back(OfPolynomial(variable.second), 1);
           return true;
         }) > 0;
}

NormalId NormalGraph::Bind(NormalNode binder, bool ordered) {
  Weighted before;
  if (RemoveUnits(binder)) ordered = false;
  if (binder.op == NormalOp::kReduce) {
    for (bool changed = true; changed && !full();) {
      changed = PullOut(binder, before);
      if (MergeInner(binder)) changed = true, ordered = false;
    }
    SetConstraints(binder, Constraints(binder));
    if (DropUnused(binder, before)) ordered = false;
    if (Split(binder, before)) return Product(1, std::move(before));
  }
  SetConstraints(binder, Constraints(binder));
  const bool trivial =
      binder.op == NormalOp::kReduce && binder.own == 0 && binder.variables.empty() && binder.positions.empty();
  NormalId bound = binder.args[0];
  if (!trivial && ordered) {
    std::vector<size_t> order(binder.variables.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    bound = WithNames(binder, order, false);
  } else if (!trivial) {
    bound = Ordered(std::move(binder));
  }
  if (before.empty()) return bound;
  before.emplace_back(bound, 1);
  return Product(1, std::move(before));
}

// What a variable is for, whatever the others and those outside are called.
ContentHash NormalGraph::KeyOf(const NormalNode& binder, size_t variable) {
  Renaming renaming;
  std::vector<TokenId> free = nodes_[binder.args[0]].tokens;
  for (const auto& position : binder.positions)
    for (const TokenId token : TokensOf(position)) free.push_back(token);
  for (const TokenId token : free) renaming[token] = OfToken(Token("outside"));
  for (size_t i = 0; i < binder.variables.size(); ++i) {
    const auto& [token, extent] = binder.variables[i];
    renaming[token] = OfToken(Token(i == variable ? "this" : "other " + extent.text()));
  }
  NormalNode key = binder;
  key.variables.clear();
  Substitute(key, renaming);
  SetConstraints(key, Constraints(key));
  return HashOf(Serialized(key, true, nullptr));
}

NormalId NormalGraph::Ordered(NormalNode binder) {
  std::vector<size_t> order(binder.variables.size());
  std::vector<std::pair<std::string, ContentHash>> keys;
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
    keys.emplace_back(binder.variables[i].second.text(), order.size() == 1 ? ContentHash{} : KeyOf(binder, i));
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  std::vector<size_t> begins;
  for (size_t i = 0; i < order.size(); ++i)
    if (i == 0 || keys[order[i]] != keys[order[i - 1]]) begins.push_back(i);
  const bool tied = begins.size() < order.size();
  std::optional<NormalId> best;
  for (const auto& choice : Choices(order, begins)) {
    const NormalId id = WithNames(binder, choice, tied);
    if (!best || nodes_[id].hash < nodes_[*best].hash) best = id;
    if (full()) break;
  }
  return *best;
}

NormalId NormalGraph::WithNames(const NormalNode& binder, const std::vector<size_t>& order, bool tied) {
  int height = nodes_[binder.args[0]].height;
  for (const auto& position : binder.positions)
    for (const auto& [atom, coefficient] : position.terms) height = std::max(height, atoms_[atom].height);
  NormalNode named = binder;
  named.variables.clear();
  named.tied = tied;
  Renaming renaming;
  for (const size_t i : order) {
    const auto& [token, extent] = binder.variables[i];
    const TokenId name = Token("v" + std::to_string(height) + "." + std::to_string(named.variables.size()));
    if (name != token) renaming[token] = OfToken(name);
    named.variables.emplace_back(name, extent);
  }
  if (!renaming.empty()) Substitute(named, renaming);
  SetConstraints(named, Constraints(named));
  return Intern(std::move(named));
}

}  // namespace warpwright::core
