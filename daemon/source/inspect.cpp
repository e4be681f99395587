#include "source/inspect.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/hash.h"
#include "source/ast.h"
#include "source/closure.h"
#include "source/features.h"
#include "source/headers.h"
#include "source/signature.h"
#include "source/units.h"

namespace warpwright::source {
namespace {

// Whether a function reads or writes through a pointer parameter, as far as its text shows.
struct Use {
  bool reads = false, writes = false;
};

bool IsAssignment(const std::string& op) {
  return op == "=" || (op.size() >= 2 && op.back() == '=' && op != "==" && op != "<=" && op != ">=" && op != "!=");
}

std::string OperatorOf(CXCursor cursor) {
  return ast::ToString(clang_getBinaryOperatorKindSpelling(clang_getCursorBinaryOperatorKind(cursor)));
}

struct Assignment {
  std::string op;  // "=", "+="
  CXCursor target, value;
};
// Built-in assignments, and those of classes such as __half.
std::optional<Assignment> AsAssignment(CXCursor cursor) {
  const CXCursorKind kind = clang_getCursorKind(cursor);
  const bool builtin = kind == CXCursor_BinaryOperator || kind == CXCursor_CompoundAssignOperator;
  if (!builtin && kind != CXCursor_CallExpr) return std::nullopt;
  std::string op = builtin ? OperatorOf(cursor) : ast::Spelling(cursor);
  if (!builtin) {
    if (!op.starts_with("operator")) return std::nullopt;
    op = op.substr(8);
  }
  const std::vector<CXCursor> children = ast::Children(cursor);
  if (!IsAssignment(op) || children.size() < 2) return std::nullopt;
  return Assignment{op, children.front(), children.back()};
}

// The base name of p[i], *p, *(p + i), p->x, (T)p[i].x: the pointer that is stored to or loaded from.
std::string BaseName(CXCursor cursor) {
  for (int depth = 0; depth < 64; ++depth) {
    const CXCursorKind kind = clang_getCursorKind(cursor);
    if (kind == CXCursor_DeclRefExpr) return ast::Spelling(cursor);
    const std::vector<CXCursor> children = ast::Children(cursor);
    if (children.empty()) return {};
    cursor =
        kind == CXCursor_CStyleCastExpr || kind == CXCursor_CXXReinterpretCastExpr || kind == CXCursor_CXXStaticCastExpr
            ? children.back()
            : children.front();
  }
  return {};
}

bool IsDereference(CXCursor cursor) {
  const CXCursorKind kind = clang_getCursorKind(cursor);
  if (kind == CXCursor_ArraySubscriptExpr) return true;
  if (kind == CXCursor_UnaryOperator) return clang_getCursorUnaryOperatorKind(cursor) == CXUnaryOperator_Deref;
  if (kind == CXCursor_MemberRefExpr || kind == CXCursor_ParenExpr || kind == CXCursor_UnexposedExpr) {
    const std::vector<CXCursor> children = ast::Children(cursor);
    return !children.empty() && IsDereference(children.front());
  }
  return false;
}

// Pointers derived from a parameter ("float* row = out + i * C") count as the parameter.
class PointerUses {
 public:
  explicit PointerUses(CXCursor function) {
    for (const CXCursor& parameter : ast::Parameters(function))
      origin_[ast::Spelling(parameter)] = ast::Spelling(parameter);
    const CXCursor body = ast::Body(function);
    if (!clang_Cursor_isNull(body)) Visit(body, false);
  }
  Use Of(const std::string& parameter) const {
    const auto found = uses_.find(parameter);
    return found == uses_.end() ? Use{} : found->second;
  }

 private:
  void Note(CXCursor cursor, bool reads, bool writes) {
    const auto origin = origin_.find(BaseName(cursor));
    if (origin == origin_.end()) return;
    uses_[origin->second].reads |= reads;
    uses_[origin->second].writes |= writes;
  }

