// From expressions as they were executed (graph.h) to their one form (form_graph.h).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lift/form_graph.h"
#include "lift/graph.h"

namespace warpwright::lift {

struct CanonicalRoots {
  std::vector<FormId> forms;  // of the roots, in their order
  // Why some roots have none: "the bits of a value are taken apart" -> line (index into the program's locations).
  std::map<std::string, uint32_t> refusals;
  bool has_double = false;  // some operation is in f64
};

// kConcrete is not among `roots`. A root without a form has id 0.
CanonicalRoots Canonicalise(const Graph& graph, std::span<const ExprId> roots, FormGraph& forms);

// The value of a constant's bits.
double ConstantValue(sim::Type type, uint64_t bits);
// As a form has it: a floating-point number rounded as literals are.
double LiteralValue(sim::Type type, uint64_t bits);

}  // namespace warpwright::lift
