#include "source/units.h"

#include <algorithm>

namespace warpwright::source {
namespace {

unsigned BuiltinAttributes(std::string_view name) {
  if (name == "__global__") return kGlobal;
  if (name == "__device__") return kDevice;
  if (name == "__host__") return kHost;
  if (name == "__constant__") return kConstant;
  if (name == "__managed__") return kManaged;
  if (name == "__shared__") return kShared;
  return 0;
}

std::set<std::string> Identifiers(const std::vector<Token>& tokens, TextRange range) {
  std::set<std::string> names;
  auto it = std::lower_bound(tokens.begin(), tokens.end(), range.begin,
                             [](const Token& token, uint32_t offset) { return token.range.begin < offset; });
  for (; it != tokens.end() && it->range.begin < range.end; ++it) {
    if (it->IsIdentifier()) names.insert(std::string(it->text));
  }
  return names;
}

Macro ReadMacro(const std::vector<Token>& tokens, size_t hash, size_t end) {
  Macro macro;
  macro.name = std::string(tokens[hash + 2].text);
  macro.range = {tokens[hash].range.begin, tokens[end - 1].range.end};
  size_t at = hash + 3;
  if (at < end && tokens[at].Is("(") && tokens[at].range.begin == tokens[hash + 2].range.end) {
    macro.function_like = true;
    for (++at; at < end && !tokens[at].Is(")"); ++at) {
      if (tokens[at].IsIdentifier()) macro.parameters.emplace_back(tokens[at].text);
    }
    ++at;
  }
  int depth = 0;
  for (; at < end; ++at) {
    const Token& token = tokens[at];
    macro.body.push_back(token);
    if (token.Is("##")) macro.pastes = true;
    if (token.Is("{")) ++macro.brace_balance;
    if (token.Is("}")) --macro.brace_balance;
    if (token.Is("(") || token.Is("[")) ++depth;
    if (token.Is(")") || token.Is("]")) --depth;
    if (depth == 0 && (token.Is(";") || token.Is("}"))) macro.declares = true;
  }
  // do { ... } while (0) and ({ ... }) are statements.
  if (!macro.body.empty() && (macro.body[0].Is("do") || macro.body[0].Is("{") || macro.body[0].Is("if") ||
                              macro.body[0].Is("for") || macro.body[0].Is("while") || macro.body[0].Is("switch"))) {
    macro.declares = false;
  }
  if (macro.brace_balance != 0) macro.declares = false;
  return macro;
}

void ReadMacros(const SourceFile& file, FileUnits& units, MacroTable& table) {
  const auto& tokens = units.all;
  for (size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!tokens[i].Is("#") || !tokens[i].in_directive || !tokens[i].starts_line || !tokens[i + 1].Is("define"))
      continue;
    size_t end = i + 3;
    while (end < tokens.size() && tokens[end].in_directive && !(tokens[end].starts_line && tokens[end].Is("#"))) ++end;
    Macro macro = ReadMacro(tokens, i, end);
    macro.path = file.path;
    Unit unit;
    unit.kind = Unit::Kind::kMacro;
    unit.path = file.path;
    unit.name = macro.name;
    unit.names = {macro.name};
    unit.range = macro.range;
    unit.line = tokens[i].line;
    unit.end_line = tokens[end - 1].line;
    for (const Token& token : macro.body) {
      if (token.IsIdentifier()) unit.head_references.insert(std::string(token.text));
    }
    units.units.push_back(std::move(unit));
    table.Add(std::move(macro));
  }
}

// Token lists, scopes and units of one file.
class FileSplitter {
 public:
  FileSplitter(FileUnits& units, const MacroTable& macros, bool in_class)
      : code_(units.code), macros_(macros), in_class_(in_class), units_(units.units) {}
  FileSplitter(const std::vector<Token>& code, const MacroTable& macros, bool in_class, std::vector<Unit>& out)
      : code_(code), macros_(macros), in_class_(in_class), units_(out) {}

