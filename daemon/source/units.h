// A file as a list of declarations ("units"), cut on raw tokens: functions, variables, types, aliases, macros and
// invocations of macros that make declarations. Namespaces and extern "C" are the scopes of their units, not units. The
// same splitter serves class bodies and the bodies of macros that make kernels, where no syntax tree has extents.
//
// Only code that the device's view of the preprocessor keeps is split; what stands in inactive branches belongs to the
// unit around it or to none, and is left alone.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "source/ast.h"
#include "source/tokens.h"

namespace warpwright::source {

// What __global__, __device__ and so on say, also when a macro of the file says it.
enum CudaAttribute : unsigned { kGlobal = 1, kDevice = 2, kHost = 4, kConstant = 8, kManaged = 16, kShared = 32 };

inline constexpr size_t kNone = static_cast<size_t>(-1);

// A #define. Several definitions of one name (in branches of #if) are several macros.
struct Macro {
  std::string name;
  bool function_like = false;
  std::vector<std::string> parameters;
  std::vector<Token> body;
  bool declares = false;  // has a ';' or a '{...}' of its own: an invocation is a declaration
  bool pastes = false;    // uses ##
  int brace_balance = 0;  // +1: opens a scope ("BEGIN_NAMESPACE")
  TextRange range;        // the directive
  std::string path;
};

class MacroTable {
 public:
  void Add(Macro macro);
  const std::vector<Macro>* Find(std::string_view name) const;
  unsigned Attributes(
      std::string_view name) const;            // CudaAttribute bits that the name stands for, through other macros too
  bool Declares(std::string_view name) const;  // a macro whose invocation is a declaration
  int BraceBalance(std::string_view name) const;
  bool any_pastes() const { return any_pastes_; }
  const std::map<std::string, std::vector<Macro>, std::less<>>& all() const { return macros_; }

 private:
  std::map<std::string, std::vector<Macro>, std::less<>> macros_;
  bool any_pastes_ = false;
};

struct Unit {
  enum class Kind { kFunction, kVariable, kType, kAlias, kUsingNamespace, kMacro, kInvocation, kOther };
  Kind kind = Kind::kOther;
  std::string path;
  TextRange range;  // from the first token to the last, ';' included
  int line = 0, end_line = 0;
  std::vector<std::string> scope;  // "" for an anonymous namespace; extern "C" does not count
  std::string name;                // the first declared name
  std::string class_path;          // "Scaler::" for void Scaler::run() {...}
  std::set<std::string> names;     // all of them, enumerators and class qualifiers too
  unsigned attributes = 0;
  bool is_constexpr = false, is_const = false, is_template = false, is_defaulted = false, is_specialization = false;
  std::string explicit_arguments;  // of a specialization: "<float>"

  // Token indices into the code tokens that were split; kNone where there is none.
  size_t first = kNone, last = kNone;  // last is exclusive
  size_t declarator = kNone;           // first token behind the template<...> prefix
  size_t template_open = kNone;        // '<' of the innermost prefix
  size_t params_open = kNone, params_close = kNone;
  size_t body_open = kNone, body_close = kNone;  // function body or class body

  std::set<std::string> head_references, body_references;  // identifiers outside and inside the body

  std::string QualifiedName() const;  // "ns::name"; anonymous namespaces left out
  bool is_kernel() const { return (attributes & kGlobal) != 0; }
  bool is_device_only() const { return (attributes & kDevice) != 0 && (attributes & kHost) == 0; }
};

// The code tokens of a file (active, no directives) and its units, macros included, in source order.
struct FileUnits {
  const SourceFile* file = nullptr;
  std::vector<Token> all;  // every token
  std::vector<Token> code;
  std::vector<Unit> units;
};

// The unit that begins at code[begin]; Unit::last says where it ends.
Unit ScanUnit(const std::vector<Token>& code, size_t begin, size_t end, const MacroTable& macros);
// Cuts code[begin, end) into units. In a class body access specifiers are skipped.
std::vector<Unit> SplitUnits(const std::vector<Token>& code, size_t begin, size_t end, const MacroTable& macros,
                             bool in_class);

struct SourceUnits {
  MacroTable macros;
  std::map<std::string, FileUnits> files;           // by path
  std::multimap<std::string, const Unit*> by_name;  // every unit under each of its names
};
// The syntax tree tells inactive branches, and names what macros made.
SourceUnits ReadUnits(const Ast& ast);

// Units that `roots` refer to by name, directly or not, themselves included. `body_counts` says whether a unit's body
// is followed.
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

// Index behind the '>' that closes code[open] == "<", or kNone where it is no bracket.
size_t SkipAngles(const std::vector<Token>& code, size_t open, size_t end);

}  // namespace warpwright::source
