#include "source/units.h"

#include <algorithm>

namespace warpwright::source {
namespace {

std::set<std::string> Identifiers(const std::vector<Token>& tokens, TextRange range) {
  std::set<std::string> names;
  auto it = std::lower_bound(tokens.begin(), tokens.end(), range.begin,
                             [](const Token& token, uint32_t offset) { return token.range.begin < offset; });
  for (; it != tokens.end() && it->range.begin < range.end; ++it) {
    if (it->IsIdentifier()) names.insert(std::string(it->text));
  }
  return names;
}

void ReadMacros(const SourceFile& file, const std::vector<TextRange>& inactive, FileUnits& units, MacroTable& table) {
  for (Macro& macro : FindMacros(units.all, file.path, inactive)) {
    Unit unit;
    unit.kind = Unit::Kind::kMacro;
    unit.path = file.path;
    unit.name = macro.name;
    unit.names = {macro.name};
    unit.range = macro.range;
    unit.line = macro.line;
    unit.end_line = macro.end_line;
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
        if (scope.name) unit.scope.push_back(*scope.name);
        if (!unit.linkage) unit.linkage = scope.linkage;
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
      scopes_.push_back({std::nullopt, code_[at].range.begin});
      return at + 3;
    }
    if (code_[at].IsIdentifier()) {
      const int balance = macros_.BraceBalance(code_, at);
      if (balance < 0 || (balance > 0 && macros_.OpensScope(code_[at].text))) {
        for (int i = 0; i < balance; ++i) scopes_.emplace_back();
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
    scopes_.push_back({joined, std::nullopt});
    return i + 1;
  }

  const std::vector<Token>& code_;
  const MacroTable& macros_;
  bool in_class_;
  std::vector<Unit>& units_;
  struct OpenScope {
    std::optional<std::string> name;  // none: a brace that is not a namespace
    std::optional<uint32_t> linkage;  // of extern "C": where it begins
  };
  std::vector<OpenScope> scopes_;
};

// Reads macro expansions from the syntax tree: names for invocations, functions whose header a macro makes, and
// references that only exist after pasting.
class ExpansionReader {
 public:
  ExpansionReader(const Ast& ast, SourceUnits& units) : ast_(ast), units_(units) {}

  void Run() {
    ast::ForEachDescendant(ast_.root(), [&](CXCursor cursor) {
      const CXCursorKind kind = clang_getCursorKind(cursor);
      if (clang_isPreprocessing(kind)) return false;
      const std::string path = ast::FileOf(cursor);
      if (path.empty()) return clang_getCursorKind(clang_getCursorSemanticParent(cursor)) != CXCursor_TranslationUnit;
      const bool reference = clang_isReference(kind) || kind == CXCursor_DeclRefExpr ||
                             kind == CXCursor_MemberRefExpr || kind == CXCursor_OverloadedDeclRef;
      if ((!clang_isDeclaration(kind) && !reference) || !ast::IsFromMacro(cursor)) return true;
      FileUnits* file = nullptr;
      Unit* unit = Find(path, ast::Offsets(cursor).begin, &file);
      if (unit == nullptr) return true;
      const std::string name = ast::Spelling(cursor);
      if (name.empty()) return true;
      if (reference) {
        unit->body_references.insert(name);
        return true;
      }
      if (unit->kind == Unit::Kind::kInvocation) unit->names.insert(name);
      const bool lacks_header = unit->macro_header || unit->opened_by_macro();
      if (lacks_header && !unit->expanded && ast::IsFunction(cursor)) Header(*file, *unit, cursor);
      return true;
    });
  }

 private:
  Unit* Find(const std::string& path, uint32_t offset, FileUnits** file) {
    const auto found = units_.files.find(path);
    if (found == units_.files.end()) return nullptr;
    *file = &found->second;
    for (Unit& unit : found->second.units) {
      if (unit.kind != Unit::Kind::kMacro && unit.range.begin <= offset && offset < unit.range.end) return &unit;
    }
    return nullptr;
  }

  // Of the functions that a macro makes, the one whose body this is.
  static void Header(const FileUnits& file, Unit& unit, CXCursor function) {
    if (unit.body_close != kNone && ast::Offsets(function).end < file.code[unit.body_close].range.begin) return;
    unit.expanded.emplace();
    for (const CXCursor parameter : ast::Parameters(function))
      unit.expanded->push_back({ast::Spelling(parameter), ast::TypeSpelling(parameter).ends_with("...")});
    unit.name = ast::Spelling(function);
    unit.names.insert(unit.name);
  }

  const Ast& ast_;
  SourceUnits& units_;
};

// Notes which macros the units invoke as declarations, directly or in the bodies of others.
class InvocationFinder {
 public:
  explicit InvocationFinder(SourceUnits& units) : units_(units) {}

  void Visit(const std::vector<Token>& code, const std::vector<Unit>& units, const Macro* within) {
    for (const Unit& unit : units) {
      if (unit.kind == Unit::Kind::kInvocation) {
        // Its arguments too: "OPERATIONS(DEFINE)".
        const size_t end = unit.opened_by_macro() ? unit.body_open + 1 : unit.last;
        for (size_t i = unit.first; i < end; ++i) Invoke(code, i, within);
        if (unit.opened_by_macro()) Invoke(code, unit.body_close, within);
      } else if (unit.kind == Unit::Kind::kType && unit.body_open != kNone) {
        Visit(code, SplitUnits(code, unit.body_open + 1, unit.body_close, units_.macros, /*in_class=*/true), within);
      }
    }
  }

 private:
  void Invoke(const std::vector<Token>& code, size_t at, const Macro* within) {
    const std::string_view name = code[at].text;
    const auto* definitions = units_.macros.Find(name);
    if (definitions == nullptr || (within != nullptr && within->HasParameter(name))) return;
    if (!units_.declaring_macros.insert(std::string(name)).second) return;
    for (const Macro& macro : *definitions)
      Visit(macro.body, SplitUnits(macro.body, 0, macro.body.size(), units_.macros, /*in_class=*/false), &macro);
  }

  SourceUnits& units_;
};

}  // namespace

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
  std::map<std::string, std::vector<TextRange>> inactive_ranges;
  for (const auto& [path, file] : ast.tree().files) {
    FileUnits& units = result.files[path];
    units.file = &file;
    units.all = Lex(file.text);
    inactive_ranges[path] = ast.InactiveRanges(path);
    ReadMacros(file, inactive_ranges[path], units, result.macros);
  }
  for (auto& [path, units] : result.files) {
    const std::vector<TextRange>& inactive = inactive_ranges[path];
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
    for (const Unit& unit : units.units)
      expansions = expansions || unit.kind == Unit::Kind::kInvocation || unit.macro_header;
  }
  if (expansions) ExpansionReader(ast, result).Run();
  for (const auto& [path, units] : result.files) InvocationFinder(result).Visit(units.code, units.units, nullptr);
  for (const auto& [path, units] : result.files) {
    for (const Unit& unit : units.units) {
      for (const std::string& name : unit.names) result.by_name.emplace(name, &unit);
    }
  }
  return result;
}

}  // namespace warpwright::source
