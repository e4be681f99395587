// Finds which of several versions made an entry slower, by timing pairs of them.
//
// The versions are the reference, then those commits of the range that changed the entry's code, oldest first, then the
// current revision. Each step times the reference against the version in the middle and checks on which side of half
// the loss it is: this finds a single slowdown, and of several smaller ones the one that crosses half the loss. At the
// end, the version found is timed against the one before it, which gives the commit's own loss. At most log2(n) + 2
// timings for n commits. A version that cannot be run (it does not compile, or has a different signature) is skipped in
// favour of its neighbours; if only such versions are left, the result is a range.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "base/result.h"

namespace warpwright::nights {

struct PairProbe {
  double log_ratio = 0, lower = 0, upper = 0;  // of time newer / older
  bool slower = false;                         // its bound is beyond the threshold
};
// nullopt: one of the two versions cannot be run.
using ProbePair = std::function<Result<std::optional<PairProbe>>(size_t older, size_t newer)>;

struct BisectResult {
  size_t last_good = 0;  // the last version before the loss
  size_t first_bad = 0;  // the first with the loss; last_good + 1 if `exact`
  bool exact = false;
  bool confirmed = false;  // first_bad is slower than last_good
  PairProbe step;          // of that comparison, if it could be timed
  int timings = 0;
};
// `versions` >= 2; version 0 and the last were already timed, with `log_ratio` > 0 between them.
Result<BisectResult> Bisect(size_t versions, const PairProbe& whole, const ProbePair& probe);
// The maximum number of timings for this many versions.
int MaxTimings(size_t versions);

}  // namespace warpwright::nights
