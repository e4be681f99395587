#include "rewrite/structural.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace warpwright::rewrite {
namespace {

constexpr int kMaxCallDepth = 8;  // of repository functions that call each other

bool HasEffect(const std::string& name) {
  static const std::set<std::string> kNames = {"printf", "assert",  "__assertfail", "__trap",
                                               "clock",  "clock64", "__nanosleep",  "malloc",
                                               "free",   "memcpy",  "memset",       "__brev_sync"};
  if (kNames.contains(name)) return true;
  for (const char* prefix : {"atomic", "__sync", "__shfl", "__ballot", "__any_sync", "__all_sync", "__match",
                             "__reduce", "__threadfence", "__st", "curand", "__pipeline", "cuda"})
    if (name.starts_with(prefix)) return true;
  return name.find("operator()") != std::string::npos;
}

std::optional<core::RewriteRefusal> ImpureCall(const source::Ast& ast, const source::Node& call, int depth);

// Why the function does more than compute its result.
std::string EffectOf(const source::Ast& ast, CXCursor function, int depth) {
  if (depth > kMaxCallDepth) return "calls too deeply to be followed";
  auto syntax = source::BuildSyntax(function);
  if (!syntax) return "cannot be read";
  const AnalyzedFunction analyzed(std::move(*syntax));
  std::string reason;
  source::ForEach(*analyzed.syntax.body, [&](const source::Node& node) {
    if (!reason.empty()) return;
    const CXCursorKind kind = clang_getCursorKind(node.cursor);
    if (kind == CXCursor_GCCAsmStmt || kind == CXCursor_MSAsmStmt) reason = "holds inline assembly";
    if (node.Is(source::NodeKind::kLambda)) reason = "holds a lambda";
    if (node.Is(source::NodeKind::kCall))
      if (const auto impure = ImpureCall(ast, node, depth + 1)) reason = impure->reason;
    if (!node.Is(source::NodeKind::kAssign)) return;
    const source::Node* target = &node[0];
    while (target->Is(source::NodeKind::kMember) && target->size() == 1) target = &(*target)[0];
    const bool local = target->Is(source::NodeKind::kName) && analyzed.analysis.Find(target->symbol) != nullptr &&
                       analyzed.analysis.Find(target->symbol)->type.find('&') == std::string::npos;
    if (!local && !GlobalAccesses(analyzed, *target).empty()) reason = "writes memory";
    else if (!local && target->Is(source::NodeKind::kName)) reason = fmt::format("writes {}", target->name);
  });
  return reason;
}

std::optional<core::RewriteRefusal> ImpureCall(const source::Ast& ast, const source::Node& call, int depth) {
  const std::string name = UnqualifiedName(call.name);
  if (name.starts_with("__builtin")) return std::nullopt;  // INFINITY
  if (name.starts_with(".")) return Refuse(fmt::format("calls the method {}", name.substr(1)), call.line);
  const std::vector<CXCursor> candidates = source::ast::FindFunctions(ast, name);
  for (const CXCursor& candidate : candidates) {
    const std::string effect = EffectOf(ast, candidate, depth);
    if (!effect.empty()) return Refuse(fmt::format("calls {}, which {}", name, effect), call.line);
  }
  if (!candidates.empty()) return std::nullopt;
  if (HasEffect(name)) return Refuse(fmt::format("calls {}", name), call.line);
  const CXCursor referenced = clang_getCursorReferenced(call.cursor);
  if (!clang_Cursor_isNull(referenced)) {
    const bool builtin = source::ast::FileOf(referenced).empty();
    return builtin ? std::nullopt
                   : std::optional(Refuse(fmt::format("calls {}, whose body is not known", name), call.line));
  }
  bool declared = false;
  source::ast::ForEachDescendant(call.cursor, [&](CXCursor child) {
    if (clang_getCursorKind(child) == CXCursor_OverloadedDeclRef && source::ast::Spelling(child) == name)
      declared |= clang_getNumOverloadedDecls(child) > 0;
    return true;
  });
  if (declared) return std::nullopt;
  return Refuse(fmt::format("calls {}, whose body is not known", name), call.line);
}

std::string ElementSpelling(CXCursor access) {
  CXType type = clang_getCanonicalType(clang_getCursorType(access));
  CXString text = clang_getTypeSpelling(clang_getUnqualifiedType(type));
  std::string result = clang_getCString(text);
  clang_disposeString(text);
  for (const char* qualifier : {"const ", "volatile "})
    if (result.starts_with(qualifier)) result = result.substr(std::string_view(qualifier).size());
  return result;
}

// Functions that read exactly the element that their first argument points to.
bool IsLoadCall(const source::Node& node) {
  static const std::set<std::string> kLoads = {"__ldg", "__ldcs", "__ldcg", "__ldca", "__ldlu", "__ldcv"};
  return node.Is(source::NodeKind::kCall) && kLoads.contains(node.name) && node.size() == 1;
}

bool IsPointer(const source::Node& node) {
  const CXTypeKind kind = clang_getCanonicalType(clang_getCursorType(node.cursor)).kind;
  return kind == CXType_Pointer;
}

bool IsDeclaredArray(const source::FunctionAnalysis& analysis, const std::string& symbol) {
  const source::VariableInfo* info = analysis.Find(symbol);
  return info != nullptr && info->declaration != nullptr && info->type.find('[') != std::string::npos;
}

}  // namespace