  void Visit(CXCursor cursor, bool stored) {
    const CXCursorKind kind = clang_getCursorKind(cursor);
    const std::vector<CXCursor> children = ast::Children(cursor);
    if (kind == CXCursor_VarDecl && !children.empty()) {
      const CXType type = clang_getCanonicalType(clang_getCursorType(cursor));
      if (type.kind == CXType_Pointer) {
        std::string base = BaseName(children.back());
        if (const auto origin = origin_.find(base); origin != origin_.end())
          origin_[ast::Spelling(cursor)] = origin->second;
      }
    }
    if (IsDereference(cursor) && kind != CXCursor_UnexposedExpr && kind != CXCursor_ParenExpr)
      Note(cursor, !stored, stored);
    if (const auto assignment = AsAssignment(cursor)) {
      if (IsDereference(assignment->target)) Note(assignment->target, assignment->op != "=", true);
      Visit(assignment->target, assignment->op == "=");
      Visit(assignment->value, false);
      return;
    }
    if (kind == CXCursor_UnaryOperator && children.size() == 1 && IsDereference(children[0])) {
      const CXUnaryOperatorKind unary = clang_getCursorUnaryOperatorKind(cursor);
      const bool changes = unary == CXUnaryOperator_PreInc || unary == CXUnaryOperator_PostInc ||
                           unary == CXUnaryOperator_PreDec || unary == CXUnaryOperator_PostDec;
      if (changes) Note(children[0], true, true);
      if (unary == CXUnaryOperator_AddrOf) {  // &p[i]: its use depends on the callee
        for (const CXCursor& child : ast::Children(children[0])) Visit(child, false);
        return;
      }
    }
    if (kind == CXCursor_CallExpr) Call(cursor, children);
    for (const CXCursor& child : children)
      Visit(child, stored && kind != CXCursor_ArraySubscriptExpr && kind != CXCursor_UnaryOperator);
  }

  void Call(CXCursor cursor, const std::vector<CXCursor>& children) {
    const std::string name = ast::Spelling(cursor);
    if (children.size() < 2) return;
    if (name.starts_with("atomic")) {
      // Initialized by the caller: the old content matters.
      Note(children[1], true, true);
    } else if (name.starts_with("__st")) {
      Note(children[1], false, true);
    } else if (name.starts_with("__ld")) {
      Note(children[1], true, false);
    }
  }

  std::map<std::string, std::string> origin_;
  std::map<std::string, Use> uses_;
};

core::Role RoleOf(const Use& use, bool is_const) {
  if (is_const) return core::Role::kIn;
  if (use.reads && use.writes) return core::Role::kInOut;
  if (use.reads) return core::Role::kIn;
  return core::Role::kOut;
}

// The first plain store through a pointer: the whole assignment, and its left-hand side.
struct Store {
  TextRange assignment, target;
};
std::optional<Store> FirstStore(CXCursor function, const std::string& pointer) {
  std::optional<Store> first;
  ast::ForEachDescendant(ast::Body(function), [&](CXCursor cursor) {
    if (first) return false;
    const auto assignment = AsAssignment(cursor);
    const bool store = assignment && assignment->op == "=" && IsDereference(assignment->target) &&
                       BaseName(assignment->target) == pointer;
    if (store) first = Store{ast::Offsets(cursor), ast::Offsets(assignment->target)};
    return true;
  });
  return first;
}

class Inspector {
 public:
  Inspector(const Ast& ast, const SourceUnits& units) : ast_(ast), units_(units) {}

