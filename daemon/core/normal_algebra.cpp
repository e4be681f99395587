// The algebra of the normal form.
#include <algorithm>
#include <cmath>

#include "core/computation_walk.h"
#include "core/normal_graph.h"

namespace warpwright::core {
namespace {

constexpr double kLn2 = 0.6931471805599453, kLn10 = 2.302585092994046;
// log2 e in f32 times ln 2 is 1.
double Snapped(double value) {
  const double whole = std::nearbyint(value);
  return std::fabs(value - whole) <= 1e-6 * std::fabs(value) ? whole : value;
}

}  // namespace

NormalId NormalGraph::Constant(double value) { return Intern({.op = NormalOp::kConstant, .value = value}); }
NormalId NormalGraph::Symbol(const std::string& name) { return Intern({.op = NormalOp::kSymbol, .name = name}); }
NormalId NormalGraph::Read(const std::string& tensor, NormalIndex element) {
  return Intern({.op = NormalOp::kRead, .name = tensor, .positions = {std::move(element)}});
}

NormalId NormalGraph::OfPolynomial(const Polynomial& polynomial) {
  Weighted terms;
  for (const auto& [monomial, coefficient] : polynomial.terms()) {
    Weighted factors;
    for (const auto& atom : monomial) factors.emplace_back(Symbol(atom), 1);
    terms.emplace_back(Product(1, std::move(factors)), static_cast<double>(coefficient));
  }
  return Linear(0, terms);
}

NormalId NormalGraph::OfIndex(const NormalIndex& index) {
  Weighted terms = {{OfPolynomial(index.constant), 1}};
  for (const auto& [atom, coefficient] : index.terms) {
    // A gathered integer is the node that it is gathered from.
    const NormalId node =
        atoms_[atom].kind == Atom::Kind::kGather ? atoms_[atom].node : Intern({.op = NormalOp::kAtom, .atom = atom});
    terms.emplace_back(Product(1, {{OfPolynomial(coefficient), 1}, {node, 1}}), 1);
  }
  return Product(1, {{Linear(0, terms), 1}, {OfPolynomial(index.divisor), -1}});
}

NormalId NormalGraph::Linear(double value, const Weighted& terms) {
  Weighted flat;
  for (const auto& [id, weight] : terms) {
    const NormalNode& node = nodes_[id];
    if (node.op == NormalOp::kConstant) value += weight * node.value;
    if (node.op == NormalOp::kLinear) {
      value += weight * node.value;
      for (size_t i = 0; i < node.args.size(); ++i) flat.emplace_back(node.args[i], weight * node.weights[i]);
    } else if (node.op != NormalOp::kConstant) {
      flat.emplace_back(id, weight);
    }
  }
  std::sort(flat.begin(), flat.end(),
            [&](const auto& a, const auto& b) { return nodes_[a.first].hash < nodes_[b.first].hash; });
  NormalNode sum{.op = NormalOp::kLinear, .value = value};
  double magnitude = 0;
  for (size_t i = 0; i < flat.size(); ++i) {
    const bool again = !sum.args.empty() && sum.args.back() == flat[i].first;
    magnitude = again ? magnitude + std::fabs(flat[i].second) : std::fabs(flat[i].second);
    if (again) sum.weights.back() += flat[i].second;
    else sum.args.push_back(flat[i].first), sum.weights.push_back(flat[i].second);
    if (std::fabs(sum.weights.back()) <= 1e-12 * magnitude) sum.args.pop_back(), sum.weights.pop_back();
  }
  for (double& weight : sum.weights) weight = Snapped(weight);
  if (sum.args.empty()) return Constant(value);
  if (value == 0 && sum.args.size() == 1 && sum.weights[0] == 1) return sum.args[0];
  return Intern(std::move(sum));
}

NormalId NormalGraph::Product(double factor, Weighted factors) {
  Weighted flat;
  while (!factors.empty()) {
    const auto [id, exponent] = factors.back();
    factors.pop_back();
    const NormalNode node = nodes_[id];
    if (node.op == NormalOp::kConstant) {
      factor *= std::pow(node.value, exponent);
    } else if (node.op == NormalOp::kProduct) {
      for (size_t i = 0; i < node.args.size(); ++i) factors.emplace_back(node.args[i], exponent * node.weights[i]);
    } else if (node.op == NormalOp::kLinear && node.args.size() == 1 && node.value == 0) {
      factor *= std::pow(node.weights[0], exponent);
      factors.emplace_back(node.args[0], exponent);
    } else if (node.op == NormalOp::kLinear && node.weights[0] != 1) {  // (2 b - 2 a)^2 is 4 (a - b)^2
      factor *= std::pow(node.weights[0], exponent);
      flat.emplace_back(Linear(0, {{id, 1 / node.weights[0]}}), exponent);
    } else {
      flat.emplace_back(id, exponent);
    }
  }
  factor = Snapped(factor);
  if (factor == 0) return Constant(0);
  std::sort(flat.begin(), flat.end(),
            [&](const auto& a, const auto& b) { return nodes_[a.first].hash < nodes_[b.first].hash; });
  NormalNode product{.op = NormalOp::kProduct};
  for (const auto& [id, exponent] : flat) {
    if (!product.args.empty() && product.args.back() == id) product.weights.back() += exponent;
    else product.args.push_back(id), product.weights.push_back(exponent);
    if (product.weights.back() == 0) product.args.pop_back(), product.weights.pop_back();
  }
  if (product.args.empty()) return Constant(factor);
  const bool single = product.args.size() == 1 && product.weights[0] == 1;
  const NormalId id = single ? product.args[0] : Intern(std::move(product));
  return factor == 1 ? id : Linear(0, {{id, factor}});
}

NormalId NormalGraph::Max(std::vector<NormalId> args) {
  std::vector<NormalId> flat;
  double constant = -INFINITY;
  while (!args.empty()) {
    const NormalId id = args.back();
    args.pop_back();
    if (const NormalNode* inner = As(NormalOp::kMax, id))
      args.insert(args.end(), inner->args.begin(), inner->args.end());
    else if (const double* value = AsConstant(id)) constant = std::fmax(constant, *value);
    else flat.push_back(id);
  }
  if (constant > -INFINITY) flat.push_back(Constant(constant));
  SortByHash(flat);
  flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  if (flat.empty()) return Constant(constant);
  return flat.size() == 1 ? flat[0] : Intern({.op = NormalOp::kMax, .args = std::move(flat)});
}
NormalId NormalGraph::Min(const std::vector<NormalId>& args) {
  std::vector<NormalId> negated;
  for (const NormalId arg : args) negated.push_back(Linear(0, {{arg, -1}}));
  return Linear(0, {{Max(std::move(negated)), -1}});
}

NormalId NormalGraph::Call(Function function, const std::vector<NormalId>& args) {
  const auto plain = [&](Function f, std::vector<NormalId> of) {
    return Intern({.op = NormalOp::kCall, .detail = static_cast<uint8_t>(f), .args = std::move(of)});
  };
  const NormalId x = args[0];
  switch (function) {
    case Function::kReciprocal: return Product(1, {{x, -1}});
    case Function::kRsqrt: return Product(1, {{plain(Function::kSqrt, {x}), -1}});
    case Function::kExp2: return plain(Function::kExp, {Linear(0, {{x, kLn2}})});
    case Function::kExp10: return plain(Function::kExp, {Linear(0, {{x, kLn10}})});
    case Function::kLog2: return Linear(0, {{plain(Function::kLog, {x}), 1 / kLn2}});
    case Function::kLog10: return Linear(0, {{plain(Function::kLog, {x}), 1 / kLn10}});
    case Function::kAbs: {
      const NormalNode& of = nodes_[x];
      return plain(Function::kAbs, {of.op == NormalOp::kLinear && of.weights[0] < 0 ? Linear(0, {{x, -1}}) : x});
    }
    case Function::kPower: {
      const double* exponent = AsConstant(args[1]);
      if (exponent != nullptr && std::fabs(*exponent) <= 8 && IsWhole(*exponent)) return Product(1, {{x, *exponent}});
      if (exponent != nullptr && *exponent == 0.5) return plain(Function::kSqrt, {x});
      break;
    }
    case Function::kBitAnd:
    case Function::kBitOr:
    case Function::kBitXor: {
      std::vector<NormalId> sorted = args;
      SortByHash(sorted);
      return plain(function, std::move(sorted));
    }
    default: break;
  }
  return plain(function, args);
}
NormalId NormalGraph::Conversion(const std::string& to, NormalId arg) {
  return Intern({.op = NormalOp::kCall, .name = to, .args = {arg}});
}

// a < b is a - b < 0; scaled so that the first weight is 1 or -1, for an equation 1.
NormalId NormalGraph::Compare(Comparison op, NormalId left, NormalId right) {
  NormalId difference = Linear(0, {{left, 1}, {right, -1}});
  if (const double* value = AsConstant(difference)) {
    const bool holds = op == Comparison::kLess        ? *value < 0
                       : op == Comparison::kLessEqual ? *value <= 0
                                                      : (*value == 0) == (op == Comparison::kEqual);
    return Constant(holds ? 1 : 0);
  }
  const bool equation = op == Comparison::kEqual || op == Comparison::kNotEqual;
  if (const NormalNode* linear = As(NormalOp::kLinear, difference)) {
    const double first = linear->weights[0];
    difference = Linear(0, {{difference, 1 / (equation ? first : std::fabs(first))}});
  }
  return Intern({.op = NormalOp::kCompare, .detail = static_cast<uint8_t>(op), .args = {difference}});
}
NormalId NormalGraph::Not(NormalId arg) {
  if (const NormalNode* inner = As(NormalOp::kNot, arg)) return inner->args[0];
  if (const double* value = AsConstant(arg)) return Constant(*value != 0 ? 0 : 1);
  if (const NormalNode* compare = As(NormalOp::kCompare, arg)) {
    const auto op = static_cast<Comparison>(compare->detail);
    const bool equation = op == Comparison::kEqual || op == Comparison::kNotEqual;
    const Comparison other = op == Comparison::kEqual ? Comparison::kNotEqual : Comparison::kEqual;
    // The negation of an order would be another one only without NaN.
    if (equation)
      return Intern({.op = NormalOp::kCompare, .detail = static_cast<uint8_t>(other), .args = compare->args});
  }
  return Intern({.op = NormalOp::kNot, .args = {arg}});
}
NormalId NormalGraph::Logic(NormalOp op, std::vector<NormalId> args) {
  std::vector<NormalId> flat;
  const bool all = op == NormalOp::kAnd;
  while (!args.empty()) {
    const NormalId id = args.back();
    args.pop_back();
    if (const NormalNode* inner = As(op, id)) args.insert(args.end(), inner->args.begin(), inner->args.end());
    else if (const double* value = AsConstant(id); value == nullptr) flat.push_back(id);
    else if ((*value != 0) != all) return Constant(all ? 0 : 1);
  }
  SortByHash(flat);
  flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  if (flat.empty()) return Constant(all ? 1 : 0);
  return flat.size() == 1 ? flat[0] : Intern({.op = op, .args = std::move(flat)});
}
NormalId NormalGraph::Select(NormalId condition, NormalId then, NormalId otherwise) {
  if (then == otherwise) return then;
  if (const double* value = AsConstant(condition)) return *value != 0 ? then : otherwise;
  if (const NormalNode* negated = As(NormalOp::kNot, condition)) return Select(negated->args[0], otherwise, then);
  if (const NormalNode* compare = As(NormalOp::kCompare, condition)) {
    const auto op = static_cast<Comparison>(compare->detail);
    if (op == Comparison::kNotEqual) return Select(Not(condition), otherwise, then);
    const NormalId below_zero = compare->args[0];
    const NormalNode& linear = nodes_[below_zero];
    const NormalId difference = Linear(0, {{then, 1}, {otherwise, -1}});
    const NormalNode& branches = nodes_[difference];
    if (op != Comparison::kEqual) {
      // d < 0 ? a : b with a - b = d s, s > 0 is the smaller one, with s < 0 the larger one.
      const double scale =
          branches.op != NormalOp::kLinear
              ? 1
              : std::fabs(branches.weights[0]) / (linear.op == NormalOp::kLinear ? std::fabs(linear.weights[0]) : 1);
      if (Linear(0, {{below_zero, scale}}) == difference) return Min({then, otherwise});
      if (Linear(0, {{below_zero, -scale}}) == difference) return Max({then, otherwise});
    }
  }
  return Intern({.op = NormalOp::kSelect, .args = {condition, then, otherwise}});
}

NormalId NormalGraph::Cases(const std::vector<std::pair<std::vector<NormalIndex>, NormalId>>& parts) {
  std::vector<NormalId> ids;
  for (const auto& [constraints, value] : parts) {
    NormalNode part{.op = NormalOp::kGuarded, .args = {value}, .positions = constraints};
    TidyConstraints(part.positions, {});
    ids.push_back(part.positions.empty() ? value : Intern(std::move(part)));
  }
  SortByHash(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids.size() == 1 && nodes_[ids[0]].op != NormalOp::kGuarded
             ? ids[0]
             : Intern({.op = NormalOp::kCases, .args = std::move(ids)});
}
NormalId NormalGraph::All(std::vector<NormalId> outputs) {
  SortByHash(outputs);
  return Intern({.op = NormalOp::kAll, .args = std::move(outputs)});
}

}  // namespace warpwright::core
