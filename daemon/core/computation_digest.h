// Whether two Computations compute the same: a normal form and its SHA-256.
//
// It does not depend on names of stages, arguments and sizes, on the order of stages, nodes, commutative arguments and
// variables, on association, on how the work is cut into stages, or on the declared shape of an argument whose elements
// lie at the same offsets. It does depend on which argument is which (by position among those used), on every offset,
// size, guard and operation, on types of outputs, and on constants to six digits. Roundings to floating-point types in
// between are looked through and listed beside it. What else is taken for equal stands in normal_graph.h.
#pragma once

#include <string>
#include <vector>

#include "core/computation.h"

namespace warpwright::core {

struct NormalForm {
  std::string text;            // a line for each node
  std::string digest;          // of the text
  std::vector<DType> rounded;  // floating-point types that intermediate values are rounded to, sorted
};

// `computation` is valid. kLimit: it takes more than `limit` steps. kUnsupported: it is of one path of several.
Result<NormalForm> Normalize(const Computation& computation, uint64_t limit = 2'000'000);

}  // namespace warpwright::core
