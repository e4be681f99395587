// Shapes of buffers as expressions of the entry's integer arguments, from how many elements runs at several sizes
// touched.
//
// A shape is a product: plain arguments first, in the order of the signature, then what follows from arguments (the
// output extent of a window, a padded or rounded size), then a constant. The simplest product that holds at every size
// is taken. Sizes that are primes, pairwise different and different from run to run leave little to chance, yet not
// nothing: a caller checks the shape at a size that was not used here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::app {

struct ExtentSample {
  std::map<std::string, int64_t> sizes;  // every integer argument
  int64_t elements = 0;                  // one past the last that was touched
};

// Extents in the manifest's notation: {"N", "C", "(H + 2 * pad - K) / stride + 1", "4"}. None if nothing fits, or if
// there are fewer than three samples although there are arguments. `names`: the integer arguments in the order of the
// signature; at most 16 are considered.
std::optional<std::vector<std::string>> FitShape(const std::vector<std::string>& names,
                                                 const std::vector<ExtentSample>& samples);

}  // namespace warpwright::app
