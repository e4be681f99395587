// Makes the nodes of a graph, in the few forms that mean the same bits: parts of packs are taken directly, masks and
// shifts by whole halves move halves, and what is constant becomes a constant. It does no arithmetic on real numbers:
// 0 + x stays.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "lift/graph.h"

namespace warpwright::lift {

class Builder {
 public:
  explicit Builder(Graph& graph) : graph_(graph) {}

  const Graph& graph() const { return graph_; }
  const Expr& operator[](ExprId id) const { return graph_[id]; }
  void Prefetch(const Expr& expr) const { graph_.Prefetch(expr); }
  void set_line(uint32_t line) { line_ = line; }  // of the nodes to come

  bool IsConst(ExprId id) const { return graph_[id].op == ExprOp::kConst; }
  ExprId Const(sim::Type type, uint64_t bits);
  ExprId Predicate(bool value) { return Const(sim::Type::kPred, value ? 1 : 0); }

  // Any operation; its concrete value is computed, or known.
  ExprId Make(Expr expr);
  ExprId Make(Expr expr, uint64_t concrete);
  ExprId Unary(ExprOp op, sim::Type type, ExprId a);
  ExprId Binary(ExprOp op, sim::Type type, ExprId a, ExprId b);

  // The same bits as a value of that width: the low part, or extended with zeros.
  ExprId Coerce(ExprId id, sim::Type type);
  ExprId Extract(ExprId id, int first, int width);
  ExprId Pack(ExprId low, ExprId high);
  ExprId Convert(sim::Type to, sim::Type from, ExprId a, sim::Rounding rounding = sim::Rounding::kDefault,
                 bool flush = false);

  ExprId Compare(sim::Compare compare, sim::Type type, ExprId a, ExprId b, bool flush = false);
  ExprId Not(ExprId a);
  ExprId And(ExprId a, ExprId b);
  ExprId Or(ExprId a, ExprId b);
  ExprId Xor(ExprId a, ExprId b);
  ExprId Select(sim::Type type, ExprId predicate, ExprId then, ExprId otherwise);

  // On strings of bits, `type` unsigned.
  ExprId BitAnd(sim::Type type, ExprId a, ExprId b);
  ExprId BitOr(sim::Type type, ExprId a, ExprId b);
  ExprId BitXor(sim::Type type, ExprId a, ExprId b);
  ExprId BitNot(sim::Type type, ExprId a);
  ExprId ShiftLeft(sim::Type type, ExprId a, ExprId count);
  ExprId ShiftRight(sim::Type type, ExprId a, ExprId count);

 private:
  sim::Type TypeOfChoice(sim::Type type, ExprId then, ExprId otherwise) const;
  bool IsFloatNode(ExprId id, int width) const;
  bool IsPieces(ExprId id) const;  // neither a number nor a predicate: parts are taken rather than bits
  ExprId MaskHalf(ExprId half, uint64_t mask);
  ExprId FlipHalf(ExprId half, uint64_t flip);
  ExprId WithHalves(sim::Type type, const ExprId* halves);
  ExprId CoerceChoice(ExprId id, sim::Type type);
  ExprId CopySign(sim::Type type, ExprId a, ExprId b);
  ExprId PushIntoSelect(const Expr& expr);
  ExprId SelectBetween(ExprId predicate, ExprId then, ExprId otherwise);

  Graph& graph_;
  std::unordered_map<uint64_t, ExprId> choices_;  // coerced, by node and type
  uint32_t line_ = 0;
};

sim::Type BitsType(int width);      // kB8 .. kB64, kPred
sim::Type UnsignedType(int width);  // kU8 .. kU64
sim::Type SignedType(int width);

}  // namespace warpwright::lift
