#include "core/formula_writer.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "core/expression_node.h"
#include "core/polynomial.h"

namespace warpwright::core {
namespace {

constexpr size_t kMaxPiece = 2000;

std::string OneNumber(double value, bool as_float) {
  char buffer[40];
  const auto end = as_float ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value))
                            : std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string text(buffer, end.ptr);
  const size_t e = text.find('e');  // 1e-05 as 1e-5
  if (e != std::string::npos && text.size() > e + 3 && text[e + 2] == '0') text.erase(e + 2, 1);
  return text;
}

}  // namespace

FormulaWriter::FormulaWriter(const Computation& computation) : computation_(computation) {}

std::string FormulaWriter::Joined(const std::vector<std::string>& texts, const std::string& separator) {
  std::string joined;
  for (size_t i = 0; i < texts.size(); ++i) joined += (i == 0 ? "" : separator) + texts[i];
  return joined;
}

std::string FormulaWriter::Shortest(double value) {
  if (std::fabs(value) < 1e15 && std::trunc(value) == value) return std::to_string(static_cast<int64_t>(value));
  return OneNumber(value, static_cast<double>(static_cast<float>(value)) == value);
}

std::string FormulaWriter::Wrapped(const Piece& piece, Level least) const {
  const Level level = piece.negative ? std::min(piece.level, Level::kSum) : piece.level;
  const std::string inner = piece.negative && piece.level < Level::kReduce ? Parenthesized(piece.text) : piece.text;
  const std::string text = piece.negative ? "-" + inner : inner;
  return level < least ? Parenthesized(text) : text;
}

FormulaPiece FormulaWriter::SumOf(std::vector<Piece> terms, bool spaced) const {
  if (terms.empty()) return {.text = Number(0)};
  if (terms.size() == 1) return terms[0];
  const auto positive = std::find_if(terms.begin(), terms.end(), [](const Piece& term) { return !term.negative; });
  if (positive != terms.end()) std::rotate(terms.begin(), positive, positive + 1);
  std::string text;
  for (size_t i = 0; i < terms.size(); ++i) {
    const std::string sign = terms[i].negative ? "-" : i == 0 ? "" : "+";
    Piece magnitude = terms[i];
    magnitude.negative = false;
    const bool spaces = spaced && i > 0;
    text += (spaces ? " " + sign + " " : sign) + Wrapped(magnitude, Level::kReduce);
  }
  return {.text = std::move(text), .level = Level::kSum};
}

// Sizes.

FormulaPiece FormulaWriter::OfSize(const Size& size) const {
  if (const auto number = Polynomial::Of(size).constant())
    return {.text = Number(std::fabs(static_cast<double>(*number))), .negative = *number < 0};
  return OfSizeNode(*size.root());
}

FormulaPiece FormulaWriter::OfSizeNode(const Expression::Node& node) const {
  using Kind = Expression::Node::Kind;
  if (node.kind == Kind::kLiteral) return {.text = Number(static_cast<double>(node.value))};
  if (node.kind == Kind::kName) return {.text = Identifier(node.name)};
  Piece left = OfSizeNode(*node.left), right = node.right ? OfSizeNode(*node.right) : Piece{};
  if (left.text.size() + right.text.size() > kMaxPiece) return {.text = Ellipsis()};
  const std::string whole_left = Wrapped(left, Level::kSelect), whole_right = Wrapped(right, Level::kSelect);
  const std::string factor_left = Wrapped(left, Level::kProduct), divisor = Wrapped(right, Level::kPower);
  switch (node.kind) {
    case Kind::kAdd: return SumOf({left, right}, false);
    case Kind::kSubtract:
      if (right.level < Level::kReduce) right = {.text = Parenthesized(whole_right)};
      right.negative = !right.negative;
      return SumOf({left, right}, false);
    case Kind::kMultiply:
      return {.text = factor_left + Times() + Wrapped(right, Level::kPower), .level = Level::kProduct};
    case Kind::kDivide: return {.text = Quotient(factor_left, divisor), .level = Level::kProduct};
    case Kind::kModulo: return {.text = Remainder(factor_left, divisor), .level = Level::kProduct};
    case Kind::kNegate: left.negative = !left.negative; return left;
    case Kind::kCeilDiv: return {.text = CeilDivided(whole_left, whole_right)};
    case Kind::kMin: return {.text = FunctionCall("min", {whole_left, whole_right})};
    case Kind::kMax: return {.text = FunctionCall("max", {whole_left, whole_right})};
    case Kind::kLiteral:
    case Kind::kName: break;
  }
  return {};
}

// Positions.

