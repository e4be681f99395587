// Expressions in one form, whatever order, tree, shuffle or atomic made them: what generalise.h compares and fits.
//
// Normal form. A kLinear node is value + sum of coefficient * term, with terms that are no kLinear themselves; a
// kProduct has integer exponents and no constant factor. fma is a product in a sum; x - y, -x, x / y, rcp, rsqrt and
// multiplications by constants disappear into coefficients and exponents. Maxima and minima are sets. ex2(x log2 e)
// becomes exp(x), a selection of a comparison a maximum or minimum. Roundings are looked through. That is algebra of
// real numbers: equal forms say nothing about order of summation, overflow or NaN.
//
// Coefficients that stem from f32 are kept to seven digits, those within an ulp of six to six: so f32's log2 e times
// ln 2 is 1.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "core/computation.h"
#include "lift/graph.h"

namespace warpwright::lift {

using FormId = uint32_t;

enum class FormOp : uint8_t {
  kConstant,  // value
  kLoad,      // buffer, element
  kScalar,    // buffer: position in the signature
  kGather,    // buffer; terms[0]: the index, a kLinear or an integer-valued node
  kLinear,
  kProduct,  // coefficient of a term: its exponent
  kMax,
  kMin,
  kArg,      // mode: core::ReduceOp; coefficient of a term: its index
  kCall,     // mode: core::Function
  kCompare,  // mode: core::Comparison
  kAnd,
  kOr,
  kNot,
  kSelect
};

struct FormTerm {
  FormId node = 0;
  double coefficient = 1;
  bool operator==(const FormTerm&) const = default;
};

struct FormNode {
  FormOp op = FormOp::kConstant;
  uint8_t mode = 0;
  uint16_t buffer = 0;
  uint32_t first = 0, count = 0;  // terms
  int64_t element = 0;
  double value = 0;
  // Of the structure without elements, values and numbers of terms: what may be instances of one statement agree in it.
  uint64_t signature = 0;
  int64_t place = 0;  // of the element, for the order of terms
  uint32_t line = 0;
  bool has_data = false;  // depends on more than scalars, directly or as a sum or product
};

class FormGraph {
 public:
  // `exact`: literals keep fifteen digits, for computations in f64.
  explicit FormGraph(uint32_t limit, bool exact = false) : limit_(limit), exact_(exact) { nodes_.push_back({}); }
  // From now on products of a sum over data are sums of products: a linear recurrence becomes a sum over what came
  // before, whose terms are products of as many factors as steps lie between. They are of one structure then.
  void Expand() { expands_ = true; }
  bool expands() const { return expands_; }
  // From now on a square of a difference is written as the code has it, whichever way round: so the distances from all
  // elements to all others are one statement.
  void KeepSigns() { keeps_signs_ = true; }
  // From now on loads are multiplied in the order of the code, also by themselves: so the products of all rows with all
  // others, which are the same both ways round, are one statement.
  void KeepOrder() { keeps_order_ = true; }
  // From now on elements of these buffers, of these extents, come in the order of their last coordinates first, not as
  // they lie in memory: a query's stand before a key's in one tensor of both, whichever of the two is the later row.
  void OrderByLast(std::vector<std::vector<int64_t>> shapes) { shapes_ = std::move(shapes); }
  // Buffers whose elements are integers.
  void SetIntegerBuffers(std::vector<bool> buffers) { integer_buffers_ = std::move(buffers); }
  const FormNode& operator[](FormId id) const { return nodes_[id]; }
  std::span<const FormTerm> terms(FormId id) const { return {terms_.data() + nodes_[id].first, nodes_[id].count}; }
  size_t size() const { return nodes_.size(); }
  bool full() const { return full_; }

