// What many expressions are worth on one input: as the instructions compute it, bit by bit, and as a function of real
// numbers, with bounds on what lies between the two.
//
// The bounds are running ones, node by node. `literal`: how far the real value may be off because literals, and what
// was computed from concrete numbers alone, were rounded, and because it is evaluated in double precision itself.
// `rounding`: how far the computed value may be off the real one, in this order of operations. Either is infinite where
// rounding may turn a comparison that matters, or where a number's bits are taken apart.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "lift/graph.h"

namespace warpwright::lift {

struct PointValue {
  uint64_t bits = 0;
  double real = 0;
  double literal = 0, rounding = 0;
};

class PointEvaluation {
 public:
  // `load`: the bits of an argument's element. Of `graph`, what `roots` reach.
  using Load = std::function<uint64_t(uint16_t buffer, uint64_t element)>;
  PointEvaluation(const Graph& graph, std::span<const ExprId> roots);
  void Run(const Load& load);
  const PointValue& operator[](ExprId id) const { return values_[place_[id]]; }
  std::span<const ExprId> nodes() const { return nodes_; }  // arguments before what they are arguments of

 private:
  const PointValue& Argument(const Expr& e, size_t k) const { return values_[place_[e.args[k]]]; }
  PointValue As(sim::Type type, const Expr& e, size_t k) const;
  PointValue Evaluate(const Expr& e, const Load& load) const;
  void Arithmetic(const Expr& e, PointValue& v) const;
  void Call(core::Function function, const Expr& e, PointValue& v) const;
  void Convert(const Expr& e, PointValue& v) const;
  void Decide(const Expr& e, PointValue& v) const;  // comparisons and logic
  void Choose(const Expr& e, PointValue& v) const;  // a selection

  const Graph& graph_;
  std::vector<ExprId> nodes_;
  std::vector<uint32_t> place_;  // by expression
  std::vector<PointValue> values_;
};

// Half a unit in the last place of 1.
double UnitRoundoff(sim::Type type);

}  // namespace warpwright::lift