  void Run(size_t begin, size_t end) {
    size_t at = begin;
    while (at < end) {
      if (const size_t behind = Scope(at, end); behind != at) {
        at = behind;
        continue;
      }
      Unit unit = ScanUnit(code_, at, end, macros_);
      at = unit.last;
      for (const auto& scope : scopes_) {
        if (scope) unit.scope.push_back(*scope);
      }
      units_.push_back(std::move(unit));
    }
  }

 private:
  bool At(size_t at, size_t end, std::string_view text) const { return at < end && code_[at].Is(text); }

  // Skips tokens that open, close or separate scopes; returns `at` if a unit begins there.
  size_t Scope(size_t at, size_t end) {
    if (code_[at].Is(";")) return at + 1;
    if (code_[at].Is("}")) {
      if (!scopes_.empty()) scopes_.pop_back();
      return at + 1;
    }
    if (in_class_) {
      const bool access = code_[at].Is("public") || code_[at].Is("private") || code_[at].Is("protected");
      if (access && At(at + 1, end, ":")) return at + 2;
      return at;
    }
    if (code_[at].Is("extern") && at + 2 < end && code_[at + 1].kind == Token::Kind::kString && code_[at + 2].Is("{")) {
      scopes_.push_back(std::nullopt);
      return at + 3;
    }
    if (code_[at].IsIdentifier()) {
      const int balance = macros_.BraceBalance(code_[at].text);
      if (balance != 0) {
        for (int i = 0; i < balance; ++i) scopes_.push_back(std::nullopt);
        for (int i = 0; i > balance && !scopes_.empty(); --i) scopes_.pop_back();
        if (At(at + 1, end, "(")) return std::min(end - 1, MatchingBracket(code_, at + 1)) + 1;
        return at + 1;
      }
    }
    return Namespace(at, end);
  }

  size_t Namespace(size_t at, size_t end) {
    size_t i = at;
    if (At(i, end, "inline")) ++i;
    if (!At(i, end, "namespace")) return at;
    std::vector<std::string> names;
    for (++i; i < end && !code_[i].Is("{"); ++i) {
      if (code_[i].Is("=") || code_[i].Is(";")) return at;
      if (code_[i].IsIdentifier()) names.emplace_back(code_[i].text);
    }
    if (i >= end) return at;
    // a::b opens two scopes with one brace: they are one entry of the stack.
    std::string joined;
    for (const std::string& name : names) joined += (joined.empty() ? "" : "::") + name;
    scopes_.push_back(joined);
    return i + 1;
  }

  const std::vector<Token>& code_;
  const MacroTable& macros_;
  bool in_class_;
  std::vector<Unit>& units_;
  std::vector<std::optional<std::string>> scopes_;  // none: a brace that is not a namespace
};

// Reads macro expansions from the syntax tree: names for invocations, and references that only exist after pasting.
void ReadExpansions(const Ast& ast, SourceUnits& units) {
  const auto find = [&](const std::string& path, uint32_t offset) -> Unit* {
    const auto file = units.files.find(path);
    if (file == units.files.end()) return nullptr;
    for (Unit& unit : file->second.units) {
      if (unit.kind != Unit::Kind::kMacro && unit.range.begin <= offset && offset < unit.range.end) return &unit;
    }
    return nullptr;
  };
  ast::ForEachDescendant(ast.root(), [&](CXCursor cursor) {
    const CXCursorKind kind = clang_getCursorKind(cursor);
    if (clang_isPreprocessing(kind)) return false;
    const std::string path = ast::FileOf(cursor);
    if (path.empty()) return clang_getCursorKind(clang_getCursorSemanticParent(cursor)) != CXCursor_TranslationUnit;
    const bool reference = clang_isReference(kind) || kind == CXCursor_DeclRefExpr || kind == CXCursor_MemberRefExpr ||
                           kind == CXCursor_OverloadedDeclRef;
    if ((!clang_isDeclaration(kind) && !reference) || !ast::IsFromMacro(cursor)) return true;
    Unit* unit = find(path, ast::Offsets(cursor).begin);
    if (unit == nullptr) return true;
    const std::string name = ast::Spelling(cursor);
    if (name.empty()) return true;
    if (reference) {
      unit->body_references.insert(name);
    } else if (unit->kind == Unit::Kind::kInvocation) {
      unit->names.insert(name);
    }
    return true;
  });
}

}  // namespace

