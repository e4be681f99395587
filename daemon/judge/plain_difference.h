// Whether two results are plainly others, where nothing is known of their rounding: no cheaper arithmetic makes such a
// difference. Private to judge/.
#pragma once

#include <cstddef>
#include <span>

#include "core/dtype.h"

namespace warpwright::judge {

// Elements one behind the other, as many in both: integers that are not equal, real numbers of which one is no number
// or infinite alone, or whose difference is more than a 128th of their root mean square.
bool ArePlainlyOther(core::DType dtype, std::span<const std::byte> original, std::span<const std::byte> candidate);

}  // namespace warpwright::judge
