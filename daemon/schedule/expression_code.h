// A computation's nodes, positions and guards as CUDA C++ text.
//
// Values are computed in the problem's real type (float unless an argument or the original's kernels are double), whole
// numbers in int, or in long long where they are read from 64-bit buffers; what is stored narrower is converted where
// it is loaded and stored, and roundings inside the formula are kept. Values that are used more than once become
// constants of their own, unless they are only needed in one branch of a selection, where they might read what is not
// there.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "schedule/kernel_text.h"
#include "schedule/problem.h"

namespace warpwright::schedule {

// What is known where the code stands.
struct Scope {
  std::map<core::VariableId, std::string> variables;  // "row", "i * kTile + threadIdx.x"
  // A read that the code need not load: an element in a register or in shared memory, an earlier stage's value. It is
  // asked for every read; stages that are not outputs have no other place.
  std::function<std::optional<std::string>(const core::TensorRead&)> value = nullptr;
  // Constants by their text, which stages of one kernel share where they are hoisted to one place.
  std::map<std::string, std::string>* constants = nullptr;
};

// Of a size: "(h + 2 * pad - size) / stride + 1".
std::string SizeText(const core::Size& size);
// "static_cast<long long>(n) * (h - 1)" of "n * (h - 1)": a product in 64 bits. What is no product stays as it is.
std::string WidenedProduct(const std::string& product);
// What is divided in it: "h + 2 * pad - size".
std::vector<core::Size> NumeratorsOf(const core::Size& size);
// A position, in int; "y + ky - 1".
std::string PositionText(const core::Affine& position, const std::map<core::VariableId, std::string>& variables);
// All guards: "0 <= y && y < h"; empty: always.
std::string ConditionText(std::span<const core::Guard> guards,
                          const std::map<core::VariableId, std::string>& variables);
// An element's offset in a row-major tensor. Where a size goes into it, it is reckoned in 64 bits, also where indices
// are ints: the tensor may have more than 2^31 elements although each of its sizes has fewer.
std::string OffsetText(const Problem& problem, const std::vector<core::Size>& shape,
                       const std::vector<std::string>& at);
std::string OffsetText(const FlatOffset& offset, const std::map<core::VariableId, std::string>& variables);

std::string CTypeOf(core::DType dtype);  // "float", "__half", "long long"
// A stored value as it is computed with, and back.
std::string Loaded(const Problem& problem, core::DType dtype, const std::string& text);
std::string Stored(const Problem& problem, core::DType dtype, core::ValueType type, const std::string& text);
std::string NumberText(const Problem& problem, double value);  // "0.5f"

// Of reductions: the neutral element, `a` combined with `b`, and the name that people give to the result.
std::string NeutralText(const Problem& problem, core::ReduceOp op, core::ValueType type);
std::string CombinedText(const Problem& problem, core::ReduceOp op, core::ValueType type, const std::string& a,
                         const std::string& b);

// Of a number and a value that is not to be less or more than it, in this order where NaN is to pass.
std::string BoundText(const Problem& problem, core::ReduceOp op, const std::string& a, const std::string& b);
// Whether its reductions make of a term that is no number what `m > v ? m : v` does (schedule/unordered_terms.h), by a
// device function of this name and text.
bool TakesUnordered(const Problem& problem);
std::string ChoiceName(const Problem& problem, core::ReduceOp op);
std::string ChoiceFunction(const Problem& problem, core::ReduceOp op);

class ExpressionCode {
 public:
  // Constants that it needs go to `lines`, which the caller may change between calls (To).
  ExpressionCode(const Problem& problem, const core::Stage& stage, Scope scope, Names& names, Lines& lines);

  // The node's value; statements that it needs are in the lines before.
  std::string Value(core::NodeId node);
  std::string Value(core::NodeId node, core::ValueType wanted);
  std::string Root() { return Value(static_cast<core::NodeId>(stage_.nodes.size() - 1)); }
  core::ValueType TypeOf(core::NodeId node) const { return types_[node]; }
  std::string Address(const core::TensorRead& read);  // "x + row * n + col"
  // The variable that holds the extremum, where the node is the position of one and was written.
  std::optional<std::string> BestOf(core::NodeId node) const;
  std::string CType(core::NodeId node) const;  // of a variable that holds it: "float", "int", "bool"

  // Makes constants, now, of what does not depend on these variables and what depends on them needs: before a loop.
  void Hoist(core::VariableSet inner, core::NodeId root);
  void To(Lines& lines) { lines_ = &lines; }
  Scope& scope() { return scope_; }
  // A refusal that was met on the way: a shape of expression that has no text.
  const std::optional<core::RewriteRefusal>& refusal() const { return refusal_; }

 private:
  struct Piece;
  Piece PieceOf(core::NodeId node, core::ValueType wanted);
  Piece Written(core::NodeId node, core::ValueType wanted);
  Piece OfRead(const core::TensorRead& read);
  Piece Read(const core::TensorRead& read);
  size_t OpenLoops(const core::Reduce& reduce);
  std::vector<core::Guard> PadReads(const core::Reduce& reduce);
  std::string OffsetOf(const core::TensorRead& read, const core::TensorArgument& tensor);
  Piece OfNary(const core::Nary& nary, core::ValueType type);
  Piece OfSum(const core::Nary& nary, core::ValueType type);
  Piece OfProduct(const core::Nary& nary, core::ValueType type);
  Piece OfCall(core::NodeId node, const core::Call& call);
  Piece OfCompare(const core::Compare& compare);
  Piece OfLogic(const core::Logic& logic);
  Piece OfConvert(const core::Convert& convert);
  Piece OfReduce(core::NodeId node, const core::Reduce& reduce);
  std::vector<core::NodeId> FactorsOf(const core::Nary& product) const;
  std::vector<core::NodeId> FactorsInOrder(const core::Nary& product) const;
  std::set<core::NodeId> ReadsOf(core::NodeId node) const;
  std::optional<std::pair<core::NodeId, core::NodeId>> RootOfQuotient(std::span<const core::NodeId> factors) const;
  std::optional<size_t> GateOf(std::span<const core::NodeId> over, core::NodeId divisor) const;
  std::string NameFor(core::NodeId node, const std::string& text);
  std::string IntegerType() const;
  bool IsRounded() const;  // to whole numbers: the last bit of what is rounded may show

  const Problem& problem_;
  const core::Stage& stage_;
  Scope scope_;
  Names& names_;
  Lines* lines_;
  std::vector<core::ValueType> types_;
  std::vector<core::VariableSet> free_;
  std::vector<size_t> uses_;   // by node, of its value
  std::vector<bool> certain_;  // by node: needed whatever selections choose
  std::map<core::NodeId, std::string> named_;
  std::map<core::NodeId, std::string> best_;               // by position: the variable of the extremum
  std::map<const core::TensorRead*, std::string> padded_;  // where it is inside, within a sum
  std::optional<core::RewriteRefusal> refusal_;
};

}  // namespace warpwright::schedule
