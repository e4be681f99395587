#include "source/slice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "base/hash.h"
#include "source/ast.h"
#include "source/build_dependence.h"
#include "source/closure.h"
#include "source/headers.h"
#include "source/shared_code.h"
#include "source/signature.h"
#include "source/stub.h"
#include "source/units.h"

namespace warpwright::source {
namespace {

enum class Side { kDevice, kHost };

// Writes one side of one file.
class FileSlicer {
 public:
  FileSlicer(Side side, const SourceUnits& units, const FileUnits& file, const std::set<const Unit*>& kept,
             const std::set<const Unit*>& unused_macros, const std::set<std::string>& overloaded)
      : side_(side),
        units_(units),
        file_(file),
        text_(file.file->text),
        kept_(kept),
        unused_macros_(unused_macros),
        overloaded_(overloaded) {}

  std::string Run(Slices& slices) {
    for (const Unit& unit : file_.units) {
      if (unit.kind != Unit::Kind::kMacro) {
        Append(file_.code, unit, kept_.count(&unit) > 0);
      } else if (unused_macros_.count(&unit)) {
        edits_.push_back({unit.range, Spaces(unit.range)});
      }
    }
    for (const std::string& name : units_.declaring_macros) {
      for (const Macro& macro : *units_.macros.Find(name)) {
        if (macro.path == file_.file->path) MacroBody(macro);
      }
    }
    for (const IncludeDirective& include : file_.file->includes) Include(include, slices);
    if (side_ == Side::kHost) {
      for (TextEdit& edit : RewriteLaunches(text_, file_.all)) edits_.push_back(std::move(edit));
    }
    return ApplyEdits(text_, std::move(edits_));
  }

 private:
  std::string Spaces(TextRange range) const {
    std::string spaces(text_.substr(range.begin, range.size()));
    for (char& c : spaces) c = c == '\n' || c == '\r' ? c : ' ';
    return spaces;
  }
  void Blank(TextRange range, bool in_macro) {
    const std::string_view part = std::string_view(text_).substr(range.begin, range.size());
    edits_.push_back({range, in_macro ? BlankedMacro(part) : Blanked(part)});
  }

  // A macro's body stays as it is: what it expands to inside of functions are statements, and an expansion may begin or
  // end anywhere. But what this side cannot compile must go, from a body that is a list of declarations.
  void MacroBody(const Macro& macro) {
    const std::vector<Unit> units = SplitUnits(macro.body, 0, macro.body.size(), units_.macros, /*in_class=*/false);
    if (macro.declares && IsListOfDeclarations(macro, units)) {
      for (const Unit& unit : units) Append(macro.body, unit, true);
    }
    const std::vector<size_t> open = macro.OpenBraces();
    if (side_ == Side::kDevice || open.empty()) return;
    // "KERNEL_BEGIN(f)": the stub comes where it is invoked, and what begins its body must not be there either.
    for (const Unit& unit : units) {
      const bool device = unit.is_kernel() || (unit.is_device_only() && !unit.is_constexpr);
      if (unit.kind != Unit::Kind::kFunction || unit.body_open != open.front() || !device) continue;
      const TextRange rest = {macro.body[open.front()].range.end, macro.range.end};
      edits_.push_back({rest, BlankedMacro(std::string_view(text_).substr(rest.begin, rest.size())) +
                                  std::string(open.size() - 1, '{')});
    }
  }

  // It defines a function, which cannot be inside of another, or is named only where declarations are.
  bool IsListOfDeclarations(const Macro& macro, const std::vector<Unit>& units) const {
    for (const Unit& unit : units)
      if (unit.kind == Unit::Kind::kFunction && unit.body_open != kNone) return true;
    for (const auto& [path, file] : units_.files) {
      for (const Unit& unit : file.units) {
        const bool named = unit.head_references.count(macro.name) || unit.body_references.count(macro.name);
        if (named && unit.kind != Unit::Kind::kInvocation) return false;
      }
    }
    return true;
  }

