#include "judge/agreement.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <mutex>

#include "base/parallel.h"

namespace warpwright::judge {
namespace {

// Whether the first of two used a larger share of its tolerance.
bool UsedMore(double error, double allowed, const Agreement& than) {
  return error * than.allowed > than.error * allowed || than.allowed == 0;
}

}  // namespace

Agreement Agree(const OutputLayout& layout, const OutputReference& reference, const ToleranceOverrides& leniency,
                double tighten, std::span<const std::byte> actual) {
  const size_t size = core::SizeOf(layout.dtype), count = reference.bytes.size() / size;
  Agreement all;
  all.elements = count;
  if (std::memcmp(actual.data(), reference.bytes.data(), count * size) == 0) return all;
  const Comparator comparator(layout, reference, leniency, tighten);
  std::mutex mutex;
  base::ParallelFor(count, [&](size_t begin, size_t end) {
    Agreement part;
    for (size_t i = begin; i < end; ++i) {
      if (std::memcmp(actual.data() + i * size, reference.bytes.data() + i * size, size) == 0) continue;
      if (!reference.unwritten.empty() && reference.unwritten[i]) continue;
      ++part.different;
      if (!core::IsFloat(layout.dtype)) continue;
      const double a = core::LoadAsDouble(layout.dtype, actual.data(), i),
                   r = core::LoadAsDouble(layout.dtype, reference.bytes.data(), i);
      if (!std::isfinite(a) || !std::isfinite(r)) continue;
      const double error = std::fabs(a - comparator.TargetAt(i)), allowed = comparator.ToleranceAt(i);
      if (allowed > 0 && UsedMore(error, allowed, part)) part.error = error, part.allowed = allowed;
    }
    const std::lock_guard lock(mutex);
    all.different += part.different;
    if (part.allowed > 0 && UsedMore(part.error, part.allowed, all)) all.error = part.error, all.allowed = part.allowed;
  });
  return all;
}

std::string AgreementNote(const std::string& case_name, const std::string& output, const Agreement& agreement) {
  if (agreement.different == 0) return fmt::format("agreement: {}: {} is bit-identical", case_name, output);
  return fmt::format("agreement: {}: {} is off by at most {:.2g} where {:.2g} is allowed ({} of {} elements differ)",
                     case_name, output, agreement.error, agreement.allowed, agreement.different, agreement.elements);
}

}  // namespace warpwright::judge