std::string FormulaWriter::Variable(const Stage& stage, VariableId variable) const {
  const size_t rank = stage.extents.size();
  return variable < rank ? VariableName('i', variable) : VariableName('r', variable - rank);
}

std::vector<FormulaPiece> FormulaWriter::Terms(const Stage& stage, const Affine& position) const {
  std::vector<Piece> terms;
  for (const auto& term : position.terms) {
    Piece piece{.text = Variable(stage, term.variable)};
    if (term.modulus) {
      const std::string modulus = Wrapped(OfSize(*term.modulus), Level::kPower);
      const bool quotient = term.part == Affine::Part::kQuotient;
      piece = {.text = quotient ? Quotient(piece.text, modulus) : Remainder(piece.text, modulus),
               .level = Level::kProduct};
    }
    const Polynomial coefficient = Polynomial::Of(term.coefficient);
    const bool negative = coefficient.terms().size() == 1 && coefficient.terms().begin()->second < 0;
    const auto magnitude = (negative ? Polynomial() - coefficient : coefficient).ToExpression();
    if (!magnitude || *magnitude != Size::Constant(1)) {
      const Piece factor = OfSize(magnitude && negative ? *magnitude : term.coefficient);
      const std::string what = piece.level == Level::kAtom ? piece.text : Parenthesized(piece.text);
      piece = {.text = Wrapped(factor, Level::kProduct) + Times() + what, .level = Level::kProduct};
    }
    piece.negative = negative;
    terms.push_back(std::move(piece));
  }
  const Polynomial constant = Polynomial::Of(position.constant);
  if (constant.terms().size() < 2) {
    if (!constant.terms().empty() || !constant.valid() || terms.empty()) terms.push_back(OfSize(position.constant));
    return terms;
  }
  for (const auto& [text, negative] : constant.SignedTerms()) {
    const auto term = Size::Parse(text);
    terms.push_back(term ? OfSize(*term) : Piece{.text = Ellipsis()});
    terms.back().negative = negative;
  }
  return terms;
}

FormulaPiece FormulaWriter::OfPosition(const Stage& stage, const Affine& position) const {
  const Piece sum = SumOf(Terms(stage, position), false);
  if (Polynomial::Of(position.divisor) == Polynomial(1)) return sum;
  const std::string divisor = Wrapped(OfSize(position.divisor), Level::kPower);
  return {.text = Divided(Wrapped(sum, Level::kProduct), divisor), .level = Level::kProduct};
}

// "r0 <= i0" rather than "0 <= i0-r0".
std::string FormulaWriter::OneSided(std::vector<Piece> terms, const Size& bound, bool is_low) const {
  Piece limit = OfSize(bound);
  const bool one = limit.text == Number(1) && !limit.negative;
  const bool strict = !is_low || one;  // from 1 on: more than 0
  if (is_low && one) limit.text = Number(0);
  if (limit.text != Number(0)) {
    limit.negative = !limit.negative;
    terms.insert(is_low && !limit.negative ? terms.end() : terms.begin(), limit);
  }
  std::vector<Piece> less, more;  // less <= more, both of positive terms where possible
  for (auto& term : terms) {
    auto& side = term.negative == is_low ? less : more;
    term.negative = false;
    side.push_back(term);
  }
  return SumOf(less, false).text + Relation(strict ? Comparison::kLess : Comparison::kLessEqual) +
         SumOf(more, false).text;
}

std::string FormulaWriter::OfGuard(const Stage& stage, const Guard& guard) const {
  const bool whole = Polynomial::Of(guard.value.divisor) == Polynomial(1);
  std::vector<std::string> conditions;
  if (!whole) {
    const Piece numerator = SumOf(Terms(stage, guard.value), false);
    conditions.push_back(
        Divides(Wrapped(OfSize(guard.value.divisor), Level::kPower), Wrapped(numerator, Level::kPower)));
  }
  if (whole && guard.low.has_value() != guard.high.has_value()) {
    conditions.push_back(
        OneSided(Terms(stage, guard.value), guard.low ? *guard.low : *guard.high, guard.low.has_value()));
  } else if (guard.low || guard.high) {
    std::string text = Wrapped(OfPosition(stage, guard.value), Level::kSum);
    if (guard.low) text = Wrapped(OfSize(*guard.low), Level::kSelect) + Relation(Comparison::kLessEqual) + text;
    if (guard.high) text += Relation(Comparison::kLess) + Wrapped(OfSize(*guard.high), Level::kSelect);
    conditions.push_back(std::move(text));
  }
  return Joined(conditions, ", ");
}