tl::unexpected<core::RewriteRefusal> RefuseAt(int line, std::string reason) {
  if (line > 0) reason += fmt::format(" (line {})", line);
  return tl::unexpected(core::RewriteRefusal{std::move(reason), line});
}

bool SameExpression(const source::SyntaxFunction& function, const source::Node& a, const source::Node& b) {
  if (a.kind != b.kind || a.name != b.name || a.symbol != b.symbol || a.size() != b.size()) return false;
  if (a.size() == 0 && !a.Is(source::NodeKind::kName)) return function.Text(a) == function.Text(b);  // literals
  for (size_t i = 0; i < a.size(); ++i)
    if (!SameExpression(function, a[i], b[i])) return false;
  return true;
}

bool MentionsSymbol(const source::Node& root, const std::string& symbol) {
  bool found = false;
  source::Walk(root, [&](const source::Node& node) {
    found = found || (node.Is(source::NodeKind::kName) && node.symbol == symbol);
    return !found;
  });
  return found;
}

bool IsLiteral(const source::SyntaxFunction& function, const source::Node& expression, double value) {
  const source::Node* node = &expression;
  while ((node->Is(source::NodeKind::kCast) || node->Is(source::NodeKind::kConstruct) ||
          node->Is(source::NodeKind::kUnary, "+")) &&
         node->size() == 1)
    node = &(*node)[0];
  if (!node->Is(source::NodeKind::kInteger) && !node->Is(source::NodeKind::kFloating)) return false;
  std::string_view text = function.Text(*node);
  while (text.size() > 1 && (text.front() == '(' || text.front() == ' ')) text.remove_prefix(1);
  double parsed = -1;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), parsed);
  return result.ec == std::errc() && parsed == value;
}

uint32_t StatementBegin(const source::SyntaxFunction& function, const source::Node& statement) {
  uint32_t begin = statement.begin;
  for (uint32_t line = LineBegin(function.text, begin); line > function.begin;) {
    const size_t first = function.text.find_first_not_of(" \t", line);
    if (first < begin && begin == statement.begin) break;  // something else is on the statement's line
    line = LineBegin(function.text, line - 1);
    const size_t start = function.text.find_first_not_of(" \t", line);
    if (!function.text.substr(start).starts_with("#pragma")) break;
    begin = static_cast<uint32_t>(start);
  }
  return begin;
}

uint32_t StatementEnd(const source::SyntaxFunction& function, const source::Node& statement) {
  if (statement.Is(source::NodeKind::kBlock) || statement.Is(source::NodeKind::kDeclaration)) return statement.end;
  if (statement.Is(source::NodeKind::kFor) || statement.Is(source::NodeKind::kIf) ||
      statement.Is(source::NodeKind::kWhile)) {
    const source::Node* last = statement.children.back().get();
    if (last->Is(source::NodeKind::kEmpty) && statement.size() > 1 && statement.Is(source::NodeKind::kIf))
      last = &statement[source::kIfThen];
    if (!last->Is(source::NodeKind::kEmpty)) return StatementEnd(function, *last);
  }
  size_t at = statement.end;
  if (at > statement.begin && function.text[at - 1] == ';') return statement.end;
  while (at < function.text.size() && std::isspace(static_cast<unsigned char>(function.text[at]))) ++at;
  return at < function.text.size() && function.text[at] == ';' ? static_cast<uint32_t>(at + 1) : statement.end;
}

