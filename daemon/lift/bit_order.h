// Floating-point numbers whose bits are compared as integers: atomic maxima of floats, which there are none of. Signed,
// that is the order of the numbers unless both are negative; unsigned it is the opposite one as soon as one of them is
// negative, and theirs if none is.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "lift/graph.h"

namespace warpwright::lift {

enum class Sign : uint8_t { kUnknown, kNegative, kNotNegative };

class BitOrder {
 public:
  explicit BitOrder(const Graph& graph) : graph_(graph) {}  // outlives this
  // Of these nodes, with all that they are made of, the other functions know.
  void Look(const std::vector<bool>& nodes);

  bool HoldsFloat(ExprId id) const { return holds_float_[id]; }   // as bits at least
  Sign SignOf(ExprId id) const { return signs_[id]; }             // as far as the operation itself says it
  Sign SignWhere(ExprId id, ExprId condition, bool holds) const;  // where a condition holds, or does not
  // Does a comparison of integers say what it would say of the numbers whose bits they are?
  bool IsNumeric(const Expr& compare) const;
  // Of numbers with those signs: is an extremum of their bits the greatest of them? nullopt: that depends.
  static std::optional<bool> TakesGreatest(const Expr& extremum, std::span<const Sign> signs);

 private:
  bool FindFloat(const Expr& expr) const;
  Sign FindSign(const Expr& expr) const;

  const Graph& graph_;
  std::vector<bool> holds_float_;
  std::vector<Sign> signs_;
};

}  // namespace warpwright::lift
