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
  std::vector<std::string> equal;        // with the original's digest, and its numbers at every shape
  std::vector<std::string> false_equal;  // with the original's digest and other numbers at some shape
};
// An equal digest says that both have one normal form; the numbers are a witness that does not know it.
MutantCount CountMutants(const core::Computation& computation, const core::KernelSpec& spec,
                         const std::vector<core::LiftShape>& shapes);

}  // namespace warpwright::bench