bool IsStoreCall(const source::Node& node) {
  static const std::set<std::string> kStores = {"__stcs", "__stcg", "__stwb", "__stwt"};
  return node.Is(source::NodeKind::kCall) && kStores.contains(node.name) && node.size() == 2;
}

std::optional<core::RewriteRefusal> ImpureExpression(const source::Ast& ast, const source::Node& expression) {
  std::optional<core::RewriteRefusal> refusal;
  source::Walk(expression, [&](const source::Node& node) {
    if (refusal) return false;
    if (node.Is(source::NodeKind::kAssign)) refusal = Refuse("assigns inside an expression", node.line);
    if (node.Is(source::NodeKind::kLambda)) refusal = Refuse("holds a lambda", node.line);
    if (node.Is(source::NodeKind::kCall)) refusal = ImpureCall(ast, node, 0);
    if (node.Is(source::NodeKind::kOther)) {
      const CXCursorKind kind = clang_getCursorKind(node.cursor);
      static const std::set<int> kHarmless = {CXCursor_CXXNullPtrLiteralExpr, CXCursor_GNUNullExpr,
                                              CXCursor_StringLiteral, CXCursor_CompoundLiteralExpr,
                                              CXCursor_UnexposedExpr};
      if (!kHarmless.contains(kind) || (kind == CXCursor_UnexposedExpr && node.size() > 1))
        refusal = Refuse("holds an expression that is not understood", node.line);
    }
    return !refusal;
  });
  return refusal;
}

std::vector<MemoryAccess> GlobalAccesses(const AnalyzedFunction& function, const source::Node& root) {
  std::vector<MemoryAccess> accesses;
  const auto add = [&](const source::Node& node, std::optional<source::FunctionAnalysis::Target> target, bool reads,
                       bool writes, std::string element, bool exact) {
    MemoryAccess access{
        .node = &node, .reads = reads, .writes = writes, .element = std::move(element), .line = node.line};
    if (target) {
      if (IsDeclaredArray(function.analysis, target->base)) return;
      access.base = target->base;
      if (exact && !target->reinterpreted) access.index = target->index;
      const source::VariableInfo* info = function.analysis.Find(target->base);
      access.is_restrict = info != nullptr && info->type.find("restrict") != std::string::npos;
    }
    accesses.push_back(std::move(access));
  };
  source::Walk(root, [&](const source::Node& node) {
    if (node.Is(source::NodeKind::kSubscript) || node.Is(source::NodeKind::kUnary, "*")) {
      const bool row =
          node.parent != nullptr && node.parent->Is(source::NodeKind::kSubscript) && &(*node.parent)[0] == &node;
      const bool address = node.parent != nullptr && node.parent->Is(source::NodeKind::kUnary, "&");
      if (!row && !address)
        add(node, function.analysis.Resolve(node), source::IsLoad(node), source::IsWritten(node),
            ElementSpelling(node.cursor), true);
      return true;
    }
    if (!node.Is(source::NodeKind::kCall)) return true;
    for (size_t i = 0; i < node.size(); ++i) {
      const source::Node& argument = node[i];
      if (!IsPointer(argument)) continue;
      const bool local = argument.Is(source::NodeKind::kUnary, "&") && argument[0].Is(source::NodeKind::kName);
      if (local) continue;  // sincosf(x, &s, &c): the analysis counts that as a write of the variable
      const CXType pointee = clang_getPointeeType(clang_getCanonicalType(clang_getCursorType(argument.cursor)));
      CXString text = clang_getTypeSpelling(clang_getUnqualifiedType(pointee));
      const std::string element = clang_getCString(text);
      clang_disposeString(text);
      add(argument, function.analysis.ResolvePointer(argument), !IsStoreCall(node), IsStoreCall(node) && i == 0,
          element, IsLoadCall(node) || IsStoreCall(node));
    }
    return true;
  });
  return accesses;
}

