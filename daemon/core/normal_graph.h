// The normal form of what a Computation computes, as a graph whose nodes are equal exactly if they are the same node.
// computation_digest.h makes it and writes it down.
//
// Algebra of real numbers, as far as reassociation, fused operations and reciprocals need it, and nothing that could
// make a stable algorithm equal to an unstable one: sums are linear combinations, products have exponents, minima are
// negated maxima, factors that a sum does not depend on stand before it. Products of sums are not expanded.
//
// What is commutative is ordered by a hash of its contents. A variable that a reduction or an output binds is named by
// its height over the reductions inside and by an order that depends on nothing outside; where that leaves a choice,
// the choice with the least hash is taken.
#pragma once

#include <compare>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/computation.h"
#include "core/polynomial.h"

namespace warpwright::core {

using NormalId = uint32_t;
using TokenId = uint32_t;  // a variable
using AtomId = uint32_t;   // of a position: a variable, a quotient or remainder of a position, a gathered integer

struct ContentHash {
  uint64_t high = 0, low = 0;
  auto operator<=>(const ContentHash&) const = default;
};
ContentHash HashOf(std::string_view bytes);
std::string HexOf(const ContentHash& hash);

// (sum of coefficient * atom + constant) / divisor
struct NormalIndex {
  std::vector<std::pair<AtomId, Polynomial>> terms;  // by the atoms' hashes
  Polynomial constant;
  Polynomial divisor = Polynomial(1);
};

enum class NormalOp : uint8_t {
  kConstant,
  kSymbol,   // name: a size or a scalar
  kAtom,     // a position's part as a number: atom
  kRead,     // name: the argument; positions[0]: the element
  kLinear,   // value + sum of weight * arg
  kProduct,  // product of arg ^ weight
  kMax,
  kCall,     // detail: a Function; name: a conversion
  kCompare,  // detail: a Comparison of args[0] with 0
  kAnd,
  kOr,
  kNot,
  kSelect,
  kReduce,   // detail: a ReduceOp; args[0]: the body; positions: then the constraints
  kOutput,   // name: the argument; args[0]: the value; positions: then the constraints
  kGuarded,  // a part of a tensor; positions: constraints
  kCases,    // the parts
  kAll       // the outputs
};

struct NormalNode {
  NormalOp op = NormalOp::kConstant;
  uint8_t detail = 0;
  double value = 0;
  std::string name;
  AtomId atom = 0;
  std::vector<NormalId> args;
  std::vector<double> weights;
  std::vector<NormalIndex> positions;
  std::vector<std::pair<TokenId, Polynomial>> variables;  // of kReduce and kOutput, with their extents
  uint8_t own = 0;    // positions that are no constraints: an arg reduction's index, an output's element
  bool tied = false;  // the order of the variables was a choice that depends on what is outside

  // Derived.
  ContentHash hash;
  int height = 0;               // more than those of the reductions inside
  std::vector<TokenId> tokens;  // variables that occur free, sorted
};

// A constraint is a position that is at least 0, or, with a divisor, one that is an integer.
class NormalGraph {
 public:
  // After `limit` nodes were asked for, full() is true and results mean nothing.
  explicit NormalGraph(uint64_t limit) : limit_(limit) {}
  bool full() const { return asked_ > limit_; }
  const NormalNode& operator[](NormalId id) const { return nodes_[id]; }

  NormalId Constant(double value);
  NormalId Symbol(const std::string& name);
  NormalId OfPolynomial(const Polynomial& polynomial);
  NormalId OfIndex(const NormalIndex& index);
  NormalId Read(const std::string& tensor, NormalIndex element);
  using Weighted = std::vector<std::pair<NormalId, double>>;
  NormalId Linear(double value, const Weighted& terms);
  NormalId Product(double factor, Weighted factors);
  NormalId Max(std::vector<NormalId> args);
  NormalId Min(const std::vector<NormalId>& args);
  NormalId Call(Function function, const std::vector<NormalId>& args);
  NormalId Conversion(const std::string& to, NormalId arg);
  NormalId Compare(Comparison op, NormalId left, NormalId right);
  NormalId Logic(NormalOp op, std::vector<NormalId> args);
  NormalId Not(NormalId arg);
  NormalId Select(NormalId condition, NormalId then, NormalId otherwise);
  NormalId Cases(const std::vector<std::pair<std::vector<NormalIndex>, NormalId>>& parts);
  NormalId All(std::vector<NormalId> outputs);

  // Binders. `variables` are fresh tokens.
  using Variables = std::vector<std::pair<TokenId, Polynomial>>;
  NormalId Reduce(ReduceOp op, Variables variables, std::vector<NormalIndex> constraints,
                  std::optional<NormalIndex> index, NormalId body);
  NormalId Output(const std::string& name, const Variables& variables, std::vector<NormalIndex> constraints,
                  const NormalIndex& element, NormalId value);