  FormId Constant(double value);
  FormId Load(uint16_t buffer, int64_t element);
  FormId Scalar(uint16_t position);
  FormId Gather(uint16_t buffer, FormId index);
  FormId Linear(double value, const std::vector<FormTerm>& terms);  // terms may be any nodes; combined and flattened
  // `x + 0` as it stands in the code: a sum of one term, so that an extent of one does not change the structure.
  FormId SumOfOne(FormId term) { return OfOne(FormOp::kLinear, term); }
  FormId OfOne(FormOp op, FormId term);  // kLinear, kMax, kMin
  // A sum like that one which happens to have no terms at this element, and is no other element's.
  FormId EmptySum(FormId like, int64_t element);
  FormId Product(const std::vector<FormTerm>& factors);
  FormId Extremum(FormOp op, const std::vector<FormId>& args);
  FormId Call(core::Function function, std::vector<FormId> args);
  FormId Compare(core::Comparison comparison, FormId left, FormId right);
  FormId Logic(FormOp op, std::vector<FormId> args);
  FormId Select(FormId condition, FormId then, FormId otherwise);
  // The constant that a node is, if it is one.
  const double* AsConstant(FormId id) const;
  void SetLine(FormId id, uint32_t line) {
    if (nodes_[id].line == 0) nodes_[id].line = line;
  }

 private:
  FormId Intern(FormNode node, std::vector<FormTerm> terms);
  int64_t PlaceOf(uint16_t buffer, int64_t element) const;
  uint64_t SignatureOf(const FormNode& node, std::span<const FormTerm> terms) const;
  bool HasData(const FormNode& node, std::span<const FormTerm> terms) const;
  bool Before(FormId a, FormId b) const;  // an order that does not depend on the order of creation where possible
  template <typename F>
  void ForEachRun(std::span<const FormTerm> terms, const F& visit) const;
  void AddTerm(const FormTerm& term, double& value, std::vector<FormTerm>& flat);
  FormId SumOf(std::vector<FormTerm> run);
  void AddFactor(FormId id, double exponent, double& constant, std::vector<FormTerm>& factors);
  std::vector<FormTerm> Sorted(std::vector<FormTerm> terms) const;
  std::vector<FormTerm> SortedFactors(std::vector<FormTerm> factors) const;
  bool HasPlace(const FormTerm& factor) const { return keeps_order_ && nodes_[factor.node].op == FormOp::kLoad; }
  uint64_t TermOfPlainSum(FormId id) const;
  bool MergePlainSums(std::vector<FormTerm>& sum) const;
  bool IsCentred(const std::vector<FormTerm>& sum) const;
  FormId CentredSquares(const std::vector<FormTerm>& sum);
  bool IsCallOf(FormId id, core::Function function) const;
  FormId ExponentialOf(const std::vector<FormTerm>& exponent);
  FormId ProductOfExponentials(double constant, const std::vector<FormTerm>& factors);
  FormId Distributed(double constant, const std::vector<FormTerm>& factors);
  bool IsPositive(FormId id) const;
  std::vector<FormTerm> Difference(FormId a, FormId b, double& value) const;
  bool IsInteger(FormId id) const;
  FormId CompareIntegers(core::Comparison comparison, FormId sum, double number);
  FormId WithoutRepetition(FormOp op, const std::vector<FormTerm>& parts);
  FormId MergeComparisons(FormOp op, const std::vector<FormTerm>& parts);
  struct OrderWithTie {
    FormId small = 0, large = 0, tie = 0;
    core::Comparison comparison = core::Comparison::kLess;
  };
  OrderWithTie AsOrderWithTie(FormId condition) const;
  FormId MergeArg(FormId condition, FormId then, FormId otherwise);
  void AddFacts(FormId condition, bool holds, std::vector<FormId>& facts);
  FormId Knowing(std::span<const FormId> facts, FormId id);
  FormId SumOfChoices(FormId condition, FormId then, FormId otherwise);
  FormId MergeSelect(FormId condition, FormId then, FormId otherwise);

  std::vector<FormNode> nodes_;  // [0]: no node
  std::vector<FormTerm> terms_;
  IdTable ids_;
  std::vector<bool> integer_buffers_;
  std::unordered_map<uint64_t, FormId> exponentials_;  // of the sum of two nodes
  uint32_t limit_ = 0;
  bool exact_ = false, full_ = false, expands_ = false, keeps_signs_ = false, keeps_order_ = false;
  std::vector<std::vector<int64_t>> shapes_;  // by buffer; empty: elements come as they lie in memory
};

// The value of a literal as it is compared: see above. `digits` 15 for f64.
double RoundLiteral(double value, bool is_double);

}  // namespace warpwright::lift
