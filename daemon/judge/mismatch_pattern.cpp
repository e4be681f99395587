#include "judge/mismatch_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace warpwright::judge {
namespace {

constexpr size_t kFewest = 4;  // so many say nothing by accident

std::string Nth(size_t n) {
  const char* const ending = n % 100 / 10 == 1 ? "th"
                             : n % 10 == 1     ? "st"
                             : n % 10 == 2     ? "nd"
                             : n % 10 == 3     ? "rd"
                                               : "th";
  return fmt::format("{}{}", n, ending);
}

}  // namespace

void MismatchPattern::Range::Add(size_t value) {
  low = std::min(low, value);
  high = std::max(high, value);
}

MismatchPattern::MismatchPattern(std::vector<int64_t> shape) {
  if (shape.size() > 1) columns_ = static_cast<size_t>(std::max<int64_t>(1, shape.back()));
}

void MismatchPattern::AddPlace(size_t index) {
  if (wrong_++ > 0) stride_ = std::gcd(stride_, index - indices_.low);
  const size_t row = index / columns_;
  if (rows_seen_ == 0 || row != rows_.high) ++rows_seen_;
  indices_.Add(index);
  rows_.Add(row);
  columns_seen_.Add(index % columns_);
}

void MismatchPattern::Add(size_t index, double actual, double expected) {
  AddPlace(index);
  if (actual == 0) ++zeros_;
  if (!std::isfinite(actual)) ++not_finite_;
  const double ratio = expected != 0 ? actual / expected : 0;
  if (wrong_ == 1) ratio_ = ratio;
  if (ratio_ != 0 && std::fabs(ratio - ratio_) <= 1e-3 * std::fabs(ratio_)) ++scaled_;
}

std::string MismatchPattern::Location(size_t count) const {
  if (wrong_ == count) return "all of them";
  if (wrong_ < kFewest) return {};
  const bool gapless = indices_.high - indices_.low + 1 == wrong_;
  if (gapless && indices_.high + 1 == count) return fmt::format("the last {}", wrong_);
  if (columns_ > 1) {
    const size_t width = columns_seen_.high - columns_seen_.low + 1;
    if (rows_.one()) return fmt::format("all in row {}", rows_.low);
    if (columns_seen_.one()) return fmt::format("all in column {}", columns_seen_.low);
    if (width < columns_ && width * rows_seen_ == wrong_ && columns_seen_.high + 1 == columns_)
      return fmt::format("the last {} columns of {} rows", width, rows_seen_);
    if (width == columns_ && rows_seen_ * columns_ == wrong_ && rows_.high - rows_.low + 1 == rows_seen_)
      return fmt::format("all of rows {} to {}", rows_.low, rows_.high);
  }
  if (gapless) return fmt::format("those from {} to {} without a gap", indices_.low, indices_.high);
  if (stride_ > 1 && (indices_.high - indices_.low) / stride_ + 1 == wrong_)
    return fmt::format("every {} from {} to {}", Nth(stride_), indices_.low, indices_.high);
  if (stride_ > 1) return fmt::format("all at multiples of {} from {} on", stride_, indices_.low);
  return {};
}

std::string MismatchPattern::Scale() const {
  if (wrong_ < kFewest) return {};
  if (zeros_ == wrong_) return "each is zero";
  if (not_finite_ == wrong_) return "none is finite";
  if (scaled_ == wrong_) return fmt::format("each is {:.4g} times what is expected", ratio_);
  return {};
}

std::string MismatchPattern::Describe(size_t count) const {
  const std::string place = Location(count), scale = Scale();
  return place + (place.empty() || scale.empty() ? "" : ", ") + scale;
}

}  // namespace warpwright::judge
