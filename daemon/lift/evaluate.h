// What expressions are worth: node by node the bits that the instruction would give. Exact but for the approximate
// functions, whose last bit may differ from the simulator's.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lift/graph.h"

namespace warpwright::lift {

// The value of one node, other than a load, a scalar or a gather, from those of its arguments.
uint64_t EvaluateNode(const Graph& graph, const Expr& expr, const uint64_t* args);

struct LeafValues {
  std::function<uint64_t(uint16_t buffer, uint64_t element)> load;  // kLoad and kGather
  std::function<uint64_t(uint16_t position)> scalar;
};

// Every node of a graph, each once and only when it is needed.
class Evaluation {
 public:
  Evaluation(const Graph& graph, LeafValues leaves);
  uint64_t operator()(ExprId id);

 private:
  uint64_t Value(ExprId id) const;

  const Graph& graph_;
  LeafValues leaves_;
  std::vector<uint64_t> values_;
  std::vector<bool> known_;
};

}  // namespace warpwright::lift
