#include "judge/plain_difference.h"

#include <algorithm>
#include <cmath>

namespace warpwright::judge {

bool ArePlainlyOther(core::DType dtype, std::span<const std::byte> original, std::span<const std::byte> candidate) {
  constexpr double kPlainlyOther = 1.0 / 128;  // of the root mean square
  if (!core::IsFloat(dtype)) return !std::ranges::equal(original, candidate);
  double squares = 0, errors = 0;
  for (size_t i = 0; i < original.size() / core::SizeOf(dtype); ++i) {
    const double a = core::LoadAsDouble(dtype, original.data(), i), b = core::LoadAsDouble(dtype, candidate.data(), i);
    if (std::isfinite(a) != std::isfinite(b)) return true;
    if (!std::isfinite(a)) continue;
    squares += a * a;
    errors += (a - b) * (a - b);
  }
  return errors > kPlainlyOther * kPlainlyOther * squares;
}

}  // namespace warpwright::judge
