// Of which sizes a form is, as far as the shapes tell at which an entry was tried.
#pragma once

#include <string>
#include <vector>

#include "core/computation.h"
#include "core/size_solver.h"
#include "lift/dimensions.h"

namespace warpwright::lift {

// The sizes of the shapes. `made_from` has one at least.
struct Evidence {
  std::vector<core::Sizes> made_from;  // by which the form came about
  std::vector<core::Sizes> right_at;   // at which it was right beside these
  std::vector<core::Sizes> executed;   // at which the entry ran and left something, those of the form among them
  std::vector<core::Sizes> silent;     // at which it wrote nothing, or could not run
  std::vector<core::Sizes> all;        // at which it could be tried
  bool even_alone = false;             // only those that divide as the cases do were
};

// With how many of what is in groups each group has, as "C / G".
core::Sizes WithGroups(core::Sizes sizes, const Groups& groups);

// "N = 1", "M = N", "K % 4 = 0", "C / G = 4": whatever else may be is not known.
std::vector<std::string> AssumptionsOf(const core::Computation& computation, const Evidence& evidence,
                                       const Groups& groups);

}  // namespace warpwright::lift
