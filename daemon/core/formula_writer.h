// What computation_text and computation_latex share: a stage's expression as pieces of text, from its first node to its
// last, with signs, quotients and powers recognised. A style says how they look.
//
// A piece that gets too long becomes an ellipsis, so that the text of a graph with shared nodes stays bounded.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/computation.h"

namespace warpwright::core {

enum class FormulaLevel : uint8_t { kSelect, kOr, kAnd, kNot, kCompare, kSum, kReduce, kProduct, kPower, kAtom };

struct FormulaPiece {
  std::string text;
  FormulaLevel level = FormulaLevel::kAtom;
  bool negative = false;  // a minus belongs before it
};

class FormulaWriter {
 public:
  explicit FormulaWriter(const Computation& computation);
  virtual ~FormulaWriter() = default;

  std::string LeftSide(const Stage& stage) const;  // "out[2*i0+1,i1]"
  std::string RightSide(const Stage& stage) const;
  std::string Ranges(const Stage& stage) const;  // "i0<N, i1<C"
  std::string Conditions(const Stage& stage, std::span<const Guard> guards) const;
  // Whether the ranges of an intermediate stage are those that the next output has for variables of the same name.
  bool RangesAreImplied(const Stage& stage) const;

 protected:
  using Piece = FormulaPiece;
  using Level = FormulaLevel;

  // What looks different in each style.
  virtual std::string Identifier(const std::string& name) const = 0;
  virtual std::string VariableName(char letter, size_t number) const = 0;
  virtual std::string Number(double value) const = 0;  // not negative
  virtual std::string Times() const = 0;               // between factors of a position or a size
  virtual std::string Range(const std::string& variable, const std::string& extent) const = 0;
  virtual std::string Ellipsis() const = 0;
  virtual std::string Parenthesized(const std::string& text) const = 0;
  virtual std::string Indexed(const std::string& name, const std::vector<std::string>& at) const = 0;
  virtual std::string Divided(const std::string& a, const std::string& b) const = 0;   // of positions
  virtual std::string Quotient(const std::string& a, const std::string& b) const = 0;  // rounded down
  virtual std::string CeilDivided(const std::string& a, const std::string& b) const = 0;
  virtual std::string Remainder(const std::string& a, const std::string& b) const = 0;
  virtual std::string Divides(const std::string& a, const std::string& b) const = 0;  // b % a == 0
  virtual std::string FunctionCall(const std::string& name, const std::vector<std::string>& args) const = 0;
  virtual Piece Powered(const Piece& base, size_t exponent) const = 0;
  // Factors above and below the line; at least one in all.
  virtual Piece Product(const std::vector<Piece>& over, const std::vector<Piece>& under) const = 0;
  virtual std::string Reduction(ReduceOp op, const std::string& ranges, const std::string& conditions,
                                const std::string& index) const = 0;
  virtual Piece Applied(Function function, const std::vector<Piece>& args) const = 0;
  virtual std::string Relation(Comparison op) const = 0;
  virtual std::string LogicWord(Logic::Op op) const = 0;
  virtual Piece Selection(const Piece& condition, const Piece& then, const Piece& otherwise) const = 0;

  // The text in parentheses, if its level is below `least`; with its minus.
  std::string Wrapped(const Piece& piece, Level least) const;
  static std::string Joined(const std::vector<std::string>& texts, const std::string& separator);
  static std::string Shortest(double value);  // digits that give it back, as a float if it is one

 private:
  std::string Variable(const Stage& stage, VariableId variable) const;
  std::string WrittenName(const std::string& output) const;
  Piece OfSize(const Size& size) const;
  Piece OfSizeNode(const Expression::Node& node) const;
  Piece OfPosition(const Stage& stage, const Affine& position) const;
  Piece SumOf(std::vector<Piece> terms, bool spaced) const;
  std::vector<Piece> Terms(const Stage& stage, const Affine& position) const;  // of the numerator
  std::string OfGuard(const Stage& stage, const Guard& guard) const;
  std::string OneSided(std::vector<Piece> terms, const Size& bound, bool is_low) const;
  Piece OfProduct(const Stage& stage, const Nary& nary, const std::vector<Piece>& pieces) const;
  Piece OfNary(const Stage& stage, const Nary& nary, const std::vector<Piece>& pieces) const;
  std::vector<Piece> WithPowers(const std::vector<Piece>& factors) const;
  Piece OfReduce(const Stage& stage, const Reduce& reduce, const std::vector<Piece>& pieces) const;
  Piece OfRead(const Stage& stage, const TensorRead& read, const std::vector<Piece>& pieces) const;
  Piece OfNode(const Stage& stage, const Node& node, const std::vector<Piece>& pieces) const;

  const Computation& computation_;
};

}  // namespace warpwright::core
