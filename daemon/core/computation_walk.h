// What everything that looks at a Computation's nodes needs: arguments and positions of a node, types, variables.
#pragma once

#include <concepts>
#include <span>
#include <type_traits>

#include "core/computation.h"

namespace warpwright::core {

enum class ValueType : uint8_t { kReal, kInteger, kBoolean };

template <typename T, typename Of>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Of>;

// visit(NodeId), or visit(NodeId&) for a node that is not const, for each argument, in order.
template <MaybeConst<Node> N, typename Visit>
void ForEachArgument(N& node, const Visit& visit) {
  std::visit(Overload{[](MaybeConst<Constant> auto&) {}, [](MaybeConst<ScalarRead> auto&) {},
                      [](MaybeConst<SizeValue> auto&) {}, [](MaybeConst<IndexValue> auto&) {},
                      [&](MaybeConst<TensorRead> auto& read) {
                        for (auto& coordinate : read.at)
                          if (auto* node_id = std::get_if<NodeId>(&coordinate)) visit(*node_id);
                      },
                      [&](MaybeConst<Reduce> auto& reduce) { visit(reduce.body); },
                      [&](MaybeConst<Nary> auto& nary) {
                        for (auto& arg : nary.args) visit(arg);
                      },
                      [&](MaybeConst<Call> auto& call) {
                        for (auto& arg : call.args) visit(arg);
                      },
                      [&](MaybeConst<Compare> auto& compare) { visit(compare.left), visit(compare.right); },
                      [&](MaybeConst<Logic> auto& logic) {
                        for (auto& arg : logic.args) visit(arg);
                      },
                      [&](MaybeConst<Select> auto& select) {
                        visit(select.condition), visit(select.then), visit(select.otherwise);
                      },
                      [&](MaybeConst<Convert> auto& convert) { visit(convert.arg); }},
             node);
}

// visit(Affine) for each position that the node itself has.
template <MaybeConst<Node> N, typename Visit>
void ForEachPosition(N& node, const Visit& visit) {
  std::visit(Overload{[&](MaybeConst<IndexValue> auto& value) { visit(value.index); },
                      [&](MaybeConst<TensorRead> auto& read) {
                        for (auto& coordinate : read.at)
                          if (auto* position = std::get_if<Affine>(&coordinate)) visit(*position);
                      },
                      [&](MaybeConst<Reduce> auto& reduce) {
                        for (auto& guard : reduce.guards) visit(guard.value);
                        if (reduce.index) visit(*reduce.index);
                      },
                      [](auto&) {}},
             node);
}

// visit(Size) for each size of a position, a guard or a stage.
template <MaybeConst<Affine> A, typename Visit>
void ForEachSize(A& position, const Visit& visit) {
  visit(position.constant), visit(position.divisor);
  for (auto& term : position.terms) {
    visit(term.coefficient);
    if (term.modulus) visit(*term.modulus);
  }
}
template <MaybeConst<Guard> G, typename Visit>
void ForEachSize(G& guard, const Visit& visit) {
  ForEachSize(guard.value, visit);
  if (guard.low) visit(*guard.low);
  if (guard.high) visit(*guard.high);
}
template <MaybeConst<Stage> S, typename Visit>
void ForEachSize(S& stage, const Visit& visit) {
  for (auto& extent : stage.extents) visit(extent);
  for (auto& guard : stage.domain) ForEachSize(guard, visit);
  for (auto& position : stage.at) ForEachSize(position, visit);
  for (auto& node : stage.nodes) {
    ForEachPosition(node, [&](auto& position) { ForEachSize(position, visit); });
    if (auto* size = std::get_if<SizeValue>(&node)) visit(size->size);
    auto* reduce = std::get_if<Reduce>(&node);
    if (reduce == nullptr) continue;
    for (auto& variable : reduce->variables) visit(variable.extent);
    for (auto& guard : reduce->guards) {
      if (guard.low) visit(*guard.low);
      if (guard.high) visit(*guard.high);
    }
  }
}

using VariableSet = uint64_t;  // bit v: variable v
inline constexpr VariableId kMaxVariables = 64;
inline VariableSet SetOf(VariableId variable) { return VariableSet{1} << variable; }
VariableSet VariablesOf(const Affine& position);
VariableSet VariablesOf(const Reduce& reduce);  // its own

// By node: the variables that its value depends on.
std::vector<VariableSet> FreeVariables(const Stage& stage);
// By node: whether the root depends on it.
std::vector<bool> Reachable(const Stage& stage);
// By node. The types of stages that come before it are inferred in turn.
std::vector<ValueType> TypesOf(const Computation& computation, const Stage& stage);

bool HasReduction(const Stage& stage);
bool IsNumber(const Size& size, int64_t number);  // whatever its names stand for

bool IsInteger(Function function);
inline bool IsArg(ReduceOp op) { return op >= ReduceOp::kArgMaxFirst; }
// A whole number that a double holds exactly: such a constant is an integer where integers are.
bool IsWhole(double value);

}  // namespace warpwright::core