  core::Inspection Run() {
    core::Inspection inspection;
    for (const auto& [path, file] : ast_.tree().files) {
      if (path != ast_.tree().main) inspection.headers.push_back(path);
    }
    for (const CXCursor& function : ast::Functions(ast_)) {
      if (ast::IsKernel(function)) inspection.kernels.push_back(Kernel(function));
    }
    std::set<std::string> seen;
    for (const CXCursor& function : ast::Functions(ast_)) {
      if (!ast::IsInMainFile(function)) continue;
      const bool kernel = ast::IsKernel(function);
      const CXCursorKind kind = clang_getCursorKind(function);
      const bool member = kind == CXCursor_Constructor || kind == CXCursor_Destructor ||
                          kind == CXCursor_ConversionFunction ||
                          (kind == CXCursor_CXXMethod && clang_CXXMethod_isStatic(function) == 0);
      if (member || (!kernel && !ast::IsHost(function))) continue;
      const std::string name = ast::QualifiedName(function);
      if (name == "main" || !seen.insert(name).second) continue;
      if (auto entry = Entry(function, name, kernel)) inspection.entries.push_back(std::move(*entry));
    }
    inspection.warnings = MissingHeaders();
    return inspection;
  }

 private:
  // Parse diagnostics mean little, since system headers are stand-ins; unresolved includes are meaningful.
  std::vector<std::string> MissingHeaders() const {
    std::vector<std::string> warnings;
    for (const auto& [path, file] : ast_.tree().files) {
      for (const IncludeDirective& include : file.includes) {
        const bool known = !include.resolved.empty() || HostHeader(include.name).kind != HeaderUse::Kind::kUnknown ||
                           DeviceHeader(include.name).kind != HeaderUse::Kind::kUnknown;
        if (known) continue;
        warnings.push_back(
            include.name.empty()
                ? fmt::format("{}:{}: an include by macro is left out", path, include.line)
                : fmt::format("{}:{}: the header {} was not found and is left out", path, include.line, include.name));
      }
    }
    return warnings;
  }

  core::KernelInfo Kernel(CXCursor function) {
    core::KernelInfo info;
    info.name = ast::QualifiedName(function);
    for (const CXCursor& parameter : ast::TemplateParameters(function))
      info.template_parameters.push_back(ast::Spelling(parameter));
    info.parameters = ParametersOf(function);
    const PointerUses uses(function);
    for (core::ParameterInfo& parameter : info.parameters) {
      if (!parameter.is_pointer) continue;
      Use use = uses.Of(parameter.name);
      // Written first, then read: an output that is updated in place.
      if (use.reads && use.writes && OverwrittenFirst(function, parameter.name)) use.reads = false;
      parameter.likely_role = RoleOf(use, parameter.is_const);
    }
    info.file = ast::FileOf(function);
    info.line = ast::Line(function);
    info.end_line = ast::EndLine(function);
    info.features = ExtractFeatures(ast_, function);
    roles_[info.name] = info.parameters;
    return info;
  }

  // The first access in the text is a plain store of something that was not read through the pointer itself: an output
  // that is updated in place, as in a softmax that writes exp(x) and then divides it.
  bool OverwrittenFirst(CXCursor function, const std::string& pointer) const {
    const auto store = FirstStore(function, pointer);
    if (!store) return OverwrittenThroughLocal(function, pointer);
    bool earlier_read = false;
    ast::ForEachDescendant(ast::Body(function), [&](CXCursor cursor) {
      if (!IsDereference(cursor) || BaseName(cursor) != pointer) return true;
      const TextRange range = ast::Offsets(cursor);
      if (range.begin < store->assignment.end && !store->target.Contains(range) && !range.Contains(store->target))
        earlier_read = true;
      return true;
    });
    return !earlier_read;
  }
  // float* row = out + ...; row[j] = ...;
  bool OverwrittenThroughLocal(CXCursor function, const std::string& parameter) const {
    bool overwritten = false;
    ast::ForEachDescendant(ast::Body(function), [&](CXCursor cursor) {
      if (clang_getCursorKind(cursor) != CXCursor_VarDecl) return true;
      const std::vector<CXCursor> children = ast::Children(cursor);
      const bool pointer = clang_getCanonicalType(clang_getCursorType(cursor)).kind == CXType_Pointer;
      const std::string local = ast::Spelling(cursor);
      if (pointer && local != parameter && !children.empty() && BaseName(children.back()) == parameter) {
        overwritten = overwritten || (FirstStore(function, local) && OverwrittenFirst(function, local));
      }
      return true;
    });
    return overwritten;
  }

