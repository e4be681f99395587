#include "core/computation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "core/computation_walk.h"
#include "core/polynomial.h"

namespace warpwright::core {
namespace {

struct FunctionFacts {
  std::string_view name;
  size_t arity;
};
constexpr FunctionFacts kFunctions[] = {
    {"reciprocal", 1}, {"sqrt", 1},  {"rsqrt", 1}, {"exp", 1},   {"exp2", 1},   {"exp10", 1},   {"expm1", 1},
    {"log", 1},        {"log2", 1},  {"log10", 1}, {"log1p", 1}, {"sin", 1},    {"cos", 1},     {"tan", 1},
    {"asin", 1},       {"acos", 1},  {"atan", 1},  {"sinh", 1},  {"cosh", 1},   {"tanh", 1},    {"asinh", 1},
    {"acosh", 1},      {"atanh", 1}, {"erf", 1},   {"erfc", 1},  {"erfinv", 1}, {"normcdf", 1}, {"lgamma", 1},
    {"tgamma", 1},     {"cbrt", 1},  {"abs", 1},   {"floor", 1}, {"ceil", 1},   {"round", 1},   {"rint", 1},
    {"trunc", 1},      {"sign", 1},  {"pow", 2},   {"atan2", 2}, {"hypot", 2},  {"fmod", 2},    {"copysign", 2},
    {"idiv", 2},       {"irem", 2},  {"shl", 2},   {"shr", 2},   {"bitand", 2}, {"bitor", 2},   {"bitxor", 2},
    {"bitnot", 1},     {"popc", 1},  {"clz", 1}};
static_assert(std::size(kFunctions) == static_cast<size_t>(Function::kLeadingZeros) + 1);

// Of real numbers and of integers alike; an integer's is an integer.
bool KeepsType(Function function) {
  return (function >= Function::kAbs && function <= Function::kSign) || IsInteger(function);
}

// The type of a node whose arguments have types, as far as these decide. A whole constant is an integer, and real if
// it meets something real.
class TypeInference {
 public:
  TypeInference(const Computation& computation, size_t stages) : computation_(computation) {
    for (size_t i = 0; i < stages && i < computation.stages.size(); ++i) {
      const Stage& stage = computation.stages[i];
      const auto types = Of(stage);
      stage_types_.emplace_back(stage.name, !stage.output          ? (types.empty() ? ValueType::kReal : types.back())
                                            : IsFloat(stage.dtype) ? ValueType::kReal
                                                                   : ValueType::kInteger);
    }
  }
  std::vector<ValueType> Of(const Stage& stage) const {
    std::vector<ValueType> types;
    types.reserve(stage.nodes.size());
    for (const auto& node : stage.nodes) types.push_back(OfNode(node, types));
    return types;
  }

 private:
  static ValueType JoinedOf(const std::vector<NodeId>& args, const std::vector<ValueType>& types) {
    const bool real = std::any_of(args.begin(), args.end(), [&](NodeId arg) { return types[arg] == ValueType::kReal; });
    return real ? ValueType::kReal : ValueType::kInteger;
  }
  ValueType OfRead(const TensorRead& read) const {
    if (read.stage) {
      for (const auto& [name, type] : stage_types_)
        if (name == read.tensor) return type;
      return ValueType::kReal;
    }
    const TensorArgument* tensor = computation_.FindTensor(read.tensor);
    return tensor == nullptr || IsFloat(tensor->dtype) ? ValueType::kReal : ValueType::kInteger;
  }
  ValueType OfNode(const Node& node, const std::vector<ValueType>& types) const {
    const auto numeric = [](ValueType type) { return type == ValueType::kReal ? type : ValueType::kInteger; };
    return std::visit(
        Overload{
            [](const Constant& c) { return IsWhole(c.value) ? ValueType::kInteger : ValueType::kReal; },
            [](const ScalarRead&) { return ValueType::kReal; }, [](const SizeValue&) { return ValueType::kInteger; },
            [](const IndexValue&) { return ValueType::kInteger; }, [&](const TensorRead& read) { return OfRead(read); },
            [&](const Reduce& reduce) { return IsArg(reduce.op) ? ValueType::kInteger : numeric(types[reduce.body]); },
            [&](const Nary& nary) { return JoinedOf(nary.args, types); },
            [&](const Call& call) { return KeepsType(call.function) ? JoinedOf(call.args, types) : ValueType::kReal; },
            [](const Compare&) { return ValueType::kBoolean; }, [](const Logic&) { return ValueType::kBoolean; },
            [&](const Select& select) {
              const bool same = types[select.then] == types[select.otherwise];
              return same ? types[select.then] : JoinedOf({select.then, select.otherwise}, types);
            },
            [](const Convert& convert) {
              return IsFloat(convert.to)          ? ValueType::kReal
                     : convert.to == DType::kBool ? ValueType::kBoolean
                                                  : ValueType::kInteger;
            }},
        node);
  }