  void Append(const std::vector<Token>& code, const Unit& unit, bool kept) {
    if (unit.kind == Unit::Kind::kUsingNamespace) kept = KeepsUsing(code, unit);
    if (unit.kind == Unit::Kind::kFunction && side_ == Side::kDevice && !OnDevice(unit)) kept = false;
    if (unit.kind == Unit::Kind::kVariable && side_ == Side::kDevice && !unit.is_const && !unit.is_constexpr &&
        unit.attributes == 0) {
      kept = false;
    }
    if (!kept) return Blank(unit.range, code[unit.first].in_directive);
    if (unit.kind == Unit::Kind::kFunction || unit.opened_by_macro()) {
      Function(code, unit);
    } else if ((unit.kind == Unit::Kind::kType || unit.kind == Unit::Kind::kAlias) && unit.body_open != kNone) {
      for (const Unit& member :
           SplitUnits(code, unit.body_open + 1, unit.body_close, units_.macros, /*in_class=*/true)) {
        if (member.kind == Unit::Kind::kFunction) Member(code, member);
        if (member.kind == Unit::Kind::kType) Append(code, member, true);
      }
    }
  }

  static bool OnDevice(const Unit& unit) { return (unit.attributes & (kGlobal | kDevice)) != 0 || unit.is_constexpr; }

  void Member(const std::vector<Token>& code, const Unit& unit) {
    if (unit.is_defaulted) return;
    if (side_ == Side::kDevice && !OnDevice(unit)) return Blank(unit.range, code[unit.first].in_directive);
    Function(code, unit);
  }

  void Function(const std::vector<Token>& code, const Unit& unit) {
    if (side_ == Side::kDevice) {
      // NVRTC treats an unannotated function as host code; nvcc allows constant expressions to call it.
      if (unit.kind == Unit::Kind::kFunction && unit.attributes == 0 && unit.is_constexpr) {
        const uint32_t at = code[unit.declarator].range.begin;
        edits_.push_back({{at, at}, "__host__ __device__ "});
      }
      return;
    }
    if (unit.body_open == kNone || (unit.opened_by_macro() && !unit.expanded)) return;
    if (unit.is_kernel()) {
      for (TextEdit& edit : StubKernel(text_, code, unit, overloaded_.count(unit.name) > 0))
        edits_.push_back(std::move(edit));
    } else if (unit.is_device_only() && !unit.is_constexpr) {
      Blank({code[unit.body_open].range.end, code[unit.body_close].range.begin}, code[unit.first].in_directive);
    }
  }

  // "using namespace x": x is from the standard library, the file itself, or a toolkit header that is kept.
  bool KeepsUsing(const std::vector<Token>& code, const Unit& unit) const {
    static const std::set<std::string_view> kKnown = {"std", "nvcuda", "cooperative_groups", "cuda"};
    for (size_t i = unit.first; i < unit.last; ++i) {
      if (kKnown.count(code[i].text) || units_.by_name.count(std::string(code[i].text))) return true;
      for (const auto& [path, file] : units_.files) {
        for (const Unit& other : file.units) {
          for (const std::string& scope : other.scope) {
            if (!scope.empty() && (scope == code[i].text || scope.ends_with("::" + std::string(code[i].text))))
              return true;
          }
        }
      }
    }
    return false;
  }

  void Include(const IncludeDirective& include, Slices& slices) {
    const auto replace = [&](const std::string& name) { edits_.push_back({include.name_range, "\"" + name + "\""}); };
    if (!include.resolved.empty()) return replace(include.resolved);
    const HeaderUse use = side_ == Side::kDevice ? DeviceHeader(include.name) : HostHeader(include.name);
    switch (use.kind) {
      case HeaderUse::Kind::kKeep: return;
      case HeaderUse::Kind::kReplacement: return replace(use.stand_in);
      case HeaderUse::Kind::kDrop: break;
      case HeaderUse::Kind::kUnknown:
        slices.notes.push_back(fmt::format("{}:{}: {} is not available and was left out of the {} slice",
                                           file_.file->path, include.line,
                                           include.angled ? "<" + include.name + ">" : "\"" + include.name + "\"",
                                           side_ == Side::kDevice ? "device" : "host"));
        break;
    }
    const TextRange range = include.line_range;
    edits_.push_back({range, Spaces(range)});
  }

