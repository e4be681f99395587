// Sizes that are in groups: those of which an input has one group, as the weights [K, C / groups, R] of a convolution,
// and others that are whole groups in every case too, as K. What divides them by the groups reads beyond its inputs at
// other sizes, which a GPU does not tell. Private to judge/.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/kernel_spec.h"

namespace warpwright::judge {

class WholeGroups {
 public:
  explicit WholeGroups(const core::KernelSpec& spec);
  // Makes every size in groups the next multiple of their number.
  void Keep(core::Case& c) const;

 private:
  std::vector<std::pair<std::string, std::string>> of_;  // "C" and "groups"
};

}  // namespace warpwright::judge