void MacroTable::Add(Macro macro) {
  any_pastes_ = any_pastes_ || macro.pastes;
  macros_[macro.name].push_back(std::move(macro));
}
const std::vector<Macro>* MacroTable::Find(std::string_view name) const {
  const auto found = macros_.find(name);
  return found == macros_.end() ? nullptr : &found->second;
}
unsigned MacroTable::Attributes(std::string_view name) const {
  unsigned attributes = BuiltinAttributes(name);
  std::set<std::string_view> seen;
  std::vector<std::string_view> open = {name};
  while (!open.empty()) {
    const std::string_view next = open.back();
    open.pop_back();
    const auto* definitions = Find(next);
    if (definitions == nullptr || !seen.insert(next).second) continue;
    for (const Macro& macro : *definitions) {
      for (const Token& token : macro.body) {
        if (!token.IsIdentifier()) continue;
        attributes |= BuiltinAttributes(token.text);
        open.push_back(token.text);
      }
    }
  }
  return attributes;
}
bool MacroTable::Declares(std::string_view name) const {
  const auto* definitions = Find(name);
  return definitions != nullptr &&
         std::any_of(definitions->begin(), definitions->end(), [](const Macro& macro) { return macro.declares; });
}
int MacroTable::BraceBalance(std::string_view name) const {
  const auto* definitions = Find(name);
  return definitions == nullptr ? 0 : definitions->front().brace_balance;
}

std::string Unit::QualifiedName() const {
  std::string qualified;
  for (const std::string& part : scope) {
    if (!part.empty()) qualified += part + "::";
  }
  return qualified + class_path + name;
}

std::vector<Unit> SplitUnits(const std::vector<Token>& code, size_t begin, size_t end, const MacroTable& macros,
                             bool in_class) {
  std::vector<Unit> units;
  FileSplitter(code, macros, in_class, units).Run(begin, end);
  return units;
}

SourceUnits ReadUnits(const Ast& ast) {
  SourceUnits result;
  for (const auto& [path, file] : ast.tree().files) {
    FileUnits& units = result.files[path];
    units.file = &file;
    units.all = Lex(file.text);
    ReadMacros(file, units, result.macros);
  }
  for (auto& [path, units] : result.files) {
    const std::vector<TextRange> inactive = ast.InactiveRanges(path);
    for (const Token& token : units.all) {
      const bool skipped =
          token.in_directive || std::any_of(inactive.begin(), inactive.end(), [&](const TextRange& range) {
            return range.begin <= token.range.begin && token.range.begin < range.end;
          });
      if (!skipped) units.code.push_back(token);
    }
    std::vector<Unit> split = SplitUnits(units.code, 0, units.code.size(), result.macros, /*in_class=*/false);
    for (Unit& unit : split) {
      unit.path = path;
      TextRange body;
      if (unit.body_open != kNone)
        body = {units.code[unit.body_open].range.begin, units.code[unit.body_close].range.end};
      unit.body_references = Identifiers(units.all, body);
      const TextRange before = {unit.range.begin, body.end == 0 ? unit.range.end : body.begin};
      unit.head_references = Identifiers(units.all, before);
      if (body.end != 0) unit.head_references.merge(Identifiers(units.all, {body.end, unit.range.end}));
      units.units.push_back(std::move(unit));
    }
    std::stable_sort(units.units.begin(), units.units.end(),
                     [](const Unit& a, const Unit& b) { return a.range.begin < b.range.begin; });
  }
  bool expansions = result.macros.any_pastes();
  for (const auto& [path, units] : result.files) {
    for (const Unit& unit : units.units) expansions = expansions || unit.kind == Unit::Kind::kInvocation;
  }
  if (expansions) ReadExpansions(ast, result);
  for (const auto& [path, units] : result.files) {
    for (const Unit& unit : units.units) {
      for (const std::string& name : unit.names) result.by_name.emplace(name, &unit);
    }
  }
  return result;
}

}  // namespace warpwright::source