std::string FormulaWriter::Conditions(const Stage& stage, std::span<const Guard> guards) const {
  std::vector<std::string> texts;
  for (const auto& guard : guards) {
    std::string text = OfGuard(stage, guard);
    if (!text.empty()) texts.push_back(std::move(text));
  }
  return Joined(texts, ", ");
}

std::string FormulaWriter::Ranges(const Stage& stage) const {
  std::vector<std::string> texts;
  for (VariableId v = 0; v < stage.extents.size(); ++v)
    texts.push_back(Range(Variable(stage, v), Wrapped(OfSize(stage.extents[v]), Level::kSelect)));
  return Joined(texts, ", ");
}

bool FormulaWriter::RangesAreImplied(const Stage& stage) const {
  if (stage.output) return false;
  const auto self = std::find_if(computation_.stages.begin(), computation_.stages.end(),
                                 [&](const Stage& other) { return &other == &stage; });
  const auto reader = std::find_if(self, computation_.stages.end(), [](const Stage& other) { return other.output; });
  if (reader == computation_.stages.end() || reader->extents.size() < stage.extents.size()) return false;
  for (size_t v = 0; v < stage.extents.size(); ++v)
    if (Polynomial::Of(stage.extents[v]) != Polynomial::Of(reader->extents[v])) return false;
  return true;
}

// Expressions.

// An argument whose content before the call is read as well: the new one has a prime.
std::string FormulaWriter::WrittenName(const std::string& output) const {
  const auto reads = [&](const Node& node) {
    const auto* read = std::get_if<TensorRead>(&node);
    return read != nullptr && !read->stage && read->tensor == output;
  };
  for (const auto& stage : computation_.stages)
    if (std::any_of(stage.nodes.begin(), stage.nodes.end(), reads)) return Identifier(output) + "'";
  return Identifier(output);
}

std::string FormulaWriter::LeftSide(const Stage& stage) const {
  std::vector<std::string> at;
  if (stage.at.empty())
    for (VariableId v = 0; v < stage.extents.size(); ++v) at.push_back(Variable(stage, v));
  for (const auto& position : stage.at) at.push_back(Wrapped(OfPosition(stage, position), Level::kSelect));
  return Indexed(stage.output ? WrittenName(stage.name) : Identifier(stage.name), at);
}

FormulaPiece FormulaWriter::OfRead(const Stage& stage, const TensorRead& read, const std::vector<Piece>& pieces) const {
  std::vector<std::string> at;
  for (const auto& coordinate : read.at) {
    const auto* node = std::get_if<NodeId>(&coordinate);
    const Piece piece = node != nullptr ? pieces[*node] : OfPosition(stage, std::get<Affine>(coordinate));
    at.push_back(Wrapped(piece, Level::kSelect));
  }
  return {.text = Indexed(read.stage ? WrittenName(read.tensor) : Identifier(read.tensor), at)};
}

std::vector<FormulaPiece> FormulaWriter::WithPowers(const std::vector<Piece>& factors) const {
  std::vector<std::pair<Piece, size_t>> counted;
  for (const auto& factor : factors) {
    const auto same =
        std::find_if(counted.begin(), counted.end(), [&](const auto& c) { return c.first.text == factor.text; });
    if (same == counted.end()) counted.emplace_back(factor, 1);
    else ++same->second;
  }
  std::vector<Piece> powers;
  for (const auto& [factor, count] : counted) powers.push_back(count == 1 ? factor : Powered(factor, count));
  return powers;
}

FormulaPiece FormulaWriter::OfProduct(const Stage& stage, const Nary& nary, const std::vector<Piece>& pieces) const {
  std::vector<Piece> over, under;
  bool negative = false;
  for (const NodeId arg : nary.args) {
    const auto* call = std::get_if<Call>(&stage.nodes[arg]);
    const bool divides = call != nullptr && call->function == Function::kReciprocal;
    Piece factor = pieces[divides ? call->args[0] : arg];
    negative = negative != factor.negative;
    factor.negative = false;
    const auto* constant = std::get_if<Constant>(&stage.nodes[arg]);
    if (constant != nullptr && std::fabs(constant->value) == 1) continue;
    (divides ? under : over).push_back(std::move(factor));
  }
  if (over.empty()) over.push_back({.text = Number(1)});
  Piece product = under.empty() && over.size() == 1 ? over[0] : Product(WithPowers(over), WithPowers(under));
  product.negative = negative;
  return product;
}