  // Positions.
  TokenId FreshToken(const Polynomial& extent);
  void LimitExtent(TokenId token, const Polynomial& extent);  // forgets it, if there is another
  NormalIndex OfToken(TokenId token);
  TokenId TokenOf(const NormalIndex& index) const { return atoms_[index.terms[0].first].token; }  // of OfToken
  NormalIndex OfNumber(const Polynomial& number) const { return {{}, number, Polynomial(1)}; }
  NormalIndex OfGather(NormalId node);
  NormalIndex Sum(const NormalIndex& a, const NormalIndex& b,
                  const Polynomial& factor = Polynomial(1));  // a + factor b
  NormalIndex Divided(NormalIndex a, const Polynomial& divisor);
  NormalIndex Part(Affine::Part part, const NormalIndex& whole, const Polynomial& modulus);
  // low <= value < high, value whole.
  void AddConstraints(const NormalIndex& value, const std::optional<Polynomial>& low,
                      const std::optional<Polynomial>& high, std::vector<NormalIndex>& constraints);

  std::string Key(const NormalIndex& index) const { return Serialized(index, nullptr); }  // equal for equal ones

  // Lines of nodes that precede the line that needs them; equal for equal graphs.
  std::string Text(NormalId root) const;

 private:
  using Renaming = std::map<TokenId, NormalIndex>;
  struct Atom {
    enum class Kind : uint8_t { kToken, kQuotient, kRemainder, kGather } kind = Kind::kToken;
    TokenId token = 0;
    NormalIndex inner;
    Polynomial modulus;
    NormalId node = 0;
    ContentHash hash;
    std::vector<TokenId> tokens;
    int height = 0;
  };

  // normal_graph.cpp
  NormalId Intern(NormalNode node);
  std::string Serialized(const NormalNode& node, bool by_hash, const std::map<NormalId, size_t>* lines) const;
  std::string Serialized(const NormalIndex& index, const std::map<NormalId, size_t>* lines) const;
  std::string Serialized(const Atom& atom, const std::map<NormalId, size_t>* lines) const;
  void SortByHash(std::vector<NormalId>& ids) const;
  const NormalNode* As(NormalOp op, NormalId id) const;
  const double* AsConstant(NormalId id) const;

  // normal_index.cpp
  TokenId Token(const std::string& name);
  AtomId InternAtom(Atom atom);
  NormalIndex OfAtom(AtomId atom) const { return {{{atom, Polynomial(1)}}, Polynomial(), Polynomial(1)}; }
  void Tidy(NormalIndex& index) const;
  void TidyConstraints(std::vector<NormalIndex>& constraints, const Variables& box) const;
  std::vector<TokenId> TokensOf(const NormalIndex& index) const;
  bool IsImplied(const NormalIndex& constraint, const Variables& box) const;

  // normal_rename.cpp
  NormalId Renamed(NormalId id, const Renaming& renaming);
  NormalIndex Renamed(const NormalIndex& index, const Renaming& renaming);
  using Memo = std::unordered_map<NormalId, NormalId>;
  NormalId Renamed(NormalId id, const Renaming& renaming, Memo& memo);
  NormalIndex Renamed(const NormalIndex& index, const Renaming& renaming, Memo& memo);
  NormalId Remade(NormalId id, const Renaming& renaming, Memo& memo);
  std::vector<NormalId> Below(NormalId id) const;

  // normal_binder.cpp
  // `ordered`: the variables are in their order already, unless something changes.
  NormalId Bind(NormalNode binder, bool ordered);
  std::vector<NormalIndex> Constraints(const NormalNode& binder) const;
  void SetConstraints(NormalNode& binder, std::vector<NormalIndex> constraints) const;
  void Substitute(NormalNode& binder, const Renaming& renaming);
  bool RemoveUnits(NormalNode& binder);  // variables with one value
  bool MergeInner(NormalNode& binder);
  bool PullOut(NormalNode& binder, Weighted& before);
  bool DropUnused(NormalNode& binder, Weighted& before);
  bool Split(const NormalNode& binder, Weighted& before);  // into independent parts
  ContentHash KeyOf(const NormalNode& binder, size_t variable);
  NormalId Ordered(NormalNode binder);
  NormalId WithNames(const NormalNode& binder, const std::vector<size_t>& order, bool tied);

  const uint64_t limit_;
  uint64_t asked_ = 0;
  std::deque<NormalNode> nodes_;  // references stay valid
  std::map<ContentHash, NormalId> ids_;
  std::deque<Atom> atoms_;
  std::map<ContentHash, AtomId> atom_ids_;
  std::vector<std::string> token_names_;
  std::map<std::string, TokenId> token_ids_;
  std::map<TokenId, Polynomial> extents_;
};

}  // namespace warpwright::core
