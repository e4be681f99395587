// The device functions that combine one value per thread: over a warp by shuffles, over a block by shuffles and one
// shared value per warp. All threads get the same result: a butterfly adds the same pairs on both sides.
#pragma once

#include <string>
#include <vector>

#include "rewrite/row_parallel_loop.h"

namespace warpwright::rewrite {

enum class RowGroup { kBlock, kWarp };  // which threads share a row

struct ReductionHelper {
  std::string name, text;
};
// Two-space units. `name`: the name for the function; its base is HelperBaseName.
ReductionHelper MakeReductionHelper(const Reduction& reduction, RowGroup group, const std::string& name);
std::string HelperBaseName(const Reduction& reduction, RowGroup group);  // "block_sum", "warp_argmax"
// The value that does not change a sum or product; nothing if the operation may start from any of its values.
std::string NeutralValue(const Reduction& reduction);

}  // namespace warpwright::rewrite
