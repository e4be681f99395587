// The median; for an even number of values, the mean of the middle two.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace warpwright::core {

// `values` must not be empty.
inline double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

}  // namespace warpwright::core
