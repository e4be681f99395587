#include "lift/padded_fit.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace warpwright::lift {
namespace {

constexpr size_t kMostRows = 4'000'000;
constexpr int64_t kLeastExtent = 3;  // in which an inside can be told from its ends

int64_t Padded(PaddingMode mode, int64_t at, int64_t extent) {
  switch (mode) {
    case PaddingMode::kReplicate: return std::clamp<int64_t>(at, 0, extent - 1);
    case PaddingMode::kReflect: return at < 0 ? -at : std::min(at, 2 * (extent - 1) - at);
    case PaddingMode::kSymmetric: return at < 0 ? -1 - at : std::min(at, 2 * extent - 1 - at);
    case PaddingMode::kCircular: return at < 0 ? at + extent : at >= extent ? at - extent : at;
  }
  return at;
}

// What stands in most rows; of several, the least.
class Vote {
 public:
  void Add(int64_t value) { ++counts_[value]; }
  std::optional<int64_t> Winner() const {
    const auto most = std::max_element(counts_.begin(), counts_.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == counts_.end() ? std::nullopt : std::optional(most->first);
  }

 private:
  std::map<int64_t, size_t> counts_;
};

// By the values of all columns, each less its least, as digits of one number.
class RowsByPlace {
 public:
  explicit RowsByPlace(const Columns& x) : x_(x) {
    uint64_t stride = 1;
    for (const Column* column : x) {
      const auto [low, high] = std::minmax_element(column->begin(), column->end());
      low_.push_back(*low);
      high_.push_back(*high);
      strides_.push_back(stride);
      stride *= static_cast<uint64_t>(*high - *low + 1);
    }
    places_.reserve(x[0]->size());
    for (size_t row = 0; row < x[0]->size(); ++row) places_.emplace(PlaceOf(row), row);
  }
  // Where column `k` is one more and all others are the same.
  std::optional<size_t> Next(size_t row, size_t k) const {
    if ((*x_[k])[row] == high_[k]) return std::nullopt;
    const auto found = places_.find(PlaceOf(row) + strides_[k]);
    return found == places_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  uint64_t PlaceOf(size_t row) const {
    uint64_t place = 0;
    for (size_t k = 0; k < x_.size(); ++k) place += static_cast<uint64_t>((*x_[k])[row] - low_[k]) * strides_[k];
    return place;
  }
  const Columns& x_;
  std::vector<int64_t> low_, high_;
  std::vector<uint64_t> strides_;
  std::unordered_map<uint64_t, size_t> places_;
};

// Of the rows whose positions are far from both ends of what is long.
template <typename F>
std::optional<AffineFit> FitOfTheMiddle(const Columns& x, const Column& values, const F& fit_rows) {
  constexpr int64_t kLong = 6;
  std::vector<bool> kept(values.size(), true);
  for (const Column* column : x) {
    const auto [low, high] = std::minmax_element(column->begin(), column->end());
    const int64_t extent = *high - *low + 1, end = extent / 3;
    if (extent < kLong) continue;
    for (size_t row = 0; row < kept.size(); ++row)
      kept[row] = kept[row] && (*column)[row] >= *low + end && (*column)[row] <= *high - end;
  }
  std::vector<Column> middle(x.size());
  Column of_middle;
  for (size_t row = 0; row < kept.size(); ++row) {
    if (!kept[row]) continue;
    of_middle.push_back(values[row]);
    for (size_t k = 0; k < x.size(); ++k) middle[k].push_back((*x[k])[row]);
  }
  auto fit = fit_rows(Pointers(middle), of_middle);
  return fit && fit->divisor == 1 && !IsDoubtful(*fit, Pointers(middle)) ? fit : std::nullopt;
}

// By what most neighbours differ in, and most rows have beside.
AffineFit FitOfMost(const Columns& x, const Column& values) {
  AffineFit fit;
  const RowsByPlace rows(x);
  for (size_t k = 0; k < x.size(); ++k) {
    Vote slope;
    for (size_t row = 0; row < values.size(); ++row)
      if (const auto next = rows.Next(row, k)) slope.Add(values[*next] - values[row]);
    fit.coefficients.push_back(slope.Winner().value_or(0));
  }
  Vote constant;
  for (size_t row = 0; row < values.size(); ++row)
    constant.Add(values[row] - fit.Numerator([&](size_t k) { return (*x[k])[row]; }));
  fit.constant = *constant.Winner();
  return fit;
}

std::optional<PaddedFit> PaddedBy(const AffineFit& inside, const Columns& x, const Column& values, int64_t extent) {
  if (inside.IsConstant()) return std::nullopt;
  Column at(values.size());
  size_t outside = 0;
  for (size_t row = 0; row < at.size(); ++row) {
    at[row] = inside.Numerator([&](size_t k) { return (*x[k])[row]; });
    if (at[row] <= -extent || at[row] >= 2 * extent - 1) return std::nullopt;
    outside += at[row] < 0 || at[row] >= extent ? 1 : 0;
  }
  if (2 * outside > at.size()) return std::nullopt;
  for (const PaddingMode mode :
       {PaddingMode::kReplicate, PaddingMode::kReflect, PaddingMode::kSymmetric, PaddingMode::kCircular}) {
    size_t row = 0;
    while (row < at.size() && Padded(mode, at[row], extent) == values[row]) ++row;
    if (row < at.size()) continue;
    PaddedFit fit{inside, mode, extent};
    // A rotation by four is one by all but four: of these the one whose remainders are of what is not negative.
    if (mode == PaddingMode::kCircular && *std::min_element(at.begin(), at.end()) < 0) fit.at.constant += extent;
    return fit;
  }
  return std::nullopt;
}

}  // namespace

std::optional<PaddedFit> FitPadded(const Columns& x, const Column& values, int64_t extent) {
  if (x.empty() || values.empty() || values.size() > kMostRows || extent < kLeastExtent) return std::nullopt;
  if (const auto middle = FitOfTheMiddle(x, values, FitAffine))
    if (auto fit = PaddedBy(*middle, x, values, extent)) return fit;
  if (auto fit = PaddedBy(FitOfMost(x, values), x, values, extent)) return fit;
  const auto digits = FitOfTheMiddle(x, values, FitAffineOrDigit);
  return digits ? PaddedBy(*digits, x, values, extent) : std::nullopt;
}

}  // namespace warpwright::lift
