// Which of two right forms of an entry is the better one to say what it computes. Both are of the same entry.
#pragma once

#include <vector>

#include "core/computation.h"
#include "core/size_solver.h"

namespace warpwright::lift {

// Whether it adds up products of the same arguments in several sums: one of them may be a sum over the others' results.
bool MultipliesTwice(const core::Computation& computation);
// Whether it has clearly fewer operations at the first of these sizes that both are of.
bool IsLessWork(const core::Computation& a, const core::Computation& b, const std::vector<core::Sizes>& sizes);

// Whether no size has one value, and no position is of one of so many groups as only an argument says.
bool IsOfAllSizes(const core::Computation& computation);
// Whether fewer sizes have one value; of equally many, whether it alone is without such positions.
bool IsMoreGeneral(const core::Computation& a, const core::Computation& b);

}  // namespace warpwright::lift
