#include "source/analysis.h"

#include <algorithm>

namespace warpwright::source {
namespace {

constexpr int kMaxDefinitionDepth = 64;  // of definitions that refer to other definitions

std::optional<int64_t> Evaluate(CXCursor cursor) {
  CXEvalResult result = clang_Cursor_Evaluate(cursor);
  if (result == nullptr) return std::nullopt;
  std::optional<int64_t> value;
  if (clang_EvalResult_getKind(result) == CXEval_Int) value = clang_EvalResult_getAsLongLong(result);
  clang_EvalResult_dispose(result);
  return value;
}

bool IsBuiltin(std::string_view name) {
  return name.starts_with("threadIdx.") || name.starts_with("blockIdx.") || name.starts_with("blockDim.") ||
         name.starts_with("gridDim.");
}

bool IsIntegerType(const Node& node) {
  const CXTypeKind kind = clang_getCanonicalType(clang_getCursorType(node.cursor)).kind;
  return kind >= CXType_Bool && kind <= CXType_Int128;
}

// The operators that a loop increment can use.
struct Step {
  const Node* amount = nullptr;
  bool down = false;
  bool valid = false;
};
Step StepOf(const Node& increment, const std::string& variable) {
  if (!increment.Is(NodeKind::kAssign) || !increment[0].Is(NodeKind::kName) || increment[0].symbol != variable)
    return {};
  if (increment.name == "++") return {nullptr, false, true};
  if (increment.name == "--") return {nullptr, true, true};
  if (increment.name == "+=") return {&increment[1], false, true};
  if (increment.name == "-=") return {&increment[1], true, true};
  if (increment.name != "=" || !increment[1].Is(NodeKind::kBinary, "+")) return {};
  const Node& sum = increment[1];
  for (size_t side : {0, 1})
    if (sum[side].Is(NodeKind::kName) && sum[side].symbol == variable) return {&sum[1 - side], false, true};
  return {};
}

std::string Mirrored(const std::string& relation) {
  if (relation == "<") return ">";
  if (relation == "<=") return ">=";
  if (relation == ">") return "<";
  if (relation == ">=") return "<=";
  return relation;
}

}  // namespace

bool IsAtomic(const Node& node) { return node.Is(NodeKind::kCall) && node.name.starts_with("atomic"); }

const Node& StripCasts(const Node& expression) {
  const Node* node = &expression;
  while (node->Is(NodeKind::kCast) && node->size() == 1) node = &(*node)[0];
  return *node;
}

bool IsThreadSymbol(std::string_view symbol) { return symbol.starts_with("threadIdx."); }
bool IsBlockSymbol(std::string_view symbol) { return symbol.starts_with("blockIdx."); }

bool IsWritten(const Node& access) {
  const Node* parent = access.parent;
  if (parent == nullptr) return false;
  if (parent->Is(NodeKind::kAssign)) return &(*parent)[0] == &access;
  if (parent->Is(NodeKind::kMember)) return IsWritten(*parent);  // out4[i].x = ...
  return parent->Is(NodeKind::kUnary, "&") && parent->parent != nullptr && IsAtomic(*parent->parent);
}

bool IsLoad(const Node& node) {
  if (!node.Is(NodeKind::kSubscript) && !node.Is(NodeKind::kUnary, "*")) return false;
  const Node* parent = node.parent;
  if (parent == nullptr) return true;
  if (parent->Is(NodeKind::kSubscript) && &(*parent)[0] == &node) return false;  // a row of an array of arrays
  if (parent->Is(NodeKind::kUnary, "&")) return false;
  return !(parent->Is(NodeKind::kAssign, "=") && &(*parent)[0] == &node);
}

FunctionAnalysis::FunctionAnalysis(const SyntaxFunction& function) : function_(function) {
  for (const SyntaxParameter& parameter : function.parameters) {
    VariableInfo& info = variables_[parameter.symbol];
    info.name = parameter.name;
    info.type = parameter.type;
    info.parameter = &parameter;
  }
  ForEach(*function.body, [&](const Node& node) {
    if (!node.Is(NodeKind::kVariable)) return;
    VariableInfo& info = variables_[node.symbol];
    info.name = node.name;
    info.type = node.type;
    info.declaration = &node;
  });
  ForEach(*function.body, [&](const Node& node) { Record(node); });
  ForEach(*function.body, [&](const Node& node) {
    if (!node.Is(NodeKind::kFor)) return;
    if (const auto loop = Counted(node)) variables_[loop->variable].counted_loop = &node;
  });
}

void FunctionAnalysis::Record(const Node& node) {
  if (!node.Is(NodeKind::kName)) return;
  const auto found = variables_.find(node.symbol);
  if (found == variables_.end()) return;
  found->second.uses.push_back(&node);
  const Node* parent = node.parent;
  const Node* child = &node;
  while (parent != nullptr &&
         (parent->Is(NodeKind::kMember) || (parent->Is(NodeKind::kSubscript) && child == &(*parent)[0]))) {
    if (parent->Is(NodeKind::kSubscript) && found->second.type.find('*') != std::string::npos)
      return;  // writes the pointee
    child = parent;
    parent = parent->parent;
  }
  if (parent == nullptr) return;
  const bool target = parent->Is(NodeKind::kAssign) && &(*parent)[0] == child;
  const bool method = parent->Is(NodeKind::kCall) && parent->name.starts_with(".") && &(*parent)[0] == child;
  if (target || method || parent->Is(NodeKind::kUnary, "&")) found->second.writes.push_back(parent);
  // A function may take it by reference; a scalar passed to an unknown function counts as unchanged only if its
  // declaration guarantees it.
  if (parent->Is(NodeKind::kCall) && !method) {
    const CXCursor callee = clang_getCursorReferenced(parent->cursor);
    const int count = clang_Cursor_getNumArguments(callee);
    for (size_t i = 0; i < parent->size() && static_cast<int>(i) < count; ++i) {
      if (&(*parent)[i] != child) continue;
      const CXType type = clang_getCursorType(clang_Cursor_getArgument(callee, static_cast<unsigned>(i)));
      if (type.kind == CXType_LValueReference && clang_isConstQualifiedType(clang_getPointeeType(type)) == 0)
        found->second.writes.push_back(parent);
    }
  }
}

const VariableInfo* FunctionAnalysis::Find(const std::string& symbol) const {
  const auto found = variables_.find(symbol);
  return found == variables_.end() ? nullptr : &found->second;
}

const Node* FunctionAnalysis::Definition(const std::string& symbol) const {
  const VariableInfo* info = Find(symbol);
  if (info == nullptr || info->declaration == nullptr || !info->writes.empty() || info->declaration->size() != 1)
    return nullptr;
  return &(*info->declaration)[0];
}

// Equal texts over values that never change are equal; everything else is different at every occurrence.
Polynomial FunctionAnalysis::Opaque(const Node& expression) const {
  bool stable = true;
  ForEach(expression, [&](const Node& node) {
    if (IsLoad(node) || node.Is(NodeKind::kCall) || node.Is(NodeKind::kAssign) || node.Is(NodeKind::kOther))
      stable = false;
    const VariableInfo* info = node.Is(NodeKind::kName) ? Find(node.symbol) : nullptr;
    if (info == nullptr) return;
    const bool parameter = info->parameter != nullptr && info->writes.empty();
    if (!parameter && Definition(node.symbol) == nullptr) stable = false;
  });
  std::string symbol = "{" + std::string(function_.Text(expression));
  symbol += stable ? "}" : "@" + std::to_string(expression.begin) + "}";
  opaque_[symbol] = &expression;
  return Polynomial::Symbol(std::move(symbol));
}

const Node* FunctionAnalysis::OpaqueExpression(const std::string& symbol) const {
  const auto found = opaque_.find(symbol);
  return found == opaque_.end() ? nullptr : found->second;
}

Polynomial FunctionAnalysis::IndexOfName(const Node& name) const {
  if (const auto value = Fold(name)) return Polynomial::Constant(*value);
  const VariableInfo* info = Find(name.symbol);
  if (info == nullptr) return Polynomial::Symbol(name.symbol);
  // One variable may be the counter of several loops in sequence.
  const Node* around = info->counted_loop == nullptr ? nullptr : name.parent;
  std::optional<CountedLoop> loop;
  for (; around != nullptr && !loop; around = around->parent) {
    loop = Counted(*around);
    if (loop && loop->variable != name.symbol) loop.reset();
  }
  if (loop) {
    const Polynomial step = loop->step == nullptr ? Polynomial::Constant(1) : Index(*loop->step);
    const Polynomial walked = step * Polynomial::Symbol(name.symbol + "#");
    return loop->down ? Index(*loop->start) - walked : Index(*loop->start) + walked;
  }
  if (const Node* definition = Definition(name.symbol)) {
    const Node& value = StripCasts(*definition);
    // A loaded value keeps the variable's name: two loads of one location need not return the same value.
    if (!IsLoad(value) && !value.Is(NodeKind::kCall)) return Index(*definition);
  }
  return Polynomial::Symbol(name.symbol);
}

Polynomial FunctionAnalysis::Index(const Node& expression) const {
  if (depth_ >= kMaxDefinitionDepth) return Opaque(expression);
  const DepthGuard guard(depth_);
  switch (expression.kind) {
    case NodeKind::kInteger:
    case NodeKind::kSizeof:
      if (const auto value = Fold(expression)) return Polynomial::Constant(*value);
      return Opaque(expression);
    case NodeKind::kName: return IndexOfName(expression);
    case NodeKind::kMember:
      return IsBuiltin(expression.name) ? Polynomial::Symbol(expression.name) : Opaque(expression);
    case NodeKind::kCast:
      if (expression.size() == 1 && (IsIntegerType(expression) || expression.type.find("type-parameter") == 0))
        return Index(expression[0]);
      return Opaque(expression);
    case NodeKind::kUnary:
      if (expression.name == "-") return Polynomial() - Index(expression[0]);
      if (expression.name == "+") return Index(expression[0]);
      return Opaque(expression);
    case NodeKind::kBinary: {
      if (expression.name == "+") return Index(expression[0]) + Index(expression[1]);
      if (expression.name == "-") return Index(expression[0]) - Index(expression[1]);
      if (expression.name == "*") return Index(expression[0]) * Index(expression[1]);
      if (const auto value = Fold(expression)) return Polynomial::Constant(*value);
      const auto shift = expression.name == "<<" ? Fold(expression[1]) : std::nullopt;
      if (shift && *shift >= 0 && *shift < 62) return Index(expression[0]) * Polynomial::Constant(int64_t{1} << *shift);
      return Opaque(expression);
    }
    default: return Opaque(expression);
  }
}

void FunctionAnalysis::Depend(const Node& expression, Dependence& result, int depth) const {
  if (depth > kMaxDefinitionDepth) {
    result.unknown = true;
    return;
  }
  Walk(expression, [&](const Node& node) {
    if (IsLoad(node)) result.memory = true;
    if (node.Is(NodeKind::kMember) && IsBuiltin(node.name)) {
      result.thread |= IsThreadSymbol(node.name);
      result.block |= IsBlockSymbol(node.name);
      result.symbols.insert(node.name);
      return false;
    }
    if (!node.Is(NodeKind::kName) || !result.symbols.insert(node.symbol).second) return true;
    const VariableInfo* info = Find(node.symbol);
    if (info == nullptr) return true;
    if (info->declaration != nullptr)
      for (const auto& child : info->declaration->children) Depend(*child, result, depth + 1);
    for (const Node* write : info->writes) {
      if (write->Is(NodeKind::kAssign) && write->size() == 2) Depend((*write)[1], result, depth + 1);
      if (write->Is(NodeKind::kCall) || write->Is(NodeKind::kUnary)) result.unknown = true;
    }
    return true;
  });
}

Dependence FunctionAnalysis::DependsOn(const Node& expression) const {
  Dependence result;
  Depend(expression, result, 0);
  return result;
}

Dependence FunctionAnalysis::DependsOn(const Polynomial& index) const {
  Dependence result;
  for (const std::string& symbol : index.Symbols()) {
    result.thread |= IsThreadSymbol(symbol);
    result.block |= IsBlockSymbol(symbol);
    result.symbols.insert(symbol);
    const auto opaque = opaque_.find(symbol);
    if (opaque != opaque_.end()) Depend(*opaque->second, result, 0);
    const VariableInfo* info = Find(symbol);
    if (info == nullptr || info->declaration == nullptr) continue;
    for (const auto& child : info->declaration->children) Depend(*child, result, 0);
    for (const Node* write : info->writes)
      if (write->Is(NodeKind::kAssign) && write->size() == 2) Depend((*write)[1], result, 0);
  }
  return result;
}

std::optional<int64_t> FunctionAnalysis::Fold(const Node& expression) const {
  if (depth_ >= kMaxDefinitionDepth) return std::nullopt;
  const DepthGuard guard(depth_);
  switch (expression.kind) {
    case NodeKind::kInteger:
    case NodeKind::kSizeof: return Evaluate(expression.cursor);
    case NodeKind::kCast:
      return expression.size() == 1 && IsIntegerType(expression) ? Fold(expression[0]) : std::nullopt;
    case NodeKind::kUnary: {
      const auto value = expression.name == "-" || expression.name == "+" ? Fold(expression[0]) : std::nullopt;
      return value && expression.name == "-" ? std::optional(-*value) : value;
    }
    case NodeKind::kName: {
      const CXCursor declaration = clang_getCursorReferenced(expression.cursor);
      if (clang_getCursorKind(declaration) == CXCursor_EnumConstantDecl)
        return clang_getEnumConstantDeclValue(declaration);
      if (clang_getCursorKind(declaration) != CXCursor_VarDecl) return std::nullopt;
      if (const Node* definition = Definition(expression.symbol)) return Fold(*definition);
      if (clang_isConstQualifiedType(clang_getCursorType(declaration)) == 0) return std::nullopt;
      return Find(expression.symbol) == nullptr ? Evaluate(declaration) : std::nullopt;
    }
    case NodeKind::kBinary: {
      if (expression.size() != 2) return std::nullopt;
      const auto a = Fold(expression[0]), b = Fold(expression[1]);
      if (!a || !b || std::abs(*a) > INT32_MAX || std::abs(*b) > INT32_MAX) return std::nullopt;
      if (expression.name == "+") return *a + *b;
      if (expression.name == "-") return *a - *b;
      if (expression.name == "*") return *a * *b;
      if (expression.name == "/" && *b != 0) return *a / *b;
      if (expression.name == "%" && *b != 0) return *a % *b;
      if (expression.name == "<<" && *b >= 0 && *b < 31) return *a << *b;
      if (expression.name == ">>" && *b >= 0 && *b < 31) return *a >> *b;
      return std::nullopt;
    }
    default: return std::nullopt;
  }
}

std::optional<CountedLoop> FunctionAnalysis::Counted(const Node& loop) const {
  if (!loop.Is(NodeKind::kFor) || loop.size() != 4) return std::nullopt;
  CountedLoop result;
  result.loop = &loop;
  const Node& init = loop[kLoopInit];
  if (init.Is(NodeKind::kDeclaration) && init.size() == 1 && init[0].size() == 1) {
    result.variable = init[0].symbol;
    result.name = init[0].name;
    result.type = init[0].type;
    result.start = &init[0][0];
    result.declares = true;
  } else if (init.Is(NodeKind::kAssign, "=") && init[0].Is(NodeKind::kName)) {
    result.variable = init[0].symbol;
    result.name = init[0].name;
    result.start = &init[1];
    if (const VariableInfo* info = Find(result.variable)) result.type = info->type;
  } else {
    return std::nullopt;
  }
  const Node& condition = loop[kLoopCondition];
  static const std::set<std::string> kRelations = {"<", "<=", ">", ">=", "!="};
  if (!condition.Is(NodeKind::kBinary) || !kRelations.contains(condition.name)) return std::nullopt;
  const auto is_variable = [&](const Node& side) {
    const Node& name = StripCasts(side);
    return name.Is(NodeKind::kName) && name.symbol == result.variable;
  };
  if (is_variable(condition[0])) {
    result.bound = &condition[1];
    result.relation = condition.name;
  } else if (is_variable(condition[1])) {
    result.bound = &condition[0];
    result.relation = Mirrored(condition.name);
  } else {
    return std::nullopt;
  }
  const Step step = StepOf(loop[kLoopIncrement], result.variable);
  const VariableInfo* info = Find(result.variable);
  if (!step.valid || info == nullptr) return std::nullopt;
  result.step = step.amount;
  result.down = step.down;
  // Nothing else may write the variable inside the loop.
  for (const Node* write : info->writes) {
    if (write == &loop[kLoopIncrement] || write == &init) continue;
    if (Contains(loop, *write)) return std::nullopt;
  }
  return result;
}

std::optional<int64_t> FunctionAnalysis::TripCount(const CountedLoop& loop) const {
  const auto start = Fold(*loop.start), bound = Fold(*loop.bound);
  const auto step = loop.step == nullptr ? std::optional<int64_t>(1) : Fold(*loop.step);
  if (!start || !bound || !step || *step <= 0) return std::nullopt;
  int64_t distance = loop.down ? *start - *bound : *bound - *start;
  if (loop.relation == "<=" || loop.relation == ">=") ++distance;
  const bool runs_down = loop.relation == ">" || loop.relation == ">=";
  if (loop.relation != "!=" && runs_down != loop.down) return std::nullopt;
  return distance <= 0 ? 0 : (distance + *step - 1) / *step;
}

namespace {

bool CollectLimits(const Node& condition, bool returns, std::vector<BoundsGuard::Limit>& limits) {
  if (condition.Is(NodeKind::kBinary, returns ? "||" : "&&"))
    return CollectLimits(condition[0], returns, limits) && CollectLimits(condition[1], returns, limits);
  if (!condition.Is(NodeKind::kBinary)) return false;
  const std::string straight = returns ? ">=" : "<", mirrored = returns ? "<=" : ">";
  if (condition.name == straight) limits.push_back({&condition[0], &condition[1]});
  else if (condition.name == mirrored) limits.push_back({&condition[1], &condition[0]});
  else return false;
  return true;
}

}  // namespace

std::optional<BoundsGuard> AsBoundsGuard(const Node& statement) {
  if (!statement.Is(NodeKind::kIf) || !statement[kIfElse].Is(NodeKind::kEmpty)) return std::nullopt;
  const Node* then = &statement[kIfThen];
  while (then->Is(NodeKind::kBlock) && then->size() == 1) then = &(*then)[0];
  BoundsGuard guard;
  guard.statement = &statement;
  guard.returns_early = then->Is(NodeKind::kReturn) && then->size() == 0;
  if (!CollectLimits(statement[kIfCondition], guard.returns_early, guard.limits)) return std::nullopt;
  return guard;
}

}  // namespace warpwright::source
