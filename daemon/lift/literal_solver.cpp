#include "lift/literal_solver.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "core/computation_walk.h"

namespace warpwright::lift {

using core::Function;
using core::Node;
using core::NodeId;

namespace {

constexpr double kRelativeError = 3e-6;  // relative: literals have seven digits at most
constexpr double kOwnRounding = 6e-7;    // of one of them
constexpr double kLeastSpread = 0.05;
constexpr double kFloatRounding = 1.2e-7;  // of a part of a sum that was computed in f32
constexpr double kLargestPart = 1e3;       // of a sum, over the sum: beyond, its rounding leaves too few digits
constexpr size_t kMaxCandidates = 400, kMaxForTriples = 160, kMaxForSums = 120;

bool IsNearLiteral(double a, double b) {
  return a == b || std::fabs(a - b) <= kRelativeError * std::max(std::fabs(a), std::fabs(b));
}
bool AreAllNear(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [&](double v) { return IsNearLiteral(v, values[0]); });
}

double ValueOf(Function function, double x) {
  switch (function) {
    case Function::kReciprocal: return 1 / x;
    case Function::kSqrt: return std::sqrt(x);
    case Function::kRsqrt: return 1 / std::sqrt(x);
    case Function::kExp: return std::exp(x);
    case Function::kLog: return std::log(x);
    default: return NAN;
  }
}

// values / by, if that is the same everywhere.
std::optional<double> CommonRatio(const std::vector<double>& values, const std::vector<double>& by,
                                  double error = kRelativeError) {
  const double first = values[0] / by[0];
  for (size_t j = 1; j < values.size(); ++j)
    if (std::fabs(values[j] - first * by[j]) > error * std::fabs(values[j])) return std::nullopt;
  return first;
}

// How much the values differ, relative to the largest: little of that, and many formulas fit by chance.
double Spread(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return (*most - *least) / std::max(std::fabs(*least), std::fabs(*most));
}

}  // namespace

double MeantLiteral(double value) {
  const double rounded = std::strtod(fmt::format("{:.5g}", value).c_str(), nullptr);
  const double turned = std::nearbyint(value / M_PI_4) * M_PI_4;
  for (const double meant : {rounded, turned})
    if (std::fabs(value - meant) <= kOwnRounding * std::fabs(value)) return meant;
  return value;
}

LiteralSolver::LiteralSolver(const core::SizeSolver& sizes, std::vector<std::map<std::string, double>> reals)
    : sizes_(sizes), reals_(std::move(reals)) {}

// Unless it is no number, zero, the same at all shapes or known already. The node of the value that is known.
std::optional<NodeId> LiteralSolver::Add(Node node, Values values, bool factor) {
  for (const double v : values)
    if (!std::isfinite(v) || v == 0 || std::fabs(v) > 1e15 || std::fabs(v) < 1e-15) return std::nullopt;
  if (AreAllNear(values)) return std::nullopt;
  for (const Candidate& known : candidates_)
    if (std::equal(values.begin(), values.end(), known.values.begin(), IsNearLiteral)) return known.node;
  if (candidates_.size() >= kMaxCandidates) return std::nullopt;
  arena_.push_back(std::move(node));
  arena_values_.push_back(values);
  const auto id = static_cast<NodeId>(arena_.size() - 1);
  candidates_.push_back({id, std::move(values), factor});
  return id;
}

NodeId LiteralSolver::Constant(double value) {
  arena_.push_back(core::Constant{value});
  arena_values_.emplace_back(reals_.size(), value);
  return static_cast<NodeId>(arena_.size() - 1);
}

std::optional<NodeId> LiteralSolver::Call(Function function, NodeId arg) {
  Values values = ValuesOf(arg);
  for (double& v : values) v = ValueOf(function, v);
  return Add(core::Call{function, {arg}}, std::move(values));
}

std::optional<NodeId> LiteralSolver::OneMinus(NodeId arg) {
  Values values = ValuesOf(arg);
  for (double& v : values) v = 1 - v;
  const NodeId one = Constant(1), minus = Constant(-1);
  arena_.push_back(core::Nary{core::ReduceOp::kProduct, {minus, arg}});
  arena_values_.emplace_back(values.size(), 0);
  return Add(core::Nary{core::ReduceOp::kSum, {one, static_cast<NodeId>(arena_.size() - 1)}}, std::move(values));
}

