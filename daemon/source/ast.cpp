#include "source/ast.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace warpwright::source {
namespace embedded {
const std::map<std::string_view, std::string_view>& ParseShim();
}
namespace {

// A folder that does not exist: everything that the parser sees is passed as unsaved files.
constexpr std::string_view kRoot = "/warpwright-source/";
constexpr std::string_view kShim = "/warpwright-shim/";
// What the project's build defines; our own declarations, which come before, do not depend on it.
constexpr std::string_view kDefines = "/warpwright-shim/build_defines.h";

struct DisposeIndex {
  void operator()(void* index) const { clang_disposeIndex(index); }
};
struct DisposeUnit {
  void operator()(CXTranslationUnit unit) const { clang_disposeTranslationUnit(unit); }
};

// Unresolved include directives are blanked (computed ones, and names that could make the parser open a file), so that
// offsets are unchanged and nothing outside the passed files is read.
std::string WithoutUnsafeIncludes(const SourceFile& file) {
  std::string text = file.text;
  for (const IncludeDirective& include : file.includes) {
    const bool safe = !include.resolved.empty() ||
                      (!include.name.empty() && include.name[0] != '/' && include.name.find("..") == std::string::npos);
    if (safe) continue;
    for (uint32_t i = include.line_range.begin; i < include.line_range.end; ++i) {
      if (text[i] != '\n') text[i] = ' ';
    }
  }
  return text;
}

// Those that the build names come first, as when the directives were resolved.
std::vector<std::string> IncludeFolders(const core::BuildOptions& build, const SourceTree& tree) {
  std::vector<std::string> ordered;
  for (const std::string& folder : build.include) ordered.push_back(std::string(kRoot) + folder);
  std::set<std::string> folders = {std::string(kRoot)};
  for (const auto& [path, file] : tree.files) {
    for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      folders.insert(std::string(kRoot) + path.substr(0, slash));
    }
  }
  ordered.insert(ordered.end(), folders.begin(), folders.end());
  return ordered;
}

TextRange RangeOf(CXSourceRange range) {
  unsigned begin = 0, end = 0;
  clang_getExpansionLocation(clang_getRangeStart(range), nullptr, nullptr, nullptr, &begin);
  clang_getExpansionLocation(clang_getRangeEnd(range), nullptr, nullptr, nullptr, &end);
  return {begin, std::max(begin, end)};
}

std::string FileName(CXSourceLocation location) {
  CXFile file = nullptr;
  clang_getExpansionLocation(location, &file, nullptr, nullptr, nullptr);
  if (file == nullptr) return {};
  std::string name = ast::ToString(clang_getFileName(file));
  // "a/../b.h" if the include was written that way.
  if (name.starts_with(kRoot)) {
    return std::filesystem::path(name.substr(kRoot.size())).lexically_normal().generic_string();
  }
  return {};
}

}  // namespace

struct Ast::State {
  core::SourceRef source;
  SourceTree tree;
  std::unique_ptr<void, DisposeIndex> index;
  std::unique_ptr<std::remove_pointer_t<CXTranslationUnit>, DisposeUnit> unit;  // destroyed before its index
};

Ast::Ast(std::unique_ptr<State> state) : state_(std::move(state)) {}
Ast::Ast(Ast&&) noexcept = default;
Ast& Ast::operator=(Ast&&) noexcept = default;
Ast::~Ast() = default;

