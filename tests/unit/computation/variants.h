// Computations that are another's: the same in another guise, or different in one thing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/computation.h"

namespace warpwright::testing {

// Other names, orders of stages, nodes, arguments, variables, guards; other association; stages that only rename, that
// are doubled, that nobody reads. `names`: what arguments are called now.
core::Computation Shuffled(const core::Computation& computation, uint64_t seed,
                           std::map<std::string, std::string>* names = nullptr);

struct Mutant {
  std::string what;
  core::Computation computation;
};
// All that differ in one constant, operation, function, offset, coefficient, guard, term, argument, extent or type.
std::vector<Mutant> Mutants(const core::Computation& computation);

}  // namespace warpwright::testing
