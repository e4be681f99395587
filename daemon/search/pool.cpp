#include "search/pool.h"

#include <algorithm>

namespace warpwright::search {
namespace {

class LatestGainSelector final : public Selector {
 public:
  std::optional<size_t> Next(const Pool& pool) const override {
    size_t last = pool.size() - 1;
    while (pool[last].refused) --last;
    return pool[last].exhausted ? std::nullopt : std::optional(last);
  }
};

}  // namespace

void Pool::Refuse(size_t number, bool with_descendants) {
  versions_[number].refused = true;
  if (!with_descendants) return;
  for (size_t later = number + 1; later < versions_.size(); ++later)
    if (versions_[later].candidate.parent == versions_[number].candidate.hash) Refuse(later, true);
}

std::optional<size_t> Pool::Best() const {
  std::optional<size_t> best;
  for (size_t number = 1; number < versions_.size(); ++number)
    if (!versions_[number].refused && (!best || GainOf(number) >= GainOf(*best))) best = number;
  return best;
}

double Pool::LargestGain() const {
  double largest = 0;
  for (size_t number = 1; number < versions_.size(); ++number) largest = std::max(largest, GainOf(number));
  return largest;
}

std::unique_ptr<Selector> LatestGain() { return std::make_unique<LatestGainSelector>(); }

}  // namespace warpwright::search
