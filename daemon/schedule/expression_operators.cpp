// The text of operators and functions.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "schedule/expression_piece.h"

namespace warpwright::schedule {

using core::NodeId;
using core::ReduceOp;
using core::ValueType;

ExpressionCode::Piece ExpressionCode::OfNary(const core::Nary& nary, ValueType type) {
  if (nary.op == ReduceOp::kSum) return OfSum(nary, type);
  if (nary.op == ReduceOp::kProduct) return OfProduct(nary, type);
  std::vector<NodeId> args = nary.args;
  const auto is_bound = [&](NodeId arg) {
    const auto* number = std::get_if<core::Constant>(&stage_.nodes[arg]);
    return number != nullptr && std::isfinite(number->value);
  };
  const auto bound = std::find_if(args.begin(), args.end(), is_bound);
  if (type == ValueType::kReal && args.size() == 2 && bound != args.end()) {
    if (problem_.entry.unordered.passed) std::rotate(args.begin(), bound, args.end());
    const std::string first = PieceOf(args[0], type).Plain();
    return {BoundText(problem_, nary.op, first, PieceOf(args[1], type).Plain())};
  }
  std::string text = PieceOf(args[0], type).Plain();
  for (size_t i = 1; i < args.size(); ++i)
    text = CombinedText(problem_, nary.op, type, text, PieceOf(args[i], type).Plain());
  return {text};
}

ExpressionCode::Piece ExpressionCode::OfSum(const core::Nary& nary, ValueType type) {
  std::vector<Piece> terms;
  for (NodeId arg : nary.args) terms.push_back(PieceOf(arg, type));
  std::stable_sort(terms.begin(), terms.end(), [](const Piece& a, const Piece& b) { return a.negative < b.negative; });
  std::string text;
  for (const Piece& term : terms) {
    const std::string value = Piece{term.text, term.level}.At(term.negative ? Level::kProduct : Level::kSum);
    if (text.empty()) text = term.negative ? "-" + Piece{term.text, term.level}.At(Level::kUnary) : value;
    else text += (term.negative ? " - " : " + ") + value;
  }
  return {text, Level::kSum};
}

// Products inside a product are factors of it, unless they have a name.
std::vector<NodeId> ExpressionCode::FactorsOf(const core::Nary& product) const {
  std::vector<NodeId> factors;
  for (NodeId arg : product.args) {
    const auto* inner = std::get_if<core::Nary>(&stage_.nodes[arg]);
    // The square of a product: of a mean, which is finite where the square of a sum is not.
    const bool squared = std::count(product.args.begin(), product.args.end(), arg) > 1;
    const bool flat = inner && inner->op == ReduceOp::kProduct && !named_.contains(arg) &&
                      (uses_[arg] == 1 || (inner->args.size() <= 2 && !squared));
    if (!flat) {
      factors.push_back(arg);
      continue;
    }
    const auto own = FactorsOf(*inner);
    factors.insert(factors.end(), own.begin(), own.end());
  }
  return factors;
}

// A difference is scaled by what was computed from the data before anything else: (x - mean) * rstd * weight stays
// finite where (x - mean) * weight does not.
std::vector<NodeId> ExpressionCode::FactorsInOrder(const core::Nary& product) const {
  const auto rank = [this](NodeId arg) {
    const core::Node& node = stage_.nodes[arg];
    if (const auto* nary = std::get_if<core::Nary>(&node)) return nary->op == ReduceOp::kSum ? 0 : 1;
    if (const auto* read = std::get_if<core::TensorRead>(&node)) return read->stage ? 1 : 2;
    return std::holds_alternative<core::ScalarRead>(node) ? 2 : 1;
  };
  std::vector<NodeId> factors = FactorsOf(product);
  if (std::any_of(factors.begin(), factors.end(), [&](NodeId arg) { return rank(arg) == 0; }))
    std::stable_sort(factors.begin(), factors.end(), [&](NodeId a, NodeId b) { return rank(a) < rank(b); });
  return factors;
}

std::set<NodeId> ExpressionCode::ReadsOf(NodeId node) const {
  std::set<NodeId> reads;
  if (std::holds_alternative<core::TensorRead>(stage_.nodes[node])) reads.insert(node);
  core::ForEachArgument(stage_.nodes[node], [&](NodeId arg) { reads.merge(ReadsOf(arg)); });
  return reads;
}

// x / (1 + exp(-x)) * y stays finite where x * y does not, and is how gates are written: the place of the factor that
// is divided before the others multiply it, if there is one.
std::optional<size_t> ExpressionCode::GateOf(std::span<const NodeId> over, NodeId divisor) const {
  const std::set<NodeId> reads = ReadsOf(divisor);
  std::optional<size_t> gate;
  for (size_t i = 0; i < over.size() && !reads.empty(); ++i) {
    if (ReadsOf(over[i]) != reads) continue;
    if (gate) return std::nullopt;
    gate = i;
  }
  return gate;
}

// sqrt(v / c) is lifted as sqrt(v) * rsqrt(c), which are no numbers where both are negative: a root of data, and the
// reciprocal root of what is none.
std::optional<std::pair<NodeId, NodeId>> ExpressionCode::RootOfQuotient(std::span<const NodeId> factors) const {
  std::optional<NodeId> above, below;
  for (const NodeId id : factors) {
    const auto* call = named_.contains(id) ? nullptr : std::get_if<core::Call>(&stage_.nodes[id]);
    const bool of_data = call != nullptr && !ReadsOf(id).empty();
    if (call != nullptr && call->function == core::Function::kSqrt && of_data && !above) above = id;
    if (call != nullptr && call->function == core::Function::kRsqrt && !of_data && !below) below = id;
  }
  if (!above || !below) return std::nullopt;
  return std::pair(*above, *below);
}

namespace {

// Of a number that nobody writes but as a quotient: 127 of 0.007874016, and of 0.25 or 0.2 nothing.
std::optional<double> WholeDivisor(double number) {
  constexpr double kExact = 1e-6, kDigits = 1e4, kLargest = 1 << 16;
  const double divisor = std::round(1 / number);
  if (!(divisor >= 3) || divisor > kLargest || std::abs(number * divisor - 1) > kExact) return std::nullopt;
  if (std::abs(number * kDigits - std::round(number * kDigits)) < kExact || std::exp2(std::ilogb(divisor)) == divisor)
    return std::nullopt;
  return divisor;
}

}  // namespace

ExpressionCode::Piece ExpressionCode::OfProduct(const core::Nary& nary, ValueType type) {
  double constant = 1;
  bool negative = false, whole = true;
  std::vector<Piece> over, under;
  std::vector<NodeId> over_nodes, under_nodes;
  const std::vector<NodeId> factors = FactorsInOrder(nary);
  const auto roots = RootOfQuotient(factors);
  for (NodeId arg : factors) {
    const core::Node& node = stage_.nodes[arg];
    if (roots && arg == roots->second) continue;
    if (roots && arg == roots->first) {
      const auto under_root = [&](NodeId root) {
        return PieceOf(std::get<core::Call>(stage_.nodes[root]).args[0], type);
      };
      const std::string divided = under_root(arg).At(Level::kProduct);
      over.push_back({fmt::format("sqrt{}({} / {})", problem_.in_double ? "" : "f", divided,
                                  under_root(roots->second).At(Level::kUnary))});
      over_nodes.push_back(arg);
      continue;
    }
    if (const auto* value = std::get_if<core::Constant>(&node)) {
      constant *= value->value;
      continue;
    }
    const core::Call* reciprocal = named_.contains(arg) ? nullptr : AsReciprocal(node);
    Piece piece = reciprocal ? PieceOf(reciprocal->args[0], types_[reciprocal->args[0]]) : PieceOf(arg, type);
    if (!reciprocal) whole &= types_[arg] == ValueType::kInteger;
    negative ^= piece.negative;
    piece.negative = false;
    (reciprocal ? under : over).push_back(std::move(piece));
    (reciprocal ? under_nodes : over_nodes).push_back(reciprocal ? reciprocal->args[0] : arg);
  }
  negative ^= constant < 0;
  constant = std::abs(constant);
  std::string text;
  const bool real = type == ValueType::kReal;
  if (const auto divisor = real && !over.empty() && IsRounded() ? WholeDivisor(constant) : std::nullopt) {
    under.push_back({NumberText(problem_, *divisor)});
    under_nodes.push_back(0);
    constant = 1;
  }
  if (constant != 1 || over.empty())
    text = real ? NumberText(problem_, constant) : fmt::format("{}", static_cast<int64_t>(constant));
  else if (real && whole && !under.empty())
    over[0] = {fmt::format("static_cast<{}>({})", problem_.real(), over[0].text)};
  // The square of a count, as in a variance that is a difference, need not be a number that 32 bits hold.
  const bool of_sizes = std::all_of(factors.begin(), factors.end(), [&](NodeId arg) {
    return std::holds_alternative<core::SizeValue>(stage_.nodes[arg]);
  });
  if (!real && of_sizes && over.size() > 1) {
    const std::string first = over[0].Plain();
    over[0] = {"static_cast<long long>" + (first.starts_with('(') ? first : "(" + first + ")")};
  }
  const auto multiply = [&](const Piece& factor) {
    text += (text.empty() ? "" : " * ") + factor.At(text.empty() ? Level::kProduct : Level::kUnary);
  };
  const auto divide = [&](const Piece& divisor) { text += " / " + divisor.At(Level::kUnary); };
  const auto gate = under.size() == 1 && over.size() > 1 ? GateOf(over_nodes, under_nodes[0]) : std::nullopt;
  if (gate) multiply(over[*gate]), divide(under[0]);
  for (size_t i = 0; i < over.size(); ++i)
    if (gate != i) multiply(over[i]);
  if (!gate) std::for_each(under.begin(), under.end(), divide);
  const bool alone = under.empty() && over.size() + (constant != 1 ? 1 : 0) == 1;
  return {text, alone ? (over.empty() ? Level::kAtom : over[0].level) : Level::kProduct, negative};
}

ExpressionCode::Piece ExpressionCode::OfCall(NodeId node, const core::Call& call) {
  using core::Function;
  const ValueType type = types_[node];
  const auto argument = [&](size_t i) {
    return PieceOf(call.args[i], type == ValueType::kReal ? ValueType::kReal : ValueType::kInteger);
  };
  const auto infix = [&](const char* op, Level level) {
    const auto next = static_cast<Level>(static_cast<int>(level) + 1);
    return Piece{argument(0).At(level) + op + argument(1).At(next), level};
  };
  const std::string suffix = problem_.in_double ? "" : "f";
  const auto function = [&](const std::string& name) {
    std::string text = name + suffix + "(" + argument(0).Plain();
    if (call.args.size() > 1) text += ", " + argument(1).Plain();
    return Piece{text + ")"};
  };
  switch (call.function) {
    case Function::kReciprocal:
      return {NumberText(problem_, 1) + " / " + argument(0).At(Level::kUnary), Level::kProduct};
    case Function::kAbs: return type == ValueType::kReal ? function("fabs") : Piece{"abs(" + argument(0).Plain() + ")"};
    case Function::kPower: return function("pow");
    case Function::kSign: {
      const std::string x = argument(0).At(Level::kShift), zero = NumberText(problem_, 0);
      return {fmt::format("static_cast<{}>(({} > {}) - ({} < {}))", problem_.real(), x, zero, x, zero)};
    }
    case Function::kIntegerDivide: return infix(" / ", Level::kProduct);
    case Function::kIntegerRemainder: return infix(" % ", Level::kProduct);
    case Function::kShiftLeft: return infix(" << ", Level::kShift);
    case Function::kShiftRight: return infix(" >> ", Level::kShift);
    case Function::kBitAnd: return infix(" & ", Level::kBitAnd);
    case Function::kBitOr: return infix(" | ", Level::kBitOr);
    case Function::kBitXor: return infix(" ^ ", Level::kBitXor);
    case Function::kBitNot: return {"~" + argument(0).At(Level::kUnary), Level::kUnary};
    case Function::kPopulationCount: return {"__popc(" + argument(0).Plain() + ")"};
    case Function::kLeadingZeros: return {"__clz(" + argument(0).Plain() + ")"};
    default: return function(std::string(core::Name(call.function)));
  }
}

ExpressionCode::Piece ExpressionCode::OfCompare(const core::Compare& compare) {
  static constexpr std::array<const char*, 4> kSigns = {" < ", " <= ", " == ", " != "};
  const bool real = types_[compare.left] == ValueType::kReal || types_[compare.right] == ValueType::kReal;
  const ValueType type = real ? ValueType::kReal : ValueType::kInteger;
  const bool equality = compare.op == core::Comparison::kEqual || compare.op == core::Comparison::kNotEqual;
  const Level level = equality ? Level::kEquality : Level::kRelation;
  return {PieceOf(compare.left, type).At(Level::kShift) + kSigns[static_cast<size_t>(compare.op)] +
              PieceOf(compare.right, type).At(Level::kShift),
          level};
}

ExpressionCode::Piece ExpressionCode::OfLogic(const core::Logic& logic) {
  if (logic.op == core::Logic::Op::kNot)
    return {"!" + PieceOf(logic.args[0], ValueType::kBoolean).At(Level::kUnary), Level::kUnary};
  const bool is_and = logic.op == core::Logic::Op::kAnd;
  std::string text;
  for (NodeId arg : logic.args)
    text += (text.empty() ? "" : is_and ? " && " : " || ") + PieceOf(arg, ValueType::kBoolean).At(Level::kEquality);
  return {text, is_and ? Level::kAnd : Level::kOr};
}

ExpressionCode::Piece ExpressionCode::OfConvert(const core::Convert& convert) {
  const bool from_real = types_[convert.arg] == ValueType::kReal;
  const std::string value =
      PieceOf(convert.arg, core::IsFloat(convert.to) ? ValueType::kReal : types_[convert.arg]).Plain();
  switch (convert.to) {
    case core::DType::kF16: return {fmt::format("__half2float(__float2half({}))", value)};
    case core::DType::kBF16: return {fmt::format("__bfloat162float(__float2bfloat16({}))", value)};
    case core::DType::kF32:
      return problem_.in_double || !from_real ? Piece{fmt::format("static_cast<float>({})", value)}
                                              : PieceOf(convert.arg, ValueType::kReal);
    case core::DType::kF64: return PieceOf(convert.arg, ValueType::kReal);
    case core::DType::kU8:
    case core::DType::kI8: {
      if (!from_real) break;
      const bool is_signed = convert.to == core::DType::kI8;
      const std::string low = NumberText(problem_, is_signed ? -128 : 0),
                        high = NumberText(problem_, is_signed ? 127 : 255);
      const std::string f = problem_.in_double ? "" : "f";
      return {fmt::format("static_cast<int>(fmax{}(fmin{}({}, {}), {}))", f, f, value, high, low)};
    }
    case core::DType::kI64:
    case core::DType::kI32:
    case core::DType::kU32:
    case core::DType::kBool: break;
  }
  return {fmt::format("static_cast<{}>({})", CTypeOf(convert.to), value)};
}

}  // namespace warpwright::schedule
