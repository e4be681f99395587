// A computation as two, one after the other, with an intermediate between them in memory: a scratch buffer of the
// entry, an output that is written later, or, where it is short, an array of the module. So products whose results
// rows or windows need are computed once, and sums may be of what every row comes to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/problem.h"

namespace warpwright::schedule {

struct PlaceToCut {
  core::Computation computation;
  size_t stage = 0;       // that the first part computes
  bool together = false;  // with other reductions that both parts need
};
// Finished terms first, then sums of products; what takes more memory than one stage's last.
std::vector<PlaceToCut> PlacesToCut(const core::Computation& computation);

struct Phases {
  core::Computation first, second;      // what the first one stores is an argument of the second
  std::string definition;               // of arrays in the module; empty: the entry has the memory
  std::vector<std::string> conditions;  // of the sizes for which they are long enough
};
// None: there is no memory for the stage, or a part would need what the other one has overwritten.
std::optional<Phases> CutAt(const Problem& problem, const PlaceToCut& place);

}  // namespace warpwright::schedule
