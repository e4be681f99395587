// The terms that any result of a tile has, where which ones a result has depends on its place: of a triangular matrix
// those up to the diagonal. Only of terms that are left out: 0 times an infinite factor would be no number.
#pragma once

#include <string>
#include <vector>

#include "schedule/contraction.h"
#include "schedule/contraction_axes.h"
#include "schedule/problem.h"

namespace warpwright::schedule {

// One side of a tile: its first index, and how many there are.
struct TileSide {
  const FlatAxis& axis;
  std::string first, count;
};
// Bounds beside 0 and the number of terms, as texts; none: all results have all terms.
struct TermRange {
  std::vector<std::string> begins, ends;
  bool empty() const { return begins.empty() && ends.empty(); }
};
TermRange TermRangeOf(const Problem& problem, const Contraction& contraction, const FlatAxis& terms,
                      const TileSide& rows, const TileSide& columns);

}  // namespace warpwright::schedule
