// restrict_readonly: pointers that a kernel only reads become `const T* __restrict__`, which lets the compiler load
// through the read-only path and move loads across stores.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "rewrite/launch.h"
#include "rewrite/site.h"
#include "rewrite/transforms.h"

namespace warpwright::rewrite {
namespace {

bool IsConstPointee(const source::SyntaxParameter& parameter) {
  return clang_isConstQualifiedType(
             clang_getPointeeType(clang_getCanonicalType(clang_getCursorType(parameter.cursor)))) != 0;
}
bool IsRestrict(const source::SyntaxParameter& parameter) {
  return clang_isRestrictQualifiedType(clang_getCanonicalType(clang_getCursorType(parameter.cursor))) != 0;
}

// Would the code still compile if the parameter pointed to const? Pointers made from it must point to const too.
bool AcceptsConst(const KernelSite& site, const std::string& symbol) {
  bool accepts = true;
  const auto derives = [&](const source::Node& node) {
    const auto target = site.analysis().ResolvePointer(node);
    return target && target->base == symbol;
  };
  source::ForEach(*site.function().body, [&](const source::Node& node) {
    const bool makes_pointer = (node.Is(source::NodeKind::kVariable) && node.size() == 1) ||
                               (node.Is(source::NodeKind::kCast) && node.size() == 1);
    if (!makes_pointer || !derives(node[0])) return;
    const CXType type = clang_getCanonicalType(clang_getCursorType(node.cursor));
    if (type.kind == CXType_Pointer && clang_isConstQualifiedType(clang_getPointeeType(type)) == 0) accepts = false;
  });
  return accepts;
}

// Pointer parameters by how their target is accessed.
struct Pointers {
  std::vector<size_t> read_only, written;
};
Pointers Classify(const KernelSite& site) {
  Pointers pointers;
  std::set<std::string> unresolved, written, read;
  for (const source::Access& access : site.analysis().Accesses(&unresolved)) {
    if (access.writes) written.insert(access.base);
    if (access.reads) read.insert(access.base);
  }
  const auto& parameters = site.function().parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const CXType type = clang_getCanonicalType(clang_getCursorType(parameters[i].cursor));
    if (type.kind != CXType_Pointer || parameters[i].name.empty()) continue;
    const std::string& symbol = parameters[i].symbol;
    const bool is_const = IsConstPointee(parameters[i]);
    const bool only_read = is_const || (read.contains(symbol) && !written.contains(symbol) &&
                                        !unresolved.contains(symbol) && AcceptsConst(site, symbol));
    (only_read ? pointers.read_only : pointers.written).push_back(i);
  }
  return pointers;
}

// Refuses if the launch passes the same array to a pointer that is read and to one that is written.
std::optional<core::RewriteRefusal> FindAlias(const std::vector<LaunchSite>& launches, const Pointers& pointers,
                                              const source::SyntaxFunction& kernel) {
  for (const LaunchSite& site : launches) {
    const auto base = [&](size_t i) -> std::string {
      if (source::kLaunchArguments + i >= site.launch->size()) return "";
      const auto target = site.host->analysis.ResolvePointer((*site.launch)[source::kLaunchArguments + i]);
      return target ? target->base : "";
    };
    for (size_t reads : pointers.read_only)
      for (size_t writes : pointers.written)
        if (!base(reads).empty() && base(reads) == base(writes))
          return Refuse(fmt::format("{} and {} are the same array at a launch", kernel.parameters[reads].name,
                                    kernel.parameters[writes].name),
                        site.launch->line);
  }
  return std::nullopt;
}

// Adds what the parameter at [begin, end) lacks. `pointer` is immediately before the name: "const float* __restrict__
// x".
void Qualify(std::string_view text, uint32_t begin, uint32_t end, const std::string& name, bool add_const,
             bool add_restrict, Edits& edits) {
  std::optional<uint32_t> at;
  for (const source::Token& token : source::Lex(text.substr(begin, end - begin)))
    if (token.text == name) at = begin + token.range.begin;
  if (!at) return;
  if (add_const) edits.Insert(begin, "const ");
  if (add_restrict) edits.Insert(*at, text[*at - 1] == '*' ? " __restrict__ " : "__restrict__ ");
}

// Other declarations of the kernel in the file get the same qualifiers; one in a header cannot.
std::optional<core::RewriteRefusal> QualifyDeclarations(const source::Ast& ast, const KernelSite& site,
                                                        const std::vector<size_t>& chosen, Edits& edits) {
  std::optional<core::RewriteRefusal> refusal;
  const CXCursor definition = site.function().cursor;
  source::ast::ForEachDescendant(ast.root(), [&](CXCursor cursor) {
    if (!source::ast::IsFunction(cursor)) return clang_isDeclaration(clang_getCursorKind(cursor)) != 0;
    const bool same = clang_equalCursors(clang_getCanonicalCursor(cursor), clang_getCanonicalCursor(definition)) != 0;
    if (!same || clang_equalCursors(cursor, definition)) return false;
    if (!source::ast::IsInMainFile(cursor)) {
      refusal = Refuse(fmt::format("{} is declared in a header", site.function().name), source::ast::Line(definition));
      return false;
    }
    const std::vector<CXCursor> parameters = source::ast::Parameters(cursor);
    for (size_t i : chosen) {
      const source::SyntaxParameter& defined = site.function().parameters[i];
      const source::TextRange range = source::ast::Offsets(parameters[i]);
      const std::string name = source::ast::Spelling(parameters[i]);
      if (!IsConstPointee(defined)) edits.Insert(range.begin, "const ");
      if (!name.empty() && !IsRestrict(defined)) Qualify(site.text, range.begin, range.end, name, false, true, edits);
    }
    return false;
  });
  return refusal;
}

core::RewriteOutcome ApplyRestrictReadonly(const source::Ast& ast, const core::RewriteRequest& request) {
  SiteOutcome found = FindSite(ast, request);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&found)) return *refusal;
  const KernelSite& site = *std::get<std::unique_ptr<KernelSite>>(found);
  const source::SyntaxFunction& kernel = site.function();
  const Pointers pointers = Classify(site);
  std::vector<size_t> chosen;
  for (size_t i : pointers.read_only)
    if (!IsConstPointee(kernel.parameters[i]) || !IsRestrict(kernel.parameters[i])) chosen.push_back(i);
  if (chosen.empty()) {
    return Refuse(pointers.read_only.empty() ? "no pointer is only read"
                                             : "every pointer that is only read is const __restrict__ already",
                  source::ast::Line(kernel.cursor));
  }
  for (const auto* launches : {&site.launches, &site.other_launches})
    if (auto refusal = FindAlias(*launches, pointers, kernel)) return *refusal;

  Edits edits;
  std::vector<std::string> names;
  for (size_t i : chosen) {
    const source::SyntaxParameter& parameter = kernel.parameters[i];
    Qualify(site.text, parameter.begin, parameter.end, parameter.name, !IsConstPointee(parameter),
            !IsRestrict(parameter), edits);
    names.push_back(parameter.name);
  }
  if (edits.empty()) return Refuse("the parameters are spelt by a macro", source::ast::Line(kernel.cursor));
  if (auto refusal = QualifyDeclarations(ast, site, chosen, edits)) return *refusal;
  return Finish(ast, edits,
                {fmt::format("{}: const __restrict__ (never written, and not the same array as an output)",
                             fmt::join(names, ", "))});
}

}  // namespace

Transform RestrictReadonlyTransform() {
  return {.id = "restrict_readonly", .parameters = {}, .apply = ApplyRestrictReadonly};
}

}  // namespace warpwright::rewrite
