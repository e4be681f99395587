// Windows of a product's results that are reduced where they are made: a pool behind a convolution, for entries that
// have no memory for what is pooled. A block computes its tile once for each place of the windows, one after the
// other, and keeps what has come of them so far beside the sums.
#pragma once

#include <vector>

#include "schedule/contraction_group.h"

namespace warpwright::schedule {

struct ProductWindow {
  size_t stage = 0;             // of Problem::form.stages: the reduction over the window
  std::vector<Axis> positions;  // the window's variables, by the product's numbers
  VariableMap variables;        // the product's, by the reduction's
};

// With the product of matrices that another stage of the group reads in windows at every window's places instead: of
// the reduction's variables and the window's. Unchanged if there is none.
core::Computation WithWindowsOfProduct(const Problem& problem, const Group& group);

// Of a group with one product of matrices whose results a reduction takes, each at one place, for fewer results.
std::variant<core::RewriteRefusal, ContractionGroup> WindowOfProduct(const Problem& problem, const Group& group);

}  // namespace warpwright::schedule