  Side side_;
  const SourceUnits& units_;
  const FileUnits& file_;
  const std::string& text_;
  const std::set<const Unit*>& kept_;
  const std::set<const Unit*>& unused_macros_;
  const std::set<std::string>& overloaded_;
  std::vector<TextEdit> edits_;
};

// Kernels with another definition of the same name in the same scope.
std::set<std::string> OverloadedKernels(const SourceUnits& units) {
  std::map<std::string, int> definitions;
  for (const auto& [path, file] : units.files) {
    for (const Unit& unit : file.units) {
      const bool counts =
          unit.kind == Unit::Kind::kFunction && unit.is_kernel() && unit.body_open != kNone && !unit.is_specialization;
      if (counts) ++definitions[unit.QualifiedName()];
    }
  }
  std::set<std::string> names;
  for (const auto& [name, count] : definitions) {
    if (count > 1) names.insert(name.substr(name.rfind(':') == std::string::npos ? 0 : name.rfind(':') + 1));
  }
  return names;
}

// Where the arguments of a template in front of `launch`, a "<<<", begin, if all of them are numbers, true or false:
// "k" of "k<1, false><<<".
size_t LiteralInstance(const std::vector<Token>& code, size_t launch) {
  if (launch < 4 || !code[launch - 1].Is(">")) return kNone;
  for (size_t i = launch - 2; i >= 2; i -= 2) {
    const Token& argument = code[i];
    if (argument.kind != Token::Kind::kNumber && !argument.Is("true") && !argument.Is("false")) return kNone;
    if (code[i - 1].Is("<")) return code[i - 2].IsIdentifier() ? i - 2 : kNone;
    if (!code[i - 1].Is(",")) return kNone;
  }
  return kNone;
}

// The template that a name alone tells, if all of its parameters are values.
const Unit* TemplateOfValues(const SourceUnits& units, const ReachableUnits& reach, std::string_view name) {
  const Unit* found = nullptr;
  for (auto [it, end] = units.by_name.equal_range(std::string(name)); it != end; ++it) {
    const Unit& unit = *it->second;
    if (unit.kind != Unit::Kind::kFunction || !unit.is_kernel() || unit.body_open == kNone) continue;
    if (found != nullptr || !unit.is_template || unit.is_specialization || !reach.device.contains(&unit))
      return nullptr;
    found = &unit;
  }
  if (found == nullptr) return nullptr;
  const std::vector<Token>& code = units.files.at(found->path).code;
  for (size_t i = found->template_open; i < found->declarator; ++i)
    if (code[i].Is("typename") || code[i].Is("class") || code[i].Is("...")) return nullptr;
  return found;
}

// Instances of templates that the launcher launches by name, as it is called for some sizes or others.
void AddLiteralInstances(const SourceUnits& units, const ReachableUnits& reach, std::vector<std::string>& names) {
  for (const Unit* unit : reach.host) {
    const std::vector<Token>& code = units.files.at(unit->path).code;
    if (unit->kind != Unit::Kind::kFunction || unit->body_open == kNone) continue;
    for (size_t i = unit->body_open; i < unit->body_close && i < code.size(); ++i) {
      if (!code[i].Is("<<<")) continue;
      const size_t at = LiteralInstance(code, i);
      const Unit* kernel = at == kNone ? nullptr : TemplateOfValues(units, reach, code[at].text);
      if (kernel == nullptr) continue;
      std::vector<std::string_view> arguments;
      for (size_t a = at + 2; a < i; a += 2) arguments.push_back(code[a].text);
      std::string name = fmt::format("{}<{}>", kernel->QualifiedName(), fmt::join(arguments, ", "));
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
  }
}

std::vector<std::string> NamedKernels(const SourceUnits& units, const ReachableUnits& reach) {
  const std::set<std::string> overloaded = OverloadedKernels(units);
  std::vector<std::string> names;
  for (const auto& [path, file] : units.files)
    for (const Unit& unit : file.units)
      if (reach.device.contains(&unit) && unit.kind == Unit::Kind::kFunction && unit.is_kernel() &&
          unit.body_open != kNone && !unit.is_template && !unit.is_specialization) {
        const std::string name = unit.QualifiedName();
        const size_t colon = name.rfind(':');
        if (!overloaded.contains(name.substr(colon == std::string::npos ? 0 : colon + 1))) names.push_back(name);
      }
  AddLiteralInstances(units, reach, names);
  return names;
}

// Macros named by tokens that belong to no declaration ("BEGIN_NAMESPACE"), and those that these name.
std::set<const Unit*> ScopeMacros(const SourceUnits& units) {
  std::vector<const Unit*> roots;
  for (const auto& [path, file] : units.files) {
    auto unit = file.units.begin();
    for (const Token& token : file.code) {
      while (unit != file.units.end() && (unit->kind == Unit::Kind::kMacro || unit->range.end <= token.range.begin))
        ++unit;
      const bool outside = unit == file.units.end() || token.range.begin < unit->range.begin;
      if (!outside || units.macros.Find(token.text) == nullptr) continue;
      for (auto [it, end] = units.by_name.equal_range(std::string(token.text)); it != end; ++it)
        if (it->second->kind == Unit::Kind::kMacro) roots.push_back(it->second);
    }
  }
  std::set<const Unit*> reached = Closure(units, roots, [](const Unit&) { return true; });
  std::erase_if(reached, [](const Unit* unit) { return unit->kind != Unit::Kind::kMacro; });
  return reached;
}

// Macros of the host slice that nothing in it names: removing them leaves the slice unchanged when a kernel gets a new
// tile size. Macros named in directives decide what exists, and reserved names may configure system headers, so those
// are kept.
std::set<const Unit*> UnusedMacros(const SourceUnits& units, const std::set<const Unit*>& kept) {
  std::set<const Unit*> unused;
  if (units.macros.any_pastes()) return unused;  // pasted names do not appear in the text
  std::set<std::string_view> named = {"NDEBUG"};
  for (const auto& [path, file] : units.files) {
    bool conditional = false;
    for (size_t i = 0; i + 1 < file.all.size(); ++i) {
      const Token& token = file.all[i];
      if (token.OpensDirective()) {
        const std::string_view word = file.all[i + 1].text;
        conditional = word != "define" && word != "pragma";
      }
      if (token.in_directive && conditional) named.insert(file.all[i + 1].text);
    }
  }
  const std::set<const Unit*> scopes = ScopeMacros(units);
  for (const auto& [path, file] : units.files) {
    for (const Unit& unit : file.units) {
      const bool needed =
          kept.count(&unit) || scopes.count(&unit) || named.count(unit.name) || unit.name.starts_with("_");
      if (unit.kind == Unit::Kind::kMacro && !needed) unused.insert(&unit);
    }
  }
  return unused;
}

std::string Emit(Side side, const SourceUnits& units, const std::set<const Unit*>& kept, const std::string& main,
                 std::map<std::string, std::string>& headers, Slices& slices) {
  const std::set<std::string> overloaded = OverloadedKernels(units);
  std::set<const Unit*> unused_macros;
  if (side == Side::kHost) unused_macros = UnusedMacros(units, kept);
  std::string text;
  for (const auto& [path, file] : units.files) {
    std::string slice = FileSlicer(side, units, file, kept, unused_macros, overloaded).Run(slices);
    (path == main ? text : headers[path]) = std::move(slice);
  }
  return text;
}

// nvcc includes cuda_runtime.h, and <math.h> with it, in front of every file. Here the include replaces an empty line
// or a comment above the first token, so that line numbers are unchanged; a file that begins with code gets an
// additional line, and a #line that compensates for it. The include always comes first: what it declares does not
// depend on the file's macros.
std::string WithPrelude(std::string text, const std::string& file) {
  constexpr std::string_view kPrelude = "#include \"ww_device/host.h\"";
  const std::vector<Token> tokens = Lex(text);
  const size_t first_token = tokens.empty() ? text.size() : tokens.front().range.begin;
  if (std::string_view(text).substr(first_token).starts_with(kPrelude)) return text;
  bool continued = false;
  for (size_t at = 0; at < first_token;) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view content = std::string_view(text).substr(at, end - at);
    const size_t first = content.find_first_not_of(" \t\r");
    const bool free = first == std::string_view::npos || content.substr(first).starts_with("//");
    continued = continued || content.ends_with('\\') || content.ends_with("\\\r");
    if (free && !continued && end < first_token) return text.replace(at, end - at, kPrelude);
    if (content.find("/*") != std::string_view::npos) break;  // what follows may be inside the comment
    at = end + 1;
  }
  return fmt::format("{}\n#line 1 \"{}\"\n{}", kPrelude, file, text);
}

}  // namespace

std::string Slices::Digest() const {
  base::Hasher hasher;
  hasher.Add(file).Add(entry).Add(device).Add(host).Add(build.Text());
  for (const auto* headers : {&device_headers, &host_headers}) {
    hasher.Add(std::to_string(headers->size()));
    for (const auto& [name, text] : *headers) hasher.Add(name).Add(text);
  }
  return hasher.Finish();
}

Result<SliceOutcome> Slice(const core::SourceRef& source, const std::string& entry) {
  WW_ASSIGN(const Ast parsed, Ast::Parse(source));
  if (auto outside = FindOutsideInclude(parsed.tree())) return SliceOutcome(std::move(*outside));
  const SourceUnits units = ReadUnits(parsed);
  const auto function = ast::FindFunction(parsed, entry);
  if (function && clang_getCursorKind(*function) == CXCursor_CXXMethod && !clang_CXXMethod_isStatic(*function)) {
    return SliceOutcome(core::Refused{core::Check::kSlice,
                                      fmt::format("{} needs an object: name a free or a static function", entry),
                                      ast::FileOf(*function), ast::Line(*function)});
  }
  const ReachableUnits reach = FindReachable(parsed, units, entry);
  if (reach.entries.empty()) {
    std::string known;
    for (const std::string& name : EntryNames(units, parsed.tree().main)) known += (known.empty() ? "" : ", ") + name;
    return SliceOutcome(
        core::Refused{core::Check::kSlice,
                      fmt::format("the file has no function {} (it has: {})", entry, known.empty() ? "none" : known),
                      source.file, 0});
  }
  if (reach.refusal) return SliceOutcome(*reach.refusal);

  Slices slices;
  slices.file = parsed.tree().main;
  slices.build = source.build;
  slices.entry = entry;
  slices.entry_is_kernel = reach.entry_is_kernel;
  const Unit& unit = *reach.entries.front();
  const size_t angle = entry.find('<');
  const std::string arguments = angle == std::string::npos ? "" : entry.substr(angle);
  slices.entry_name =
      (unit.kind == Unit::Kind::kInvocation ? entry.substr(0, angle) : unit.QualifiedName()) + arguments;
  slices.entry_deduces = arguments.empty() && (unit.is_template || reach.entries.size() > 1);
  slices.entry_line = reach.entries.front()->line;
  slices.parameters = SignatureOf(parsed, entry);
  slices.unsupported = UnsupportedParametersOf(parsed, entry);
  slices.build_dependence = FindBuildDependence(parsed);
  slices.build_dependence.merge(FindUnreachedEffects(units, reach, slices.file));
  slices.build_dependence.merge(FindSharedCode(units, reach, slices.file));
  slices.kernels = NamedKernels(units, reach);
  slices.symbols = reach.symbols;
  slices.device = Emit(Side::kDevice, units, reach.device, slices.file, slices.device_headers, slices);
  slices.device_headers.insert(StandIns().begin(), StandIns().end());
  slices.device = WithPrelude(std::move(slices.device), slices.file);
  if (!reach.entry_is_kernel)
    slices.host = Emit(Side::kHost, units, reach.host, slices.file, slices.host_headers, slices);
  std::sort(slices.notes.begin(), slices.notes.end());
  slices.notes.erase(std::unique(slices.notes.begin(), slices.notes.end()), slices.notes.end());
  return SliceOutcome(std::move(slices));
}

}  // namespace warpwright::source
