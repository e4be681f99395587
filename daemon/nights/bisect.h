// Which of several versions made an entry slower, by timing pairs of them.
//
// The versions are the reference, then those commits of the range that changed what the entry is made of, oldest first,
// then tonight's. Each step times the reference against the version in the middle and asks on which side of half the
// loss it lies: a single step is found, and of several smaller ones the one that crosses the half. At the end the one
// that was found is timed against the version before it, so that the commit's own loss is known. At most log2(n) + 2
// timings for n commits. A version that cannot be run (it does not compile, or its signature is another) is passed over
// for its neighbours; where only such ones are left, the answer is a range.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "base/result.h"

namespace warpwright::nights {

struct PairProbe {
  double log_ratio = 0, lower = 0, upper = 0;  // of time newer / older
  bool slower = false;                         // beyond the threshold, by its bound
};
// nullopt: one of them cannot be run.
using ProbePair = std::function<Result<std::optional<PairProbe>>(size_t older, size_t newer)>;

struct BisectResult {
  size_t last_good = 0;  // the last version before the loss
  size_t first_bad = 0;  // the first with it; good + 1 where `exact`
  bool exact = false;
  bool confirmed = false;  // culprit against good: slower
  PairProbe step;          // of it, where it could be timed
  int timings = 0;
};
// `versions` >= 2; version 0 and the last were timed already, with `log_ratio` > 0 between them.
Result<BisectResult> Bisect(size_t versions, const PairProbe& whole, const ProbePair& probe);
// What Bisect may spend on so many versions.
int MaxTimings(size_t versions);

}  // namespace warpwright::nights