// A scalar to a power that is a size, its reciprocal, or a small multiple of either; and one minus that.
void LiteralSolver::AddPowers(NodeId base) {
  std::vector<NodeId> powers;
  for (const core::SizeSolver::Atom& atom : sizes_.atoms()) {
    if (!atom.simple) continue;
    for (const bool inverse : {false, true}) {
      for (const double times : {1.0, -1.0, 2.0, -2.0}) {
        Values values = ValuesOf(base);
        for (size_t j = 0; j < values.size(); ++j) {
          const auto n = static_cast<double>(atom.values[j]);
          values[j] = std::pow(values[j], times * (inverse ? 1 / n : n));
        }
        arena_.push_back(core::SizeValue{atom.size});
        arena_values_.emplace_back(atom.values.begin(), atom.values.end());
        auto exponent = static_cast<NodeId>(arena_.size() - 1);
        const auto wrap = [&](Node node) {
          arena_.push_back(std::move(node));
          arena_values_.emplace_back(values.size(), 0);
          exponent = static_cast<NodeId>(arena_.size() - 1);
        };
        if (inverse) wrap(core::Call{Function::kReciprocal, {exponent}});
        if (times != 1) {
          const NodeId factor = Constant(times);
          wrap(core::Nary{core::ReduceOp::kProduct, {factor, exponent}});
        }
        if (const auto power = Add(core::Call{Function::kPower, {base, exponent}}, std::move(values)))
          powers.push_back(*power);
      }
    }
  }
  for (const NodeId power : powers) {
    const auto rest = OneMinus(power);
    if (!rest) continue;
    Call(Function::kReciprocal, *rest);
    Call(Function::kSqrt, *rest);
    Call(Function::kRsqrt, *rest);
  }
}

void LiteralSolver::MakeCandidates() {
  made_ = true;
  std::vector<NodeId> scalars;
  for (const auto& [name, value] : reals_[0]) {
    Values values;
    for (const auto& at : reals_) values.push_back(at.at(name));
    if (const auto id = Add(core::ScalarRead{name}, std::move(values))) scalars.push_back(*id);
  }
  std::vector<NodeId> simple = scalars;
  for (const core::SizeSolver::Atom& atom : sizes_.atoms()) {
    Values values(atom.values.begin(), atom.values.end());
    if (const auto id = Add(core::SizeValue{atom.size}, std::move(values))) simple.push_back(*id);
  }
  for (const Function function :
       {Function::kReciprocal, Function::kSqrt, Function::kRsqrt, Function::kLog, Function::kExp})
    for (const NodeId id : simple) Call(function, id);
  for (const NodeId id : simple) {
    if (const auto rest = OneMinus(id)) {
      Call(Function::kReciprocal, *rest);
      Call(Function::kSqrt, *rest);
    }
    if (const auto reciprocal = Call(Function::kReciprocal, id)) OneMinus(*reciprocal);
  }
  for (const NodeId base : scalars) AddPowers(base);
  // Sums and differences of scalars.
  for (size_t a = 0; a < scalars.size(); ++a) {
    for (size_t b = 0; b < scalars.size(); ++b) {
      if (a == b) continue;
      for (const double sign : {1.0, -1.0}) {
        if (sign > 0 && b < a) continue;
        Values values = ValuesOf(scalars[a]);
        for (size_t j = 0; j < values.size(); ++j) values[j] += sign * ValuesOf(scalars[b])[j];
        NodeId other = scalars[b];
        if (sign < 0) {
          const NodeId minus = Constant(-1);
          arena_.push_back(core::Nary{core::ReduceOp::kProduct, {minus, other}});
          arena_values_.emplace_back(values.size(), 0);
          other = static_cast<NodeId>(arena_.size() - 1);
        }
        if (const auto sum = Add(core::Nary{core::ReduceOp::kSum, {scalars[a], other}}, std::move(values)))
          Call(Function::kReciprocal, *sum);
      }
    }
  }
}

NodeId LiteralSolver::Copy(NodeId node, const Append& append) const {
  Node copy = arena_[node];
  core::ForEachArgument(copy, [&](NodeId& arg) { arg = Copy(arg, append); });
  return append(std::move(copy));
}

NodeId LiteralSolver::Scaled(double factor, const std::vector<NodeId>& factors, const Append& append) const {
  std::vector<NodeId> args;
  if (!IsNearLiteral(factor, 1)) args.push_back(append(core::Constant{MeantLiteral(factor)}));
  for (const NodeId id : factors) args.push_back(Copy(id, append));
  return args.size() == 1 ? args[0] : append(core::Nary{core::ReduceOp::kProduct, std::move(args)});
}

