// A file as a list of declarations ("units"), cut on raw tokens: functions, variables, types, aliases, macros and
// invocations of macros that make declarations. Namespaces and extern "C" are the scopes of their units, not units. The
// same splitter handles class bodies and the bodies of macros that generate kernels, for which no syntax tree has
// extents.
//
// Only code that is active for the device is split; code in inactive branches belongs to the enclosing unit or to none,
// and is not changed.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "source/ast.h"
#include "source/macros.h"
#include "source/tokens.h"

namespace warpwright::source {

inline constexpr size_t kNone = static_cast<size_t>(-1);

// As the syntax tree names it.
struct ExpandedParameter {
  std::string name;
  bool pack = false;
};

struct Unit {
  enum class Kind { kFunction, kVariable, kType, kAlias, kUsingNamespace, kMacro, kInvocation, kOther };
  Kind kind = Kind::kOther;
  std::string path;
  TextRange range;  // from the first token to the last, ';' included
  int line = 0, end_line = 0;
  std::vector<std::string> scope;   // "" for an anonymous namespace; extern "C" does not count
  std::optional<uint32_t> linkage;  // where the outermost extern "C" { around it begins
  std::string name;                 // the first declared name
  std::string class_path;           // "Scaler::" for void Scaler::run() {...}
  std::set<std::string> names;      // all declared names, including enumerators and class qualifiers
  unsigned attributes = 0;
  bool is_constexpr = false, is_const = false, is_template = false, is_defaulted = false, is_specialization = false;
  std::string explicit_arguments;  // of a specialization: "<float>"

  // Indices into the code tokens that were split; kNone: absent.
  size_t first = kNone, last = kNone;  // last is exclusive
  size_t declarator = kNone;           // first token after the template<...> prefix
  size_t template_open = kNone;        // '<' of the innermost prefix
  size_t params_open = kNone, params_close = kNone;
  // Function body or class body; of an invocation that has one ("KERNEL_BEGIN(f) ... KERNEL_END"), the last token of
  // what opens and the first of what closes it.
  size_t body_open = kNone, body_close = kNone;

  bool macro_header = false;  // name and parameters come from a macro: "KERNEL(f) {...}", "void NAME(f)(int n) {...}"
  std::optional<std::vector<ExpandedParameter>> expanded;  // the parameters, where the tokens do not show them

  std::set<std::string> head_references, body_references;  // identifiers outside and inside the body

  std::string QualifiedName() const;  // "ns::name"; without anonymous namespaces
  bool opened_by_macro() const { return kind == Kind::kInvocation && body_open != kNone; }
  bool is_kernel() const { return (attributes & kGlobal) != 0; }
  bool is_device_only() const { return (attributes & kDevice) != 0 && (attributes & kHost) == 0; }
};

// The code tokens of a file (active, no directives) and its units, macros included, in source order.
struct FileUnits {
  const SourceFile* file = nullptr;
  std::vector<Token> all;  // all tokens
  std::vector<Token> code;
  std::vector<Unit> units;
};

// The unit that begins at code[begin]; it ends at Unit::last.
Unit ScanUnit(const std::vector<Token>& code, size_t begin, size_t end, const MacroTable& macros);
// Splits code[begin, end) into units. In a class body, access specifiers are skipped.
std::vector<Unit> SplitUnits(const std::vector<Token>& code, size_t begin, size_t end, const MacroTable& macros,
                             bool in_class);

struct SourceUnits {
  MacroTable macros;
  std::set<std::string, std::less<>> declaring_macros;  // some declaration is an invocation of these
  std::map<std::string, FileUnits> files;               // by path
  std::multimap<std::string, const Unit*> by_name;      // every unit under each of its names
};
// The syntax tree shows which branches are inactive, and names what macros generate.
SourceUnits ReadUnits(const Ast& ast);

// Units that `roots` refer to by name, directly or indirectly, including the roots. `body_counts`: whether references
// in a unit's body are followed.
template <typename BodyCounts>
std::set<const Unit*> Closure(const SourceUnits& units, std::vector<const Unit*> roots, BodyCounts body_counts) {
  std::set<const Unit*> reached(roots.begin(), roots.end());
  std::set<std::string_view> seen;
  while (!roots.empty()) {
    const Unit* unit = roots.back();
    roots.pop_back();
    const auto follow = [&](const std::set<std::string>& references) {
      for (const std::string& name : references) {
        if (!seen.insert(name).second) continue;
        for (auto [it, end] = units.by_name.equal_range(name); it != end; ++it) {
          if (reached.insert(it->second).second) roots.push_back(it->second);
        }
      }
    };
    follow(unit->head_references);
    if (body_counts(*unit)) follow(unit->body_references);
  }
  return reached;
}

// Index after the '>' that closes code[open] == "<", or kNone if it is not a bracket.
size_t SkipAngles(const std::vector<Token>& code, size_t open, size_t end);

}  // namespace warpwright::source
