#include "source/build_dependence.h"

#include <algorithm>
#include <functional>
#include <set>
#include <span>

#include "base/hash.h"
#include "source/ast.h"
#include "source/closure.h"

namespace warpwright::source {
namespace {

// Reserved names whose meaning is the same in every build of CUDA code.
constexpr std::string_view kSameEverywhere[] = {"__CUDACC__", "__LINE__", "__VA_ARGS__",    "__VA_OPT__", "_Bool",
                                                "_Float16",   "_Pragma",  "_Static_assert", "_Alignas"};
// Others that are not written in capitals.
constexpr std::string_view kOfBuild[] = {
    "__cplusplus",        "__clang__",     "__linux__",     "__x86_64__",      "__x86_64",
    "__i386__",           "__aarch64__",   "__unix__",      "__unix",          "__linux",
    "__has_include",      "__has_builtin", "__has_feature", "__has_attribute", "__has_cpp_attribute",
    "__has_include_next", "__func__",      "NDEBUG"};
// By the beginnings of their names: of the toolkit's own headers, and of ours, which stand for them in a recording.
constexpr std::string_view kOfToolkit[] = {"ww_",    "WW_",          "NV_IF_",         "NV_DISPATCH_",
                                           "NV_IS_", "NV_PROVIDES_", "CUDART_VERSION", "CUDA_VERSION",
                                           "CUB_",   "THRUST_",      "CCCL_",          "__nv_"};

// Types of the toolkit's headers for narrow numbers, which have no other names: __nv_bfloat162, __nv_fp8x4_e4m3.
constexpr std::string_view kNarrowTypes[] = {"__nv_bfloat16", "__nv_fp8", "__nv_fp6", "__nv_fp4", "__nv_saturation_t"};

bool IsOneOf(std::span<const std::string_view> list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}
// _GNU_SOURCE, __CUDA_ARCH__: names that only the implementation may define.
bool IsReserved(std::string_view name) {
  const size_t letter = name.find_first_not_of('_');
  if (letter == 0 || letter == std::string_view::npos) return false;
  return name[letter] >= 'A' && name[letter] <= 'Z';
}
bool DependsOnBuild(std::string_view name) {
  if (IsOneOf(kSameEverywhere, name)) return false;
  if (std::any_of(std::begin(kNarrowTypes), std::end(kNarrowTypes),
                  [&](std::string_view type) { return name.starts_with(type); }))
    return false;
  return IsReserved(name) || IsOneOf(kOfBuild, name) || name == "ww" ||
         std::any_of(std::begin(kOfToolkit), std::end(kOfToolkit),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}
// A pasted name begins with a token that is a prefix of it.
bool MayBegin(std::string_view piece) {
  return piece.starts_with("__") || piece == "_" || IsReserved(piece) ||
         std::any_of(std::begin(kOfToolkit), std::end(kOfToolkit),
                     [&](std::string_view prefix) { return piece.size() >= 2 && prefix.starts_with(piece); });
}

// A file's name that is printed says nothing to anybody but people.
bool IsPrinted(const std::vector<Token>& tokens, size_t at) {
  int depth = 0;
  while (at-- > 0) {
    if (tokens[at].Is(")")) ++depth;
    if (tokens[at].Is(";") || tokens[at].Is("{") || tokens[at].Is("}")) return false;
    if (!tokens[at].Is("(") || --depth >= 0) continue;
    return at > 0 && (tokens[at - 1].Is("fprintf") || tokens[at - 1].Is("printf") || tokens[at - 1].Is("snprintf"));
  }
  return false;
}

// What conditions ask for before the file has defined it.
class Conditions {
 public:
  using Found = std::function<void(const std::string& name, int line)>;

  static void Find(const std::vector<Token>& tokens, const Found& found) {
    std::set<std::string> defined;
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (!tokens[i].OpensDirective() || i + 1 >= tokens.size()) continue;
      size_t end = i + 1;
      while (end < tokens.size() && tokens[end].in_directive && !tokens[end].OpensDirective()) ++end;
      const std::string word = Spelling(tokens[i + 1]);
      if (word == "define" && i + 2 < end) defined.insert(Spelling(tokens[i + 2]));
      if (word == "ifndef" && i + 2 < end && IsGuard(tokens, i + 2, end)) continue;
      if (word != "if" && word != "elif" && word != "ifdef" && word != "ifndef" && word != "elifdef" &&
          word != "elifndef")
        continue;
      for (size_t t = i + 2; t < end; ++t) {
        const std::string name = tokens[t].IsIdentifier() ? Spelling(tokens[t]) : "";
        const bool known = name.empty() || name == "defined" || name == "true" || name == "false" ||
                           defined.contains(name) || IsOneOf(kSameEverywhere, name);
        if (!known) found(name, tokens[t].line);
      }
    }
  }

 private:
  // "#ifndef X" and then "#define X": X has the file's value unless somebody chose another on purpose.
  static bool IsGuard(const std::vector<Token>& tokens, size_t name, size_t end) {
    return name + 1 == end && end + 2 < tokens.size() && tokens[end].OpensDirective() && tokens[end + 1].Is("define") &&
           tokens[end + 2].text == tokens[name].text;
  }
};

// Strips the directives: the parser's range begins with one and ends before or after another.
TextRange WithoutDirectives(std::string_view text, TextRange range) {
  const std::string_view skipped = text.substr(range.begin, range.size());
  const size_t first = skipped.find('\n');
  if (first == std::string_view::npos) return {range.end, range.end};
  size_t end = skipped.size();
  const size_t last = skipped.rfind('\n');
  const size_t start = skipped.find_first_not_of(" \t", last + 1);
  if (start != std::string_view::npos && skipped[start] == '#') end = last;
  const auto begin = range.begin + static_cast<uint32_t>(first);
  return {begin, std::max(begin, range.begin + static_cast<uint32_t>(end))};
}

std::string FirstLine(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  return std::string(text.substr(begin, std::min<size_t>(text.find('\n', begin) - begin, 80)));
}

}  // namespace

core::CodeUses FindBuildDependence(const Ast& ast) {
  core::CodeUses uses;
  const std::string& file = ast.tree().main;
  const auto add = [&](core::CodeUseKind kind, std::string name, std::string instruction, int line) {
    uses.insert({.use = {.kind = kind, .format = {}, .detail = std::move(name)},
                 .instruction = std::move(instruction),
                 .file = file,
                 .line = line});
  };
  const bool alone = ast.source().build.flags.contains(core::BuildFlag::kHopperAlone);
  const std::string_view known = alone ? core::kHopperAloneMacro : std::string_view();
  const std::vector<Token> tokens = Lex(ast.text());
  const bool pastes = std::any_of(tokens.begin(), tokens.end(), [](const Token& token) { return token.Is("##"); });
  for (size_t i = 0; i < tokens.size(); ++i) {
    const std::string name = tokens[i].IsIdentifier() ? Spelling(tokens[i]) : "";
    if (name.empty() || IsOneOf(kSameEverywhere, name)) continue;
    if (name == "__FILE__" && IsPrinted(tokens, i)) continue;
    if (name == known) continue;
    if (DependsOnBuild(name) || (pastes && MayBegin(name))) add(core::CodeUseKind::kBuild, name, name, tokens[i].line);
  }
  // Three characters that strict builds of C++14 and before read as one, at the end of a comment too.
  const std::string_view whole = ast.text();
  for (size_t at = whole.find("??"); at != whole.npos; at = whole.find("??", at + 1))
    if (at + 2 < whole.size() && std::string_view("=/'()!<>-").find(whole[at + 2]) != whole.npos) {
      const std::string trigraph(whole.substr(at, 3));
      add(core::CodeUseKind::kBuild, "trigraph " + trigraph, trigraph, LineAt(whole, static_cast<uint32_t>(at)));
    }
  Conditions::Find(tokens, [&](const std::string& name, int line) {
    if (name != known) add(core::CodeUseKind::kBuild, name, name, line);
  });
  for (const TextRange& skipped : ast.InactiveRanges(file)) {
    const TextRange range = WithoutDirectives(ast.text(), skipped);
    const std::string_view text = ast::Text(ast, range);
    const std::string normalized = NormalizedText(text);
    if (normalized.empty() || (!known.empty() && normalized == NormalizedText("__trap();"))) continue;
    const auto first = static_cast<uint32_t>(text.find_first_not_of(" \t\r\n"));
    add(core::CodeUseKind::kBuildText, base::Hasher().Add(normalized).Finish().substr(0, 16), FirstLine(text),
        LineAt(ast.text(), range.begin + first));
  }
  return uses;
}

namespace {

// Defined for the whole program: where it is linked, it may take the place of another.
bool IsGlobalFunction(const Unit& unit, std::span<const Token> tokens) {
  if (unit.kind != Unit::Kind::kFunction || unit.body_open == kNone || unit.is_template || unit.is_constexpr)
    return false;
  if (std::find(unit.scope.begin(), unit.scope.end(), "") != unit.scope.end()) return false;
  return std::none_of(tokens.begin(), tokens.end(), [](const Token& t) {
    return t.Is("static") || t.Is("inline") || t.Is("__inline__") || t.Is("__forceinline__");
  });
}

// Whether a variable's declaration names no type but those of numbers: an object of any other may have a constructor.
bool IsOfNumbers(std::span<const Token> tokens) {
  static const std::set<std::string_view> kTypes = {
      "const",   "static",   "inline",   "volatile", "unsigned", "signed",  "bool",     "char",    "short",
      "int",     "long",     "float",    "double",   "size_t",   "int8_t",  "int16_t",  "int32_t", "int64_t",
      "uint8_t", "uint16_t", "uint32_t", "uint64_t", "std",      "alignas", "constinit"};
  size_t names = 0;
  for (const Token& token : tokens) {
    if (token.Is("=") || token.Is("{") || token.Is("[") || token.Is(";")) break;
    if (token.IsIdentifier() && !kTypes.contains(Spelling(token))) ++names;
  }
  return names <= 1;  // its own
}

}  // namespace

core::CodeUses FindUnreachedEffects(const SourceUnits& units, const ReachableUnits& reach, const std::string& main) {
  core::CodeUses uses;
  const auto file = units.files.find(main);
  if (file == units.files.end()) return uses;
  const std::vector<Token>& code = file->second.code;
  for (const Unit& unit : file->second.units) {
    if (reach.host.contains(&unit) || reach.device.contains(&unit) || unit.first == kNone ||
        unit.kind == Unit::Kind::kMacro)
      continue;
    const std::span<const Token> tokens(code.begin() + static_cast<ptrdiff_t>(unit.first),
                                        code.begin() + static_cast<ptrdiff_t>(unit.last));
    const bool attributed = std::any_of(tokens.begin(), tokens.end(), [](const Token& t) {
      return t.Is("__attribute__") || t.Is("__attribute") || t.Is("asm") || t.Is("__asm__") || t.Is("__asm");
    });
    const bool calls = std::any_of(tokens.begin(), tokens.end(), [](const Token& t) { return t.Is("("); });
    const bool on_device = (unit.attributes & (kDevice | kGlobal | kConstant | kManaged | kShared)) != 0;
    const bool initialized = unit.kind == Unit::Kind::kVariable && !on_device && !unit.is_constexpr &&
                             (!unit.is_const || calls || !IsOfNumbers(tokens));
    if (on_device || (!attributed && !initialized && !IsGlobalFunction(unit, tokens))) continue;
    std::string text;
    for (const Token& token : tokens) text += std::string(token.text) + " ";
    uses.insert({.use = {.kind = core::CodeUseKind::kBuildText,
                         .format = {},
                         .detail = base::Hasher().Add(text).Finish().substr(0, 16)},
                 .instruction = text.substr(0, 80),
                 .file = main,
                 .line = unit.line});
  }
  return uses;
}

}  // namespace warpwright::source
