#include "schedule/expression_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/affine.h"
#include "core/polynomial.h"
#include "schedule/expression_piece.h"
#include "schedule/reduction_code.h"

namespace warpwright::schedule {
namespace {

using core::NodeId;
using core::ReduceOp;
using core::ValueType;

bool IsTrivial(const core::Node& node) {
  return std::holds_alternative<core::Constant>(node) || std::holds_alternative<core::ScalarRead>(node) ||
         std::holds_alternative<core::SizeValue>(node) || std::holds_alternative<core::IndexValue>(node);
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

namespace {

// Of a size as a number: the square of a length need not be one that 32 bits hold, where no tensor has so many
// elements.
std::string NumberText(const Problem& problem, const core::Size& size) {
  const std::string text = SizeText(size);
  const core::Polynomial number = core::Polynomial::Of(size);
  const bool product = number.valid() && number.terms().size() == 1 && number.terms().begin()->first.size() > 1;
  if (!product) return text;
  const bool of_tensor = std::any_of(problem.form.tensors.begin(), problem.form.tensors.end(), [&](const auto& tensor) {
    return core::Polynomial::Of(Product(tensor.shape)).DividedBy(number).has_value();
  });
  if (of_tensor && !problem.wide) return text;
  return WidenedProduct(text);
}

}  // namespace

std::string ExpressionCode::IntegerType() const {
  for (const core::Node& node : stage_.nodes) {
    const auto* read = std::get_if<core::TensorRead>(&node);
    const core::TensorArgument* tensor = read ? problem_.form.FindTensor(read->tensor) : nullptr;
    if (tensor && (tensor->dtype == core::DType::kI64 || tensor->dtype == core::DType::kU32)) return "long long";
  }
  // Sums of narrow integers are as wide as what they are stored in.
  const bool wide =
      std::any_of(problem_.form.stages.begin(), problem_.form.stages.end(), [&](const core::Stage& stage) {
        return stage.output && stage.dtype == core::DType::kI64 &&
               (stage.name == stage_.name || ReadsTensor(stage, stage_.name, true));
      });
  return wide ? "long long" : "int";
}

bool ExpressionCode::IsRounded() const {
  return std::any_of(stage_.nodes.begin(), stage_.nodes.end(), [](const core::Node& node) {
    const auto* call = std::get_if<core::Call>(&node);
    return call != nullptr && (call->function == core::Function::kRound || call->function == core::Function::kFloor ||
                               call->function == core::Function::kCeil || call->function == core::Function::kTrunc ||
                               call->function == core::Function::kRint);
  });
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

std::optional<std::string> ExpressionCode::BestOf(NodeId node) const {
  const auto found = best_.find(node);
  return found == best_.end() ? std::nullopt : std::optional(found->second);
}

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
  std::set<NodeId> in_roots;  // what divides under a root there, and has no text of its own
  for (const core::Node& node : stage_.nodes)
    if (const auto* nary = std::get_if<core::Nary>(&node); nary && nary->op == ReduceOp::kProduct)
      if (const auto roots = RootOfQuotient(FactorsOf(*nary))) in_roots.insert(roots->second);
  for (size_t i = root + 1; i-- > 0;) {
    if (!reachable[i] || !certain_[i]) continue;
    const core::Node& node = stage_.nodes[i];
    if (wanted[i] && (IsMinus(stage_, node) || in_roots.contains(static_cast<NodeId>(i)))) {
      // Not worth a name, but what it is applied to.
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
  if (scope_.constants)
    if (const auto known = scope_.constants->find(piece.text); known != scope_.constants->end())
      return as({known->second, Level::kAtom, piece.negative});
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
               [&](const core::SizeValue& size) { return Piece{Parenthesized(NumberText(problem_, size.size))}; },
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
  const auto padded = padded_.find(&read);
  if (padded == padded_.end()) return Read(read);
  const core::TensorArgument* tensor = problem_.form.FindTensor(read.tensor);
  const std::string zero = tensor && !core::IsFloat(tensor->dtype) ? "0" : NumberText(problem_, 0);
  return {fmt::format("{} ? {} : {}", padded->second, Read(read).At(Level::kOr), zero), Level::kChoice};
}

ExpressionCode::Piece ExpressionCode::Read(const core::TensorRead& read) {
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

// Guards that say where a read tensor ends go to that read, where it is 0 outside; the others are left.
std::vector<core::Guard> ExpressionCode::PadReads(const core::Reduce& reduce) {
  std::vector<core::Guard> left;
  std::map<const core::TensorRead*, std::vector<core::Guard>> ends;
  for (const core::Guard& guard : reduce.guards) {
    bool ends_read = false;
    for (NodeId id = 0; IsZeroOutside(problem_, guard) && id < reduce.body + 1; ++id) {
      const auto* read = std::get_if<core::TensorRead>(&stage_.nodes[id]);
      if (!read || std::find(read->at.begin(), read->at.end(), core::Coordinate(guard.value)) == read->at.end())
        continue;
      ends[read].push_back(guard);
      ends_read = true;
    }
    if (!ends_read) left.push_back(guard);
    else if (!core::IsNumber(guard.value.divisor, 1)) left.push_back({.value = guard.value});
  }
  for (const auto& [read, guards] : ends) padded_[read] = ConditionText(guards, scope_.variables);
  return left;
}

// The loops over a reduction's terms, and what its conditions leave of them; how many brackets that are.
size_t ExpressionCode::OpenLoops(const core::Reduce& reduce) {
  static constexpr std::array<const char*, 3> kNames = {"kx", "ky", "kz"};
  for (size_t i = 0; i < reduce.variables.size(); ++i) {
    const size_t back = reduce.variables.size() - 1 - i;
    scope_.variables[reduce.variables[i].id] = names_.Take(reduce.variables.size() == 1 ? "k"
                                                           : back < kNames.size()       ? kNames[back]
                                                                                        : "k");
  }
  const std::vector<core::Guard> guards = reduce.op == ReduceOp::kSum ? PadReads(reduce) : reduce.guards;
  // A condition stands in the innermost loop that it depends on, before those inside of it.
  size_t opened = reduce.variables.size();
  const auto open_condition = [&](size_t loops) {
    std::vector<core::Guard> here;
    for (const core::Guard& guard : guards) {
      const core::VariableSet in = core::VariablesOf(guard.value);
      size_t needed = 0;
      for (size_t i = 0; i < reduce.variables.size(); ++i)
        if ((in & core::SetOf(reduce.variables[i].id)) != 0) needed = i + 1;
      if (needed == loops) here.push_back(guard);
    }
    const std::string condition = ConditionText(here, scope_.variables);
    if (condition.empty()) return;
    lines_->Open(fmt::format("if ({})", condition));
    ++opened;
  };
  open_condition(0);
  for (size_t i = 0; i < reduce.variables.size(); ++i) {
    const std::string& name = scope_.variables[reduce.variables[i].id];
    lines_->Open(
        fmt::format("for (int {} = 0; {} < {}; ++{})", name, name, SizeText(reduce.variables[i].extent), name));
    open_condition(i + 1);
  }
  return opened;
}

// A loop of its own: windows and other short reductions.
ExpressionCode::Piece ExpressionCode::OfReduce(NodeId node, const core::Reduce& reduce) {
  const ValueType type = core::IsArg(reduce.op) ? types_[reduce.body] : types_[node];
  const std::string value_type = core::IsArg(reduce.op) ? CType(reduce.body) : CType(node);
  const bool is_max =
      reduce.op == ReduceOp::kMax || reduce.op == ReduceOp::kArgMaxFirst || reduce.op == ReduceOp::kArgMaxLast;
  std::vector<std::string> wishes = {reduce.op == ReduceOp::kSum       ? "sum"
                                     : reduce.op == ReduceOp::kProduct ? "product"
                                     : is_max                          ? "largest"
                                                                       : "smallest"};
  if (const auto own = NameInOriginal(problem_, reduce.op)) wishes.insert(wishes.begin(), *own);
  const std::string result = names_.TakeOf(wishes);
  lines_->Add(fmt::format("{} {} = {};", value_type, result, NeutralText(problem_, reduce.op, type)));
  std::string index;
  if (core::IsArg(reduce.op)) {
    index = names_.Take(result + "_at");
    lines_->Add(fmt::format("{} {} = 0;", CType(node), index));
  }
  const auto saved = named_;
  const auto saved_variables = scope_.variables;
  const size_t opened = OpenLoops(reduce);
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
  for (size_t i = 0; i < opened; ++i) lines_->Close();
  named_ = saved;
  scope_.variables = saved_variables;
  padded_.clear();
  const std::string answer = core::IsArg(reduce.op) ? index : result;
  if (core::IsArg(reduce.op)) best_[node] = result;
  named_[node] = answer;
  return {answer};
}

}  // namespace warpwright::schedule