std::optional<NodeId> LiteralSolver::AsProduct(const Values& values, const Append& append, bool times_constant) const {
  const auto fits = [&](const Values& rest, const Values& by) -> std::optional<double> {
    const auto ratio = CommonRatio(rest, by);
    if (ratio && !times_constant && !IsNearLiteral(std::fabs(*ratio), 1)) return std::nullopt;
    return ratio;
  };
  const auto without = [](Values rest, const Values& by) {
    for (size_t j = 0; j < rest.size(); ++j) rest[j] /= by[j];
    return rest;
  };
  const size_t n = candidates_.size();
  for (const Candidate& a : candidates_)
    if (const auto ratio = fits(values, a.values)) return Scaled(*ratio, {a.node}, append);
  for (size_t i = 0; i < n; ++i) {
    const Values rest = without(values, candidates_[i].values);
    for (size_t k = i; k < n; ++k)
      if (const auto ratio = fits(rest, candidates_[k].values))
        return Scaled(*ratio, {candidates_[i].node, candidates_[k].node}, append);
  }
  if (values.size() < 3 || Spread(values) < kLeastSpread) return std::nullopt;
  for (size_t i = 0; i < std::min(n, kMaxForTriples); ++i) {
    const Values first = without(values, candidates_[i].values);
    for (size_t k = i; k < n; ++k) {
      const Values rest = without(first, candidates_[k].values);
      for (size_t l = k; l < n; ++l)
        if (const auto ratio = fits(rest, candidates_[l].values); ratio && IsNearLiteral(std::fabs(*ratio), 1))
          return Scaled(*ratio, {candidates_[i].node, candidates_[k].node, candidates_[l].node}, append);
    }
  }
  return std::nullopt;
}

// A candidate, or one, plus or minus a product of two.
std::optional<NodeId> LiteralSolver::AsSum(const Values& values, const Append& append) const {
  const size_t n = std::min(candidates_.size(), kMaxForSums);
  for (size_t i = 0; i <= n; ++i) {
    for (const double sign : {1.0, -1.0}) {
      Values rest = values;
      for (size_t j = 0; j < rest.size(); ++j) rest[j] -= sign * (i == 0 ? 1 : candidates_[i - 1].values[j]);
      // What is to be recognised is known to within the literal's digits, not to within its own: where nearly
      // everything cancels, few digits are left (enough beside a one), and of a part far above the literal more are
      // asked for.
      double left = 1, most = 1;
      for (size_t j = 0; j < rest.size(); ++j) {
        left = std::min(left, std::fabs(rest[j] / values[j]));
        most = std::max(most, std::fabs(rest[j] / values[j]));
      }
      if (left < (i == 0 ? 1e-3 : 0.02) || most > kLargestPart) continue;
      const double error = most > 1 ? std::max(kRelativeError / most, kFloatRounding) : kRelativeError / left;
      for (size_t a = 0; a < n; ++a) {
        for (size_t b = a; b <= n; ++b) {
          Values product = candidates_[a].values;
          if (b < n)
            for (size_t j = 0; j < product.size(); ++j) product[j] *= candidates_[b].values[j];
          const auto ratio = CommonRatio(rest, product, error);
          if (!ratio || std::fabs(std::fabs(*ratio) - 1) > error) continue;
          std::vector<NodeId> factors{candidates_[a].node};
          if (b < n) factors.push_back(candidates_[b].node);
          const NodeId second = Scaled(std::copysign(1, *ratio), factors, append);
          NodeId first = i == 0 ? append(core::Constant{sign}) : Copy(candidates_[i - 1].node, append);
          if (i > 0 && sign < 0) {
            const NodeId minus = append(core::Constant{-1});
            first = append(core::Nary{core::ReduceOp::kProduct, {minus, first}});
          }
          return append(core::Nary{core::ReduceOp::kSum, {first, second}});
        }
      }
    }
  }
  return std::nullopt;
}

std::optional<NodeId> LiteralSolver::Solve(const Values& values, const Append& append) {
  for (const double v : values)
    if (!std::isfinite(v) || v == 0) return std::nullopt;
  if (!made_) MakeCandidates();
  if (const auto product = AsProduct(values, append, false)) return product;
  if (values.size() >= 3)
    if (const auto sum = AsSum(values, append)) return sum;
  return AsProduct(values, append, true);
}

}  // namespace warpwright::lift
