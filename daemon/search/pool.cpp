#include "search/pool.h"

#include <algorithm>

namespace warpwright::search {
namespace {

class LatestGainSelector final : public Selector {
 public:
  std::optional<size_t> Next(const Pool& pool) const override {
    const size_t last = pool.size() - 1;
    return pool[last].exhausted ? std::nullopt : std::optional(last);
  }
};

}  // namespace

std::vector<size_t> Pool::BestFirst() const {
  std::vector<size_t> order;
  for (size_t number = versions_.size(); number-- > 1;) order.push_back(number);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return GainOf(a) > GainOf(b); });
  return order;
}

std::unique_ptr<Selector> LatestGain() { return std::make_unique<LatestGainSelector>(); }

}  // namespace warpwright::search
