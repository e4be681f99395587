// Lifted computations with one thing changed: none may have the digest of what it was made from, unless it computes the
// same numbers.
#pragma once

#include <string>
#include <vector>

#include "core/kernel_spec.h"
#include "core/lifting.h"

namespace warpwright::bench {

struct MutantCount {
  size_t mutants = 0;
  size_t equal = 0;                      // with the original's digest, and the same numbers at the shape
  std::vector<std::string> false_equal;  // with the original's digest and other numbers
};
MutantCount CountMutants(const core::Computation& computation, const core::KernelSpec& spec,
                         const core::LiftShape& shape);

}  // namespace warpwright::bench