  std::optional<core::EntryInfo> Entry(CXCursor function, const std::string& name, bool kernel) {
    const ReachableUnits reach = FindReachable(ast_, units_, name);
    if (reach.entries.empty() || reach.kernels.empty()) return std::nullopt;
    core::EntryInfo entry;
    entry.kind = kernel ? core::EntryInfo::Kind::kKernel : core::EntryInfo::Kind::kLauncher;
    entry.name = name;
    entry.parameters = ParametersOf(function);
    entry.kernels = reach.kernels;
    entry.slice_hash = SliceHash(units_, reach);
    if (const core::BuildOptions& build = ast_.source().build; !build.IsDefault())
      entry.slice_hash = base::Hasher().Add(entry.slice_hash).Add(build.Text()).Finish();
    entry.line = ast::Line(function);
    entry.end_line = ast::EndLine(function);
    if (reach.refusal) {
      entry.refusal = reach.refusal->reason;
      entry.refusal_file = reach.refusal->file;
      entry.refusal_line = reach.refusal->line;
    }
    for (const auto& [index, unsupported] : UnsupportedParametersOf(ast_, name)) {
      if (unsupported.has_default || !entry.refusal.empty()) continue;
      entry.refusal = unsupported.reason;
      entry.refusal_line = unsupported.line;
    }
    for (size_t i = 0; i < entry.parameters.size(); ++i) {
      core::ParameterInfo& parameter = entry.parameters[i];
      if (!parameter.is_pointer) continue;
      parameter.likely_role = kernel ? roles_[name].at(i).likely_role : LauncherRole(parameter, entry.kernels);
      // Cleared first: the caller's content does not matter.
      if (!kernel && parameter.likely_role == core::Role::kInOut && IsCleared(function, parameter.name))
        parameter.likely_role = core::Role::kOut;
    }
    return entry;
  }

  static bool IsCleared(CXCursor launcher, const std::string& parameter) {
    bool cleared = false;
    ast::ForEachDescendant(ast::Body(launcher), [&](CXCursor cursor) {
      if (clang_getCursorKind(cursor) != CXCursor_CallExpr || !ast::Spelling(cursor).starts_with("cudaMemset"))
        return true;
      const std::vector<CXCursor> children = ast::Children(cursor);
      cleared = cleared || (children.size() > 1 && BaseName(children[1]) == parameter);
      return true;
    });
    return cleared;
  }

  // The role that the kernels give to the parameter of the same name; a const pointer is an input regardless of its
  // name.
  std::optional<core::Role> LauncherRole(const core::ParameterInfo& parameter,
                                         const std::vector<std::string>& kernels) const {
    if (parameter.is_const) return core::Role::kIn;
    bool in = false, out = false, found = false;
    for (const std::string& kernel : kernels) {
      const auto known = roles_.find(kernel);
      if (known == roles_.end()) continue;
      for (const core::ParameterInfo& other : known->second) {
        if (other.name != parameter.name || !other.likely_role) continue;
        found = true;
        // If a later kernel reads what an earlier one wrote, the parameter is not an input.
        in =
            in || (*other.likely_role == core::Role::kInOut && !out) || (*other.likely_role == core::Role::kIn && !out);
        out = out || *other.likely_role != core::Role::kIn;
      }
    }
    if (!found) return core::Role::kOut;
    return in && out ? core::Role::kInOut : out ? core::Role::kOut : core::Role::kIn;
  }

  const Ast& ast_;
  const SourceUnits& units_;
  std::map<std::string, std::vector<core::ParameterInfo>> roles_;
};

}  // namespace

Result<core::Inspection> InspectSource(const core::SourceRef& source) {
  WW_ASSIGN(const Ast parsed, Ast::Parse(source));
  const SourceUnits units = ReadUnits(parsed);
  return Inspector(parsed, units).Run();
}

}  // namespace warpwright::source
