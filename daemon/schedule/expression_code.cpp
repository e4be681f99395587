#include "schedule/expression_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/affine.h"

namespace warpwright::schedule {
namespace {

using core::NodeId;
using core::ReduceOp;
using core::ValueType;

// As C++ binds operators, loosely first.
enum class Level {
  kChoice,
  kOr,
  kAnd,
  kBitOr,
  kBitXor,
  kBitAnd,
  kEquality,
  kRelation,
  kShift,
  kSum,
  kProduct,
  kUnary,
  kAtom
};

bool IsTrivial(const core::Node& node) {
  return std::holds_alternative<core::Constant>(node) || std::holds_alternative<core::ScalarRead>(node) ||
         std::holds_alternative<core::SizeValue>(node) || std::holds_alternative<core::IndexValue>(node);
}

const core::Call* AsReciprocal(const core::Node& node) {
  const auto* call = std::get_if<core::Call>(&node);
  return call != nullptr && call->function == core::Function::kReciprocal ? call : nullptr;
}

bool IsMinus(const core::Stage& stage, const core::Node& node) {
  const auto* product = std::get_if<core::Nary>(&node);
  if (product == nullptr || product->op != ReduceOp::kProduct || product->args.size() != 2) return false;
  const auto* factor = std::get_if<core::Constant>(&stage.nodes[product->args[0]]);
  return factor != nullptr && factor->value == -1;
}

std::string_view NameOf(core::Function function) {
  switch (function) {
    case core::Function::kReciprocal: return "inverse";
    case core::Function::kSqrt: return "root";
    case core::Function::kRsqrt: return "scale";
    case core::Function::kExp:
    case core::Function::kExp2:
    case core::Function::kExp10: return "exponential";
    case core::Function::kLog:
    case core::Function::kLog2:
    case core::Function::kLog10:
    case core::Function::kLog1p: return "logarithm";
    case core::Function::kTanh: return "hyperbolic";
    case core::Function::kAbs: return "magnitude";
    default: return "value";
  }
}

}  // namespace

struct ExpressionCode::Piece {
  std::string text;
  Level level = Level::kAtom;
  bool negative = false;  // a minus belongs before it
  std::string Plain() const { return negative ? "-" + (level < Level::kUnary ? "(" + text + ")" : text) : text; }
  std::string At(Level least) const {
    const Level own = negative ? Level::kUnary : level;
    return own < least ? "(" + Plain() + ")" : Plain();
  }
};

ExpressionCode::ExpressionCode(const Problem& problem, const core::Stage& stage, Scope scope, Names& names,
                               Lines& lines)
    : problem_(problem),
      stage_(stage),
      scope_(std::move(scope)),
      names_(names),
      lines_(&lines),
      types_(core::TypesOf(problem.form, stage)),
      free_(core::FreeVariables(stage)),
      uses_(stage.nodes.size()),
      certain_(stage.nodes.size()) {
  const auto reachable = core::Reachable(stage);
  if (!certain_.empty()) certain_.back() = true;
  for (size_t i = stage.nodes.size(); i-- > 0;) {
    if (!reachable[i]) continue;
    const core::Node& node = stage.nodes[i];
    size_t argument = 0;
    const bool selects = std::holds_alternative<core::Select>(node) || std::holds_alternative<core::Logic>(node);
    core::ForEachArgument(node, [&](NodeId arg) {
      ++uses_[arg];
      if (certain_[i] && !(selects && argument > 0)) certain_[arg] = true;
      ++argument;
    });
  }
}

std::string ExpressionCode::IntegerType() const {
  for (const core::Node& node : stage_.nodes) {
    const auto* read = std::get_if<core::TensorRead>(&node);
    const core::TensorArgument* tensor = read ? problem_.form.FindTensor(read->tensor) : nullptr;
    if (tensor && (tensor->dtype == core::DType::kI64 || tensor->dtype == core::DType::kU32)) return "long long";
  }
  return "int";
}

std::string ExpressionCode::CType(NodeId node) const {
  switch (types_[node]) {
    case ValueType::kReal: return problem_.real();
    case ValueType::kInteger: return IntegerType();
    case ValueType::kBoolean: return "bool";
  }
  return problem_.real();
}

std::string ExpressionCode::Value(NodeId node) { return Value(node, types_[node]); }
std::string ExpressionCode::Value(NodeId node, ValueType wanted) { return PieceOf(node, wanted).Plain(); }

std::string ExpressionCode::NameFor(NodeId id, const std::string& text) {
  const core::Node& node = stage_.nodes[id];
  std::string name = "value";
  if (const auto* read = std::get_if<core::TensorRead>(&node)) name = read->tensor + "_value";
  if (const auto* call = std::get_if<core::Call>(&node)) name = NameOf(call->function);
  if (const auto* nary = std::get_if<core::Nary>(&node)) {
    const auto factors = FactorsOf(*nary);
    const bool by_size = std::any_of(factors.begin(), factors.end(), [&](NodeId arg) {
      const core::Call* call = AsReciprocal(stage_.nodes[arg]);
      return call != nullptr && std::holds_alternative<core::SizeValue>(stage_.nodes[call->args[0]]);
    });
    if (nary->op == ReduceOp::kSum) name = text.find(" - ") != std::string::npos ? "difference" : "sum";
    if (nary->op == ReduceOp::kProduct) name = by_size ? "mean" : "product";
    if (nary->op == ReduceOp::kMax) name = "larger";
    if (nary->op == ReduceOp::kMin) name = "smaller";
  }
  if (std::holds_alternative<core::Compare>(node) || std::holds_alternative<core::Logic>(node)) name = "condition";
  if (std::holds_alternative<core::Select>(node)) name = "chosen";
  return names_.TakeOf({name, name == "mean" ? "row_mean" : name});
}

void ExpressionCode::Hoist(core::VariableSet inner, NodeId root) {
  std::vector<bool> wanted(stage_.nodes.size());
  const auto reachable = core::Reachable(stage_);
  for (size_t i = root + 1; i-- > 0;) {
    if (!reachable[i] || !certain_[i]) continue;
    const core::Node& node = stage_.nodes[i];
    if (wanted[i] && IsMinus(stage_, node)) {  // not worth a name, but what it is applied to
      wanted[i] = false;
      core::ForEachArgument(node, [&](NodeId arg) { wanted[arg] = true; });
      continue;
    }
    const auto* reduce = std::get_if<core::Reduce>(&node);
    const core::VariableSet own = free_[i] | (reduce ? core::VariablesOf(*reduce) : 0);
    if (i != root && (own & inner) == 0) continue;
    core::ForEachArgument(node, [&](NodeId arg) { wanted[arg] = wanted[arg] || (free_[arg] & inner) == 0; });
  }
  for (NodeId i = 0; i < wanted.size(); ++i) {
    const core::Node& node = stage_.nodes[i];
    if (!wanted[i] || !certain_[i] || IsTrivial(node) || named_.contains(i)) continue;
    if (const auto* read = std::get_if<core::TensorRead>(&node); read && scope_.value && scope_.value(*read)) continue;
    const Piece piece = Written(i, types_[i]);
    std::string name;
    if (scope_.constants && scope_.constants->contains(piece.text)) {
      name = scope_.constants->at(piece.text);
    } else {
      name = NameFor(i, piece.text);
      lines_->Add(fmt::format("const {} {} = {};", CType(i), name, piece.text));
      if (scope_.constants) (*scope_.constants)[piece.text] = name;
    }
    named_[i] = (piece.negative ? "-" : "") + name;
  }
}

// The value's text, or its name if it has or deserves one.
ExpressionCode::Piece ExpressionCode::PieceOf(NodeId node, ValueType wanted) {
  const auto as = [&](Piece piece) -> Piece {
    const ValueType type = types_[node];
    if (type == ValueType::kBoolean && wanted == ValueType::kReal)
      return {fmt::format("{} ? {} : {}", piece.At(Level::kOr), NumberText(problem_, 1), NumberText(problem_, 0)),
              Level::kChoice};
    if (type == ValueType::kBoolean && wanted == ValueType::kInteger)
      return {piece.At(Level::kOr) + " ? 1 : 0", Level::kChoice};
    if (type != ValueType::kBoolean && wanted == ValueType::kBoolean)
      return {piece.At(Level::kShift) + " != 0", Level::kEquality};
    return piece;
  };
  if (const auto found = named_.find(node); found != named_.end()) {
    const bool negative = found->second.starts_with("-");
    return as({negative ? found->second.substr(1) : found->second, Level::kAtom, negative});
  }
  const core::Node& content = stage_.nodes[node];
  if (const auto* constant = std::get_if<core::Constant>(&content)) {
    const double value = constant->value;
    const bool negative = std::signbit(value) && !std::isnan(value) && !std::isinf(value);
    const double magnitude = negative ? -value : value;
    if (wanted == ValueType::kReal) return {NumberText(problem_, magnitude), Level::kAtom, negative};
    return {fmt::format("{}", static_cast<int64_t>(magnitude)), Level::kAtom, negative};
  }
  Piece piece = Written(node, types_[node]);
  const bool shared = uses_[node] > 1 && certain_[node] && !IsTrivial(content) && piece.level != Level::kAtom;
  const auto* read = std::get_if<core::TensorRead>(&content);
  const bool converted = read && piece.text.ends_with(')');
  const bool loaded =
      uses_[node] > 1 && certain_[node] && read && (converted || !(scope_.value && scope_.value(*read)));
  const bool called = uses_[node] > 1 && certain_[node] && std::holds_alternative<core::Call>(content);
  if (!shared && !loaded && !called) return as(piece);
  const std::string name = NameFor(node, piece.text);
  lines_->Add(fmt::format("const {} {} = {};", CType(node), name, piece.text));
  named_[node] = (piece.negative ? "-" : "") + name;
  return as({name, Level::kAtom, piece.negative});
}

ExpressionCode::Piece ExpressionCode::Written(NodeId node, ValueType wanted) {
  return std::visit(
      Overload{[&](const core::Constant&) { return PieceOf(node, wanted); },
               [&](const core::ScalarRead& scalar) {
                 const EntryParameter* parameter = problem_.entry.Find(scalar.name);
                 const bool narrows = parameter && parameter->dtype == core::DType::kF64 && !problem_.in_double;
                 return Piece{narrows ? fmt::format("static_cast<float>({})", scalar.name) : scalar.name};
               },
               [&](const core::SizeValue& size) { return Piece{Parenthesized(SizeText(size.size))}; },
               [&](const core::IndexValue& value) {
                 return Piece{Parenthesized(PositionText(value.index, scope_.variables))};
               },
               [&](const core::TensorRead& read) { return OfRead(read); },
               [&](const core::Reduce& reduce) { return OfReduce(node, reduce); },
               [&](const core::Nary& nary) { return OfNary(nary, types_[node]); },
               [&](const core::Call& call) { return OfCall(node, call); },
               [&](const core::Compare& compare) { return OfCompare(compare); },
               [&](const core::Logic& logic) { return OfLogic(logic); },
               [&](const core::Select& select) {
                 const std::string condition = PieceOf(select.condition, ValueType::kBoolean).At(Level::kOr);
                 const std::string then = PieceOf(select.then, types_[node]).At(Level::kOr);
                 return Piece{fmt::format("{} ? {} : {}", condition, then,
                                          PieceOf(select.otherwise, types_[node]).At(Level::kChoice)),
                              Level::kChoice};
               },
               [&](const core::Convert& convert) { return OfConvert(convert); }},
      stage_.nodes[node]);
}

ExpressionCode::Piece ExpressionCode::OfRead(const core::TensorRead& read) {
  if (scope_.value)
    if (const auto known = scope_.value(read)) return {Parenthesized(*known), Level::kAtom};
  const core::TensorArgument* tensor = problem_.form.FindTensor(read.tensor);
  if (tensor == nullptr) {
    refusal_ = Refuse(fmt::format("the intermediate {} has no place in memory", read.tensor));
    return {"0"};
  }
  return {Loaded(problem_, tensor->dtype, fmt::format("{}[{}]", read.tensor, OffsetOf(read, *tensor)))};
}

std::string ExpressionCode::OffsetOf(const core::TensorRead& read, const core::TensorArgument& tensor) {
  std::vector<std::string> at;
  for (const core::Coordinate& coordinate : read.at) {
    if (const auto* position = std::get_if<core::Affine>(&coordinate))
      at.push_back(PositionText(*position, scope_.variables));
    else at.push_back(PieceOf(std::get<NodeId>(coordinate), ValueType::kInteger).Plain());
  }
  return OffsetText(problem_, tensor.shape, at);
}

std::string ExpressionCode::Address(const core::TensorRead& read) {
  return read.tensor + " + " + OffsetOf(read, *problem_.form.FindTensor(read.tensor));
}

ExpressionCode::Piece ExpressionCode::OfNary(const core::Nary& nary, ValueType type) {
  if (nary.op == ReduceOp::kSum) return OfSum(nary, type);
  if (nary.op == ReduceOp::kProduct) return OfProduct(nary, type);
  std::string text = PieceOf(nary.args[0], type).Plain();
  for (size_t i = 1; i < nary.args.size(); ++i)
    text = CombinedText(problem_, nary.op, type, text, PieceOf(nary.args[i], type).Plain());
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
    const bool flat = inner && inner->op == ReduceOp::kProduct && !named_.contains(arg) &&
                      (uses_[arg] == 1 || inner->args.size() <= 2);
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

ExpressionCode::Piece ExpressionCode::OfProduct(const core::Nary& nary, ValueType type) {
  double constant = 1;
  bool negative = false, whole = true;
  std::vector<Piece> over, under;
  for (NodeId arg : FactorsInOrder(nary)) {
    const core::Node& node = stage_.nodes[arg];
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
  }
  negative ^= constant < 0;
  constant = std::abs(constant);
  std::string text;
  const bool real = type == ValueType::kReal;
  if (constant != 1 || over.empty())
    text = real ? NumberText(problem_, constant) : fmt::format("{}", static_cast<int64_t>(constant));
  else if (real && whole && !under.empty())
    over[0] = {fmt::format("static_cast<{}>({})", problem_.real(), over[0].text)};
  for (const Piece& factor : over)
    text += (text.empty() ? "" : " * ") + factor.At(text.empty() ? Level::kProduct : Level::kUnary);
  for (const Piece& divisor : under) text += " / " + divisor.At(Level::kUnary);
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

// A loop of its own: windows and other short reductions.
ExpressionCode::Piece ExpressionCode::OfReduce(NodeId node, const core::Reduce& reduce) {
  static constexpr std::array<const char*, 3> kNames = {"kx", "ky", "kz"};
  const ValueType type = core::IsArg(reduce.op) ? types_[reduce.body] : types_[node];
  const std::string value_type = core::IsArg(reduce.op) ? CType(reduce.body) : CType(node);
  const bool is_max =
      reduce.op == ReduceOp::kMax || reduce.op == ReduceOp::kArgMaxFirst || reduce.op == ReduceOp::kArgMaxLast;
  const std::string result = names_.Take(reduce.op == ReduceOp::kSum       ? "sum"
                                         : reduce.op == ReduceOp::kProduct ? "product"
                                         : is_max                          ? "largest"
                                                                           : "smallest");
  lines_->Add(fmt::format("{} {} = {};", value_type, result, NeutralText(problem_, reduce.op, type)));
  std::string index;
  if (core::IsArg(reduce.op)) {
    index = names_.Take(result + "_at");
    lines_->Add(fmt::format("{} {} = 0;", CType(node), index));
  }
  const auto saved = named_;
  const auto saved_variables = scope_.variables;
  for (size_t i = 0; i < reduce.variables.size(); ++i) {
    const size_t back = reduce.variables.size() - 1 - i;
    const std::string name = names_.Take(reduce.variables.size() == 1 ? "k"
                                         : back < kNames.size()       ? kNames[back]
                                                                      : "k");
    scope_.variables[reduce.variables[i].id] = name;
    lines_->Open(
        fmt::format("for (int {} = 0; {} < {}; ++{})", name, name, SizeText(reduce.variables[i].extent), name));
  }
  const std::string condition = ConditionText(reduce.guards, scope_.variables);
  if (!condition.empty()) lines_->Open(fmt::format("if ({})", condition));
  const Piece body = PieceOf(reduce.body, type);
  if (core::IsArg(reduce.op)) {
    const bool first = reduce.op == ReduceOp::kArgMaxFirst || reduce.op == ReduceOp::kArgMinFirst;
    const std::string candidate = names_.Take("candidate");
    lines_->Add(fmt::format("const {} {} = {};", value_type, candidate, body.Plain()));
    lines_->Open(fmt::format("if ({} {}{} {})", candidate, is_max ? ">" : "<", first ? "" : "=", result));
    lines_->Add(fmt::format("{} = {};", result, candidate));
    lines_->Add(fmt::format("{} = {};", index, PositionText(*reduce.index, scope_.variables)));
    lines_->Close();
  } else if (reduce.op == ReduceOp::kSum) {
    lines_->Add(fmt::format("{} {}= {};", result, body.negative ? '-' : '+', body.text));
  } else if (reduce.op == ReduceOp::kProduct) {
    lines_->Add(fmt::format("{} *= {};", result, body.Plain()));
  } else {
    lines_->Add(fmt::format("{} = {};", result, CombinedText(problem_, reduce.op, type, result, body.Plain())));
  }
  if (!condition.empty()) lines_->Close();
  for (size_t i = 0; i < reduce.variables.size(); ++i) lines_->Close();
  named_ = saved;
  scope_.variables = saved_variables;
  const std::string answer = core::IsArg(reduce.op) ? index : result;
  named_[node] = answer;
  return {answer};
}

}  // namespace warpwright::schedule