  const Computation& computation_;
  std::vector<std::pair<std::string_view, ValueType>> stage_types_;
};

}  // namespace

std::string_view Name(Affine::Part part) {
  switch (part) {
    case Affine::Part::kWhole: return "whole";
    case Affine::Part::kQuotient: return "quotient";
    case Affine::Part::kRemainder: return "remainder";
  }
  return "?";
}
std::string_view Name(Guard::Outside outside) {
  switch (outside) {
    case Guard::Outside::kUnknown: return "unknown";
    case Guard::Outside::kLeftOut: return "left_out";
    case Guard::Outside::kZero: return "zero";
  }
  return "?";
}
std::string_view Name(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum: return "sum";
    case ReduceOp::kProduct: return "product";
    case ReduceOp::kMax: return "max";
    case ReduceOp::kMin: return "min";
    case ReduceOp::kArgMaxFirst: return "argmax_first";
    case ReduceOp::kArgMaxLast: return "argmax_last";
    case ReduceOp::kArgMinFirst: return "argmin_first";
    case ReduceOp::kArgMinLast: return "argmin_last";
  }
  return "?";
}
std::string_view Name(Comparison comparison) {
  switch (comparison) {
    case Comparison::kLess: return "less";
    case Comparison::kLessEqual: return "less_equal";
    case Comparison::kEqual: return "equal";
    case Comparison::kNotEqual: return "not_equal";
  }
  return "?";
}
std::string_view Name(Logic::Op op) {
  switch (op) {
    case Logic::Op::kAnd: return "and";
    case Logic::Op::kOr: return "or";
    case Logic::Op::kNot: return "not";
  }
  return "?";
}
std::string_view Name(Function function) {
  const auto index = static_cast<size_t>(function);
  return index < std::size(kFunctions) ? kFunctions[index].name : "?";
}
size_t Arity(Function function) { return kFunctions[static_cast<size_t>(function)].arity; }
bool IsInteger(Function function) { return function >= Function::kFirstInteger; }
bool IsWhole(double value) {
  return std::fabs(value) <= 0x1p53 && std::trunc(value) == value && !(value == 0 && std::signbit(value));
}

bool Constant::operator==(const Constant& other) const {
  return std::bit_cast<uint64_t>(value) == std::bit_cast<uint64_t>(other.value) ||
         (std::isnan(value) && std::isnan(other.value));
}

const Stage* Computation::FindStage(std::string_view name) const {
  const auto found = std::find_if(stages.begin(), stages.end(), [&](const Stage& s) { return s.name == name; });
  return found == stages.end() ? nullptr : &*found;
}
const TensorArgument* Computation::FindTensor(std::string_view name) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const auto& t) { return t.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

std::string Computation::FreeName(const std::string& wish) const {
  const auto is_taken = [&](const std::string& name) {
    return FindStage(name) != nullptr || FindTensor(name) != nullptr ||
           std::find(sizes.begin(), sizes.end(), name) != sizes.end() ||
           std::find(scalars.begin(), scalars.end(), name) != scalars.end();
  };
  std::string name = wish;
  for (int i = 2; is_taken(name); ++i) name = wish + "_" + std::to_string(i);
  return name;
}

bool IsOfOnePath(std::string_view assumption) { return assumption.starts_with("path "); }

std::optional<std::string> BrokenAssumption(const Computation& computation,
                                            const std::map<std::string, int64_t>& sizes) {
  constexpr std::string_view kIs = " = ";
  for (const std::string& assumption : computation.assumptions) {
    if (IsOfOnePath(assumption)) return assumption;
    const size_t is = assumption.find(kIs);
    if (is == std::string::npos) continue;
    const auto value = [&](std::string_view text) -> std::optional<int64_t> {
      const auto expression = Expression::Parse(text);
      const auto evaluated = expression ? expression->Evaluate(sizes) : Fail(expression.error());
      return evaluated ? std::optional(*evaluated) : std::nullopt;
    };
    const auto left = value(std::string_view(assumption).substr(0, is));
    const auto right = value(std::string_view(assumption).substr(is + kIs.size()));
    if (left && right && *left != *right) return assumption;
  }
  return std::nullopt;
}

std::vector<std::string> SizeNames(const Computation& computation) {
  std::set<std::string> names;
  const auto add = [&](const Size& size) {
    for (auto& name : size.Variables()) names.insert(std::move(name));
  };
  for (const auto& tensor : computation.tensors)
    for (const auto& extent : tensor.shape) add(extent);
  for (const auto& stage : computation.stages) ForEachSize(stage, add);
  return {names.begin(), names.end()};
}

VariableSet VariablesOf(const Affine& position) {
  VariableSet variables = 0;
  for (const auto& term : position.terms) variables |= SetOf(term.variable);
  return variables;
}
VariableSet VariablesOf(const Reduce& reduce) {
  VariableSet variables = 0;
  for (const auto& variable : reduce.variables) variables |= SetOf(variable.id);
  return variables;
}

bool IsNumber(const Size& size, int64_t number) { return Polynomial::Of(size).constant() == number; }
bool HasReduction(const Stage& stage) {
  return std::any_of(stage.nodes.begin(), stage.nodes.end(),
                     [](const Node& node) { return std::holds_alternative<Reduce>(node); });
}

std::vector<VariableSet> FreeVariables(const Stage& stage) {
  std::vector<VariableSet> free(stage.nodes.size());
  for (size_t i = 0; i < stage.nodes.size(); ++i) {
    ForEachPosition(stage.nodes[i], [&](const Affine& position) { free[i] |= VariablesOf(position); });
    ForEachArgument(stage.nodes[i], [&](NodeId arg) { free[i] |= free[arg]; });
    if (const auto* reduce = std::get_if<Reduce>(&stage.nodes[i])) free[i] &= ~VariablesOf(*reduce);
  }
  return free;
}

std::vector<bool> Reachable(const Stage& stage) {
  std::vector<bool> reachable(stage.nodes.size());
  if (!reachable.empty()) reachable.back() = true;
  for (size_t i = stage.nodes.size(); i-- > 0;)
    if (reachable[i]) ForEachArgument(stage.nodes[i], [&](NodeId arg) { reachable[arg] = true; });
  return reachable;
}

std::vector<ValueType> TypesOf(const Computation& computation, const Stage& stage) {
  size_t before = 0;
  while (before < computation.stages.size() && &computation.stages[before] != &stage) ++before;
  return TypeInference(computation, before).Of(stage);
}

}  // namespace warpwright::core
