// What expressions inside one function mean: definitions of local variables, index expressions as polynomials over
// threadIdx, blockIdx, parameters and loop counters, counted loops, bounds guards.
//
// A local variable that is written only by its initializer is replaced by its definition. The variable of a counted
// loop is start + step * "name@offset#", where the symbol is the iteration number. What cannot be resolved (a division,
// a loaded value, a variable written twice) is an opaque symbol, whose dependences are recorded.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "source/polynomial.h"
#include "source/syntax.h"

namespace warpwright::source {

// for (T v = start; v < bound; v += step). `step` is null for ++ and --.
struct CountedLoop {
  const Node* loop = nullptr;
  std::string variable;    // symbol
  std::string name, type;  // as spelled
  bool declares = false;   // the loop declares the variable
  const Node* start = nullptr;
  const Node* bound = nullptr;
  std::string relation;  // "<", "<=", ">", ">=", "!="; the variable is on the left
  const Node* step = nullptr;
  bool down = false;
  const Node& body() const { return (*loop)[kLoopBody]; }
};

// if (x < n && y < m) { ... }   or   if (x >= n || y >= m) return;
struct BoundsGuard {
  const Node* statement = nullptr;  // the kIf
  bool returns_early = false;
  struct Limit {
    const Node* index;
    const Node* bound;
  };
  std::vector<Limit> limits;  // index < bound
  const Node& body() const { return (*statement)[kIfThen]; }
};

struct VariableInfo {
  std::string name, type;
  const Node* declaration = nullptr;  // kVariable; null for parameters
  const SyntaxParameter* parameter = nullptr;
  std::vector<const Node*> writes;     // assignments, increments, address-of, but not the initializer
  std::vector<const Node*> uses;       // every kName, writes included
  const Node* counted_loop = nullptr;  // the loop whose counter this is
};

// One location in the source where memory is read or written through a pointer or an array.
struct Access {
  const Node* node = nullptr;  // kSubscript, unary *, or the call (__ldg(&p[i]), atomicAdd(p + i, v))
  std::string base;            // symbol of the pointer parameter or array
  Polynomial index;
  bool reads = false, writes = false, atomic = false;
  bool reinterpreted = false;  // through a cast to another element type
  int units = 1;               // elements of the base that one access covers; `index` counts elements of the base
  int vector_width = 1;        // scalars per access: 4 for float4, regardless of the base
};

// What the value of an expression depends on, through local variables.
struct Dependence {
  bool thread = false, block = false, memory = false, unknown = false;
  std::set<std::string> symbols;
  bool On(const std::string& symbol) const { return symbols.contains(symbol); }
};

class FunctionAnalysis {
 public:
  explicit FunctionAnalysis(const SyntaxFunction& function);  // keeps a reference

  const SyntaxFunction& function() const { return function_; }
  const VariableInfo* Find(const std::string& symbol) const;
  const std::map<std::string, VariableInfo>& variables() const { return variables_; }
  // The initializer of a local variable that nothing else writes; null otherwise.
  const Node* Definition(const std::string& symbol) const;

  Polynomial Index(const Node& expression) const;
  Dependence DependsOn(const Node& expression) const;
  // Of an Index, including what its opaque symbols depend on.
  Dependence DependsOn(const Polynomial& index) const;
  std::optional<int64_t> Fold(const Node& expression) const;
  // The expression that an opaque symbol of an Index stands for; null for other symbols.
  const Node* OpaqueExpression(const std::string& symbol) const;

  std::optional<CountedLoop> Counted(const Node& loop) const;
  std::optional<int64_t> TripCount(const CountedLoop& loop) const;

  // The pointer parameter, array or pointer variable that an access refers to, resolved through casts, p + offset and
  // definitions (`const float* x = inp + row * C`): its symbol, and the whole index in elements of the base. Nothing if
  // it cannot be determined.
  struct Target {
    std::string base;            // symbol
    Polynomial index;            // in elements of the base
    bool reinterpreted = false;  // through a cast to another element type
    int units = 1;               // how many elements of the base one element of the pointer covers
  };
  std::optional<Target> Resolve(const Node& access) const;  // kSubscript or unary *
  std::optional<Target> ResolvePointer(const Node& pointer) const;

  // Every access whose base is known, in source order. `unresolved` receives pointer parameters and arrays that are
  // used in other ways (passed to a function, stored, modified).
  std::vector<Access> Accesses(std::set<std::string>* unresolved = nullptr) const;

 private:
  // Definitions may refer to each other infinitely (`int a = a;`).
  class DepthGuard {
   public:
    explicit DepthGuard(int& depth) : depth_(depth) { ++depth_; }
    ~DepthGuard() { --depth_; }
    DepthGuard(const DepthGuard&) = delete;

   private:
    int& depth_;
  };

  void Record(const Node& root);
  Polynomial Opaque(const Node& expression) const;
  Polynomial IndexOfName(const Node& name) const;
  void Depend(const Node& expression, Dependence& result, int depth) const;
  std::optional<Access> AccessAt(const Node& node) const;

  const SyntaxFunction& function_;
  std::map<std::string, VariableInfo> variables_;
  mutable std::map<std::string, const Node*> opaque_;  // symbol -> expression
  mutable int depth_ = 0;
};

// Recognizes `if (i < n) { ... }` without else, or `if (i >= n) return;`.
std::optional<BoundsGuard> AsBoundsGuard(const Node& statement);

// With pointers, arrays and qualifiers removed and aliases resolved: "const float *__restrict" -> f32; "half" -> f16.
std::optional<core::DType> ElementTypeOf(CXType type);
// Spelling without qualifiers; also works for the invalid type (empty), on which libclang's own function does not
// return.
std::string UnqualifiedSpelling(CXType type);
// The pointee type of a pointer parameter, without qualifiers, as spelled in the file: "float", "T", "half".
std::string ElementSpelling(const SyntaxParameter& pointer);
// Elements per access of a vector type: float4 -> 4, __half2 -> 2, uint4 -> 4; 1 for other types.
int VectorWidthOf(CXType type);

bool IsThreadSymbol(std::string_view symbol);  // threadIdx.*
bool IsBlockSymbol(std::string_view symbol);   // blockIdx.*
bool IsLoad(const Node& node);                 // a kSubscript or unary * that is read
bool IsWritten(const Node& access);            // the target of an assignment or of an atomic
bool IsAtomic(const Node& node);               // a call of atomicAdd and the like
const Node& StripCasts(const Node& expression);

}  // namespace warpwright::source