bool IsThreadOrBlockIndex(const source::Node& node) {
  if (!node.Is(source::NodeKind::kMember)) return false;
  for (const char* prefix : {"threadIdx.", "blockIdx.", "blockDim.", "gridDim."})
    if (node.name.starts_with(prefix)) return true;
  return false;
}

bool IsThreadIndex(const source::FunctionAnalysis& analysis, const source::Node& expression, const std::string& axis) {
  const std::string thread_symbol = "threadIdx." + axis, block_symbol = "blockIdx." + axis;
  const source::Polynomial index = analysis.Index(expression);
  const auto thread = index.Coefficient(thread_symbol), block = index.Coefficient(block_symbol);
  if (!thread || !block || thread->constant() != 1 || *block == source::Polynomial()) return false;
  if (index.Without(thread_symbol).Without(block_symbol) != source::Polynomial()) return false;
  const source::Dependence size = analysis.DependsOn(*block);
  return !size.thread && !size.block && !size.memory && !size.unknown;
}

std::vector<const source::Node*> DeclarationsUsedOnlyBy(const AnalyzedFunction& kernel,
                                                        const std::vector<const source::Node*>& consumers) {
  std::vector<const source::Node*> serving;
  const auto is_serving = [&](const source::Node& node) {
    const auto holds = [&](const source::Node* other) { return source::Contains(*other, node); };
    return std::any_of(consumers.begin(), consumers.end(), holds) || std::any_of(serving.begin(), serving.end(), holds);
  };
  for (bool grown = true; grown;) {
    grown = false;
    for (const auto& [symbol, info] : kernel.analysis.variables()) {
      const source::Node* variable = info.declaration;
      if (variable == nullptr || !info.writes.empty() || variable->size() != 1 || variable->parent->size() != 1)
        continue;
      if (is_serving(*variable) || info.uses.empty()) continue;
      bool place = false;
      source::ForEach((*variable)[0], [&](const source::Node& node) { place |= IsThreadOrBlockIndex(node); });
      if (!place ||
          !std::all_of(info.uses.begin(), info.uses.end(), [&](const source::Node* use) { return is_serving(*use); }))
        continue;
      serving.push_back(variable->parent);
      grown = true;
    }
  }
  return serving;
}

std::optional<core::RewriteRefusal> UsesBlockCooperation(const AnalyzedFunction& kernel, std::string_view where) {
  std::optional<core::RewriteRefusal> refusal;
  source::ForEach(*kernel.syntax.body, [&](const source::Node& node) {
    if (refusal) return;
    const auto at = [&](std::string reason) { refusal = RefuseAt(node.line, std::move(reason)).value(); };
    if (node.Is(source::NodeKind::kCall)) {
      for (const char* prefix : {"__syncthreads", "__shfl", "__syncwarp", "__ballot", "__reduce"})
        if (node.name.starts_with(prefix))
          at(fmt::format("already parallel {}: the threads work together ({})", where, node.name));
      if (!refusal && node.name.starts_with("atomic")) at(fmt::format("uses {}", node.name));
    }
    if (node.Is(source::NodeKind::kVariable) && source::ast::HasAttribute(node.cursor, CXCursor_CUDASharedAttr))
      at(fmt::format("already parallel {}: the threads share {}", where, node.name));
    const CXCursorKind kind = clang_getCursorKind(node.cursor);
    if (kind == CXCursor_GCCAsmStmt) at("holds inline assembly");
    if (kind == CXCursor_GotoStmt || kind == CXCursor_LabelStmt) at("jumps with goto");
  });
  return refusal;
}

bool MayAlias(const MemoryAccess& a, const MemoryAccess& b) {
  if (a.base.empty() || b.base.empty() || a.base == b.base) return true;
  return !a.is_restrict && !b.is_restrict && a.element == b.element;
}

std::string Unwrapped(const std::string& expression) {
  const std::vector<source::Token> tokens = source::Lex(expression);
  if (tokens.size() < 3 || tokens[0].text != "(" || source::MatchingBracket(tokens, 0) != tokens.size() - 1)
    return expression;
  return Unwrapped(
      expression.substr(tokens[1].range.begin, tokens[tokens.size() - 2].range.end - tokens[1].range.begin));
}

