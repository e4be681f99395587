#include "nights/bisect.h"

#include <bit>
#include <vector>

namespace warpwright::nights {
namespace {

// Strictly between good and bad, those nearest to the middle first.
std::vector<size_t> Between(size_t good, size_t bad) {
  std::vector<size_t> order;
  const size_t middle = good + (bad - good) / 2;
  for (size_t distance = 0; order.size() < bad - good - 1; ++distance) {
    if (middle + distance < bad) order.push_back(middle + distance);
    if (distance > 0 && middle >= good + 1 + distance) order.push_back(middle - distance);
  }
  return order;
}

}  // namespace

int MaxTimings(size_t versions) { return static_cast<int>(std::bit_width(versions - 2)) + 2; }

Result<BisectResult> Bisect(size_t versions, const PairProbe& whole, const ProbePair& probe) {
  BisectResult result;
  result.first_bad = versions - 1;
  const int most = MaxTimings(versions);
  std::vector<bool> broken(versions, false);
  PairProbe against_reference = whole;  // of the first bad version
  const auto time = [&](size_t older, size_t newer) {
    ++result.timings;
    return probe(older, newer);
  };
  for (bool moved = true; moved && result.first_bad - result.last_good > 1;) {
    moved = false;
    for (const size_t version : Between(result.last_good, result.first_bad)) {
      if (broken[version]) continue;
      if (result.timings + 1 >= most) break;  // one is reserved for the end
      WW_ASSIGN(const auto found, time(0, version));
      if (!found) {
        broken[version] = true;
        continue;
      }
      if (found->log_ratio > 0.5 * whole.log_ratio) {
        result.first_bad = version;
        against_reference = *found;
      } else {
        result.last_good = version;
      }
      moved = true;
      break;
    }
  }
  result.exact = result.first_bad - result.last_good == 1;
  if (result.last_good == 0) {  // that pair was timed
    result.step = against_reference;
    result.confirmed = result.step.slower;
    return result;
  }
  WW_ASSIGN(const auto step, time(result.last_good, result.first_bad));
  if (step) {
    result.step = *step;
    result.confirmed = step->slower;
  }
  return result;
}

}  // namespace warpwright::nights