Result<Ast> Ast::Parse(const core::SourceRef& source) {
  auto state = std::make_unique<State>();
  state->source = source;
  WW_ASSIGN(state->tree, ReadSourceTree(source));

  std::map<std::string, std::string> files;
  for (const auto& [name, text] : embedded::ParseShim()) files[std::string(kShim) + std::string(name)] = text;
  files[std::string(kDefines)] = source.build.Directives();
  if (source.build.flags.contains(core::BuildFlag::kHopperAlone))
    files[std::string(kDefines)] += fmt::format("#define {} 1\n", core::kHopperAloneMacro);
  for (const auto& [path, file] : state->tree.files) {
    files[std::string(kRoot) + path] = WithoutUnsafeIncludes(file);
    for (const IncludeDirective& include : file.includes) {
      // The parser requests "src/../include/a.h" as spelled, since there is no real folder in which it could resolve
      // "..".
      const std::string folder = std::filesystem::path(path).parent_path().generic_string();
      const std::string spelt = std::string(kRoot) + (folder.empty() ? "" : folder + "/") + include.name;
      const auto resolved = state->tree.files.find(include.resolved);
      if (resolved != state->tree.files.end() && include.name.find("..") != std::string::npos)
        files.try_emplace(spelt, WithoutUnsafeIncludes(resolved->second));
      if (!include.resolved.empty() || include.name.empty() || include.name[0] == '/') continue;
      if (include.name.find("..") != std::string::npos) continue;
      files.try_emplace(std::string(kShim) + include.name, "");
    }
  }
  std::vector<CXUnsavedFile> unsaved;
  for (const auto& [path, text] : files) unsaved.push_back({path.c_str(), text.c_str(), text.size()});

  std::vector<std::string> arguments = {"-xcuda",
                                        "--cuda-device-only",
                                        "-nocudainc",
                                        "-nocudalib",
                                        "-nostdinc",
                                        "-nostdinc++",
                                        "--cuda-gpu-arch=sm_90",
                                        fmt::format("-std={}", core::Name(source.build.standard)),
                                        "-ferror-limit=0",
                                        "-fno-spell-checking",
                                        "-Wno-everything",
                                        "-ftemplate-depth=256",
                                        "-include",
                                        std::string(kShim) + "declarations.h",
                                        "-include",
                                        std::string(kDefines)};
  for (const std::string& folder : IncludeFolders(source.build, state->tree)) arguments.push_back("-I" + folder);
  arguments.push_back("-isystem" + std::string(kShim));
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());

  state->index.reset(clang_createIndex(/*excludeDeclarationsFromPCH=*/0, /*displayDiagnostics=*/0));
  const std::string main = std::string(kRoot) + state->tree.main;
  CXTranslationUnit unit = nullptr;
  const CXErrorCode failed =
      clang_parseTranslationUnit2(state->index.get(), main.c_str(), argv.data(), static_cast<int>(argv.size()),
                                  unsaved.data(), static_cast<unsigned>(unsaved.size()),
                                  CXTranslationUnit_KeepGoing | CXTranslationUnit_DetailedPreprocessingRecord, &unit);
  if (failed != CXError_Success || unit == nullptr) {
    return Fail(Error{
        .code = ErrorCode::kUnsupported,
        .message = fmt::format("the parser could not read the file (libclang error {})", static_cast<int>(failed)),
        .file = source.file});
  }
  state->unit.reset(unit);
  return Ast(std::move(state));
}

const core::SourceRef& Ast::source() const { return state_->source; }
const SourceTree& Ast::tree() const { return state_->tree; }
std::string_view Ast::text() const { return state_->source.text; }
CXTranslationUnit Ast::unit() const { return state_->unit.get(); }
CXCursor Ast::root() const { return clang_getTranslationUnitCursor(unit()); }

std::vector<std::string> Ast::Diagnostics() const {
  std::vector<std::string> messages;
  for (unsigned i = 0; i < clang_getNumDiagnostics(unit()); ++i) {
    CXDiagnostic diagnostic = clang_getDiagnostic(unit(), i);
    if (clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error) {
      const CXSourceLocation location = clang_getDiagnosticLocation(diagnostic);
      unsigned line = 0;
      clang_getExpansionLocation(location, nullptr, &line, nullptr, nullptr);
      messages.push_back(
          fmt::format("{}:{}: {}", FileName(location), line, ast::ToString(clang_getDiagnosticSpelling(diagnostic))));
    }
    clang_disposeDiagnostic(diagnostic);
  }
  return messages;
}

std::vector<TextRange> Ast::InactiveRanges(const std::string& path) const {
  std::vector<TextRange> ranges;
  CXFile file = clang_getFile(unit(), (std::string(kRoot) + path).c_str());
  if (file == nullptr) return ranges;
  CXSourceRangeList* skipped = clang_getSkippedRanges(unit(), file);
  if (skipped == nullptr) return ranges;
  for (unsigned i = 0; i < skipped->count; ++i) ranges.push_back(RangeOf(skipped->ranges[i]));
  clang_disposeSourceRangeList(skipped);
  return ranges;
}