std::string CeilDivText(const LaunchSite& launch, const std::string& count, int divisor) {
  std::string helper;
  for (const size_t axis : {0, 1, 2}) {
    const auto part = FindAxis(launch, LaunchAxisGroup::kGrid, axis);
    if (!part) continue;
    const std::string_view text = launch.host->syntax.Text(*part->expression);
    const std::vector<source::Token> tokens = source::Lex(text);
    if (tokens.size() < 4 || tokens[1].text != "(" || source::MatchingBracket(tokens, 1) != tokens.size() - 1) continue;
    std::string lower(tokens[0].text);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const bool up = lower.find("ceil") != std::string::npos || lower.find("up") != std::string::npos || lower == "cdiv";
    if (lower.find("div") != std::string::npos && up) helper = tokens[0].text;
  }
  if (!helper.empty()) return fmt::format("{}({}, {})", helper, Unwrapped(count), divisor);
  const bool simple = Unwrapped(count) != count || std::all_of(count.begin(), count.end(), [](char c) {
                        return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
                      });
  return fmt::format("({} + {}) / {}", simple ? count : "(" + count + ")", divisor - 1, divisor);
}

void AdaptKernelHead(const source::SyntaxFunction& kernel, const std::string& name, Edits& edits) {
  const std::vector<source::Token> tokens =
      source::Lex(kernel.text.substr(kernel.begin, kernel.body->begin - kernel.begin));
  std::optional<uint32_t> renamed;  // offset of the old name
  uint32_t removed = 0;             // bytes of its line that are removed
  for (size_t i = 0; i < tokens.size(); ++i) {
    const uint32_t begin = kernel.begin + tokens[i].range.begin;
    if (tokens[i].text == "__launch_bounds__" && i + 1 < tokens.size()) {
      const size_t close = source::MatchingBracket(tokens, i + 1);
      if (close >= tokens.size()) continue;
      uint32_t end = kernel.begin + tokens[close].range.end;
      while (std::isspace(static_cast<unsigned char>(kernel.text[end]))) ++end;
      edits.Replace(begin, end, "");
      if (!renamed) removed += end - begin;
      i = close;
    } else if (tokens[i].text == kernel.name && !renamed) {
      edits.Replace(begin, begin + static_cast<uint32_t>(kernel.name.size()), name);
      renamed = begin;
    }
  }
  if (!renamed) return;
  // Parameters on further lines stay aligned with the first.
  const size_t open = kernel.text.find('(', *renamed);
  const size_t column = open + 1 - LineBegin(kernel.text, static_cast<uint32_t>(open));
  for (uint32_t at = static_cast<uint32_t>(open); at < kernel.body->begin; ++at) {
    if (kernel.text[at] != '\n') continue;
    const size_t text = kernel.text.find_first_not_of(' ', at + 1);
    if (text != at + 1 + column || kernel.text[text] == '{') continue;
    const size_t wanted = column + name.size() - kernel.name.size() - std::min<size_t>(removed, column);
    edits.Replace(at + 1, static_cast<uint32_t>(text), std::string(wanted, ' '));
  }
}

void InsertRewrittenKernel(const KernelSite& site, const std::string& name, const std::string& kernel_text,
                           const std::string& helpers, Edits& edits) {
  const source::SyntaxFunction& old = site.function();
  if (!helpers.empty()) edits.Insert(WithLeadingComment(site.text, old.begin), helpers);
  if (site.shared) edits.Insert(old.end, "\n\n" + kernel_text);
  else edits.Replace(old.begin, old.end, kernel_text);
  for (const auto* uses : {&site.launches, &site.mentions}) {
    for (const LaunchSite& use : *uses) {
      for (const source::Token& token :
           source::Lex(site.text.substr(use.launch->begin, use.launch->end - use.launch->begin))) {
        if (token.text != old.name) continue;
        edits.Replace(use.launch->begin + token.range.begin, use.launch->begin + token.range.end, name);
        break;
      }
    }
  }
}

}  // namespace warpwright::rewrite