FormulaPiece FormulaWriter::OfNary(const Stage& stage, const Nary& nary, const std::vector<Piece>& pieces) const {
  if (nary.op == ReduceOp::kProduct) return OfProduct(stage, nary, pieces);
  std::vector<Piece> args;
  for (const NodeId arg : nary.args) args.push_back(pieces[arg]);
  if (nary.op == ReduceOp::kSum) return SumOf(std::move(args), true);
  std::vector<std::string> texts;
  for (const auto& arg : args) texts.push_back(Wrapped(arg, Level::kSelect));
  return {.text = FunctionCall(nary.op == ReduceOp::kMax ? "max" : "min", texts)};
}

FormulaPiece FormulaWriter::OfReduce(const Stage& stage, const Reduce& reduce, const std::vector<Piece>& pieces) const {
  std::vector<std::string> ranges;
  for (const auto& variable : reduce.variables)
    ranges.push_back(Range(Variable(stage, variable.id), Wrapped(OfSize(variable.extent), Level::kSelect)));
  std::string index;
  const auto plain = reduce.index ? AsVariable(*reduce.index) : std::nullopt;
  const bool only = plain && reduce.variables.size() == 1 && *plain == reduce.variables[0].id;
  if (reduce.index && !only) index = Wrapped(OfPosition(stage, *reduce.index), Level::kSelect);
  Piece body = pieces[reduce.body];
  const bool negative = body.negative && reduce.op == ReduceOp::kSum;
  if (negative) body.negative = false;
  const std::string head = Reduction(reduce.op, Joined(ranges, ", "), Conditions(stage, reduce.guards), index);
  const bool bare = body.negative && body.level >= Level::kReduce;  // max -x
  return {.text = head + " " + (bare ? "-" + body.text : Wrapped(body, Level::kReduce)),
          .level = Level::kReduce,
          .negative = negative};
}

FormulaPiece FormulaWriter::OfNode(const Stage& stage, const Node& node, const std::vector<Piece>& pieces) const {
  const auto of = [&](NodeId id) { return pieces[id]; };
  return std::visit(
      Overload{
          [&](const Constant& c) -> Piece {
            const bool negative = std::signbit(c.value) && !std::isnan(c.value) && c.value != 0;
            return {.text = Number(std::fabs(c.value)), .negative = negative};
          },
          [&](const ScalarRead& read) -> Piece { return {.text = Identifier(read.name)}; },
          [&](const SizeValue& value) { return OfSize(value.size); },
          [&](const IndexValue& value) { return OfPosition(stage, value.index); },
          [&](const TensorRead& read) { return OfRead(stage, read, pieces); },
          [&](const Reduce& reduce) { return OfReduce(stage, reduce, pieces); },
          [&](const Nary& nary) { return OfNary(stage, nary, pieces); },
          [&](const Call& call) -> Piece {
            if (call.function == Function::kReciprocal) return Product({{.text = Number(1)}}, {of(call.args[0])});
            std::vector<Piece> args;
            for (const NodeId arg : call.args) args.push_back(of(arg));
            return Applied(call.function, args);
          },
          [&](const Compare& compare) -> Piece {
            return {.text = Wrapped(of(compare.left), Level::kSum) + Relation(compare.op) +
                            Wrapped(of(compare.right), Level::kSum),
                    .level = Level::kCompare};
          },
          [&](const Logic& logic) -> Piece {
            const bool negates = logic.op == Logic::Op::kNot;
            const Level level = negates ? Level::kNot : logic.op == Logic::Op::kAnd ? Level::kAnd : Level::kOr;
            std::vector<std::string> texts;
            for (const NodeId arg : logic.args) texts.push_back(Wrapped(of(arg), level));
            const std::string word = LogicWord(logic.op);
            return {.text = negates ? word + " " + texts[0] : Joined(texts, " " + word + " "), .level = level};
          },
          [&](const Select& select) { return Selection(of(select.condition), of(select.then), of(select.otherwise)); },
          [&](const Convert& convert) -> Piece {
            return {.text =
                        FunctionCall(std::string(core::Name(convert.to)), {Wrapped(of(convert.arg), Level::kSelect)})};
          }},
      node);
}

std::string FormulaWriter::RightSide(const Stage& stage) const {
  const auto reachable = Reachable(stage);
  std::vector<Piece> pieces(stage.nodes.size());
  for (size_t i = 0; i < stage.nodes.size(); ++i) {
    if (!reachable[i]) continue;
    pieces[i] = OfNode(stage, stage.nodes[i], pieces);
    if (pieces[i].text.size() > kMaxPiece) pieces[i] = {.text = Ellipsis()};
  }
  return Wrapped(pieces.back(), Level::kSelect);
}

}  // namespace warpwright::core