namespace ast {

std::string ToString(CXString text) {
  const char* spelled = clang_getCString(text);
  std::string result = spelled == nullptr ? "" : spelled;
  clang_disposeString(text);
  return result;
}

std::vector<CXCursor> Children(CXCursor cursor) {
  std::vector<CXCursor> children;
  clang_visitChildren(
      cursor,
      [](CXCursor child, CXCursor, CXClientData data) {
        static_cast<std::vector<CXCursor>*>(data)->push_back(child);
        return CXChildVisit_Continue;
      },
      &children);
  return children;
}

void ForEachDescendant(CXCursor cursor, const std::function<bool(CXCursor)>& visit) {
  clang_visitChildren(
      cursor,
      [](CXCursor child, CXCursor, CXClientData data) {
        const auto& inner = *static_cast<const std::function<bool(CXCursor)>*>(data);
        return inner(child) ? CXChildVisit_Recurse : CXChildVisit_Continue;
      },
      const_cast<std::function<bool(CXCursor)>*>(&visit));
}

std::string Spelling(CXCursor cursor) { return ToString(clang_getCursorSpelling(cursor)); }
std::string TypeSpelling(CXCursor cursor) { return ToString(clang_getTypeSpelling(clang_getCursorType(cursor))); }

std::string_view Text(const Ast& ast, TextRange range) {
  if (range.end > ast.text().size() || range.begin > range.end) return {};
  return ast.text().substr(range.begin, range.size());
}
std::string_view Text(const Ast& ast, CXCursor cursor) {
  return IsInMainFile(cursor) ? Text(ast, Offsets(cursor)) : std::string_view();
}

TextRange Offsets(CXCursor cursor) { return RangeOf(clang_getCursorExtent(cursor)); }

int Line(CXCursor cursor) {
  unsigned line = 0;
  clang_getExpansionLocation(clang_getCursorLocation(cursor), nullptr, &line, nullptr, nullptr);
  return static_cast<int>(line);
}
int EndLine(CXCursor cursor) {
  unsigned line = 0;
  clang_getExpansionLocation(clang_getRangeEnd(clang_getCursorExtent(cursor)), nullptr, &line, nullptr, nullptr);
  return static_cast<int>(line);
}

bool IsInMainFile(CXCursor cursor) {
  const CXTranslationUnit unit = clang_Cursor_getTranslationUnit(cursor);
  CXFile file = nullptr;
  clang_getExpansionLocation(clang_getCursorLocation(cursor), &file, nullptr, nullptr, nullptr);
  if (file == nullptr || unit == nullptr) return false;
  // Compared by name: clang_File_isEqual considers all unsaved files equal.
  return ToString(clang_getFileName(file)) == ToString(clang_getTranslationUnitSpelling(unit));
}
std::string FileOf(CXCursor cursor) { return FileName(clang_getCursorLocation(cursor)); }
bool IsInRepository(CXCursor cursor) { return !FileOf(cursor).empty(); }

bool IsFromMacro(CXCursor cursor) {
  const CXSourceLocation location = clang_getCursorLocation(cursor);
  CXFile expansion_file = nullptr, spelling_file = nullptr;
  unsigned expansion = 0, spelling = 0;
  clang_getExpansionLocation(location, &expansion_file, nullptr, nullptr, &expansion);
  clang_getSpellingLocation(location, &spelling_file, nullptr, nullptr, &spelling);
  return expansion != spelling ||
         ToString(clang_getFileName(expansion_file)) != ToString(clang_getFileName(spelling_file));
}

bool IsFunction(CXCursor cursor) {
  switch (clang_getCursorKind(cursor)) {
    case CXCursor_FunctionDecl:
    case CXCursor_FunctionTemplate:
    case CXCursor_CXXMethod:
    case CXCursor_Constructor:
    case CXCursor_Destructor:
    case CXCursor_ConversionFunction: return true;
    default: return false;
  }
}

bool HasAttribute(CXCursor cursor, CXCursorKind attribute) {
  for (const CXCursor& child : Children(cursor)) {
    if (clang_getCursorKind(child) == attribute) return true;
  }
  return false;
}
bool IsKernel(CXCursor cursor) { return IsFunction(cursor) && HasAttribute(cursor, CXCursor_CUDAGlobalAttr); }
bool IsDevice(CXCursor cursor) { return HasAttribute(cursor, CXCursor_CUDADeviceAttr); }
bool IsHost(CXCursor cursor) {
  return HasAttribute(cursor, CXCursor_CUDAHostAttr) || (!IsKernel(cursor) && !IsDevice(cursor));
}

CXCursor Body(CXCursor function) {
  for (const CXCursor& child : Children(function)) {
    const CXCursorKind kind = clang_getCursorKind(child);
    if (kind == CXCursor_CompoundStmt || kind == CXCursor_CXXTryStmt) return child;
  }
  return clang_getNullCursor();
}
bool HasBody(CXCursor cursor) { return !clang_Cursor_isNull(Body(cursor)); }

std::vector<CXCursor> Parameters(CXCursor function) {
  std::vector<CXCursor> parameters;
  for (const CXCursor& child : Children(function)) {
    if (clang_getCursorKind(child) == CXCursor_ParmDecl) parameters.push_back(child);
  }
  return parameters;
}
std::vector<CXCursor> TemplateParameters(CXCursor function) {
  std::vector<CXCursor> parameters;
  for (const CXCursor& child : Children(function)) {
    const CXCursorKind kind = clang_getCursorKind(child);
    if (kind == CXCursor_TemplateTypeParameter || kind == CXCursor_NonTypeTemplateParameter ||
        kind == CXCursor_TemplateTemplateParameter) {
      parameters.push_back(child);
    }
  }
  return parameters;
}

std::string QualifiedName(CXCursor cursor) {
  std::string name = Spelling(cursor);
  for (CXCursor parent = clang_getCursorSemanticParent(cursor);
       !clang_Cursor_isNull(parent) && !clang_isInvalid(clang_getCursorKind(parent)) &&
       clang_getCursorKind(parent) != CXCursor_TranslationUnit;
       parent = clang_getCursorSemanticParent(parent)) {
    const bool unnamed = clang_Cursor_isAnonymous(parent) != 0 || clang_Cursor_isInlineNamespace(parent) != 0 ||
                         clang_getCursorKind(parent) == CXCursor_LinkageSpec;
    if (!unnamed) name = Spelling(parent) + "::" + name;
  }
  return name;
}

std::vector<CXCursor> Functions(const Ast& ast) {
  std::vector<CXCursor> functions;
  ForEachDescendant(ast.root(), [&](CXCursor cursor) {
    const CXCursorKind kind = clang_getCursorKind(cursor);
    if (clang_isPreprocessing(kind)) return false;
    if (IsFunction(cursor)) {
      if (HasBody(cursor) && IsInRepository(cursor)) functions.push_back(cursor);
      return false;
    }
    return kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec || kind == CXCursor_StructDecl ||
           kind == CXCursor_ClassDecl || kind == CXCursor_ClassTemplate || kind == CXCursor_UnexposedDecl ||
           kind == CXCursor_ClassTemplatePartialSpecialization;
  });
  return functions;
}

std::vector<CXCursor> Kernels(const Ast& ast) {
  std::vector<CXCursor> kernels = Functions(ast);
  std::erase_if(kernels, [](const CXCursor& cursor) { return !IsKernel(cursor); });
  return kernels;
}

std::vector<CXCursor> FindFunctions(const Ast& ast, std::string_view name) {
  if (name.starts_with("::")) name.remove_prefix(2);
  const size_t arguments = name.find('<');
  const std::string plain(name.substr(0, arguments));
  std::vector<CXCursor> exact, by_last_part;
  for (const CXCursor& function : Functions(ast)) {
    const std::string qualified = QualifiedName(function);
    if (qualified == plain) exact.push_back(function);
    if (qualified.ends_with("::" + plain)) by_last_part.push_back(function);
  }
  return exact.empty() ? by_last_part : exact;
}
std::optional<CXCursor> FindFunction(const Ast& ast, std::string_view name) {
  const std::vector<CXCursor> found = FindFunctions(ast, name);
  if (found.empty()) return std::nullopt;
  return found.front();
}

std::vector<Token> Tokens(const Ast& ast, TextRange range) {
  std::vector<Token> tokens = Lex(Text(ast, range));
  const int line = LineAt(ast.text(), range.begin) - 1;
  for (Token& token : tokens) {
    token.range.begin += range.begin;
    token.range.end += range.begin;
    token.line += line;
  }
  return tokens;
}
std::vector<Token> Tokens(const Ast& ast, CXCursor cursor) {
  return IsInMainFile(cursor) ? Tokens(ast, Offsets(cursor)) : std::vector<Token>();
}

}  // namespace ast
}  // namespace warpwright::source
