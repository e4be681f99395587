#include "lift/coordinates.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "lift/padded_fit.h"

namespace warpwright::lift {
namespace {

constexpr size_t kMaxCounters = 8;
constexpr uint64_t kMaxBoxPoints = 30'000'000;
constexpr uint64_t kMaxPointsForDigits = 20'000;
constexpr int64_t kLargestModulusOfDomain = 64;

// Least and greatest value of a slot in each cell, and what lies between neighbours in all of them.
struct Window {
  Column low, high;
  int64_t step = 1;
};
Window WindowOf(const CellPoints& points, const Column& slot) {
  Window window{Column(points.cells, std::numeric_limits<int64_t>::max()),
                Column(points.cells, std::numeric_limits<int64_t>::min())};
  for (size_t row = 0; row < points.rows(); ++row) {
    int64_t &low = window.low[points.cell[row]], &high = window.high[points.cell[row]];
    low = std::min(low, slot[row]);
    high = std::max(high, slot[row]);
  }
  int64_t step = 0;
  for (size_t row = 0; row < points.rows(); ++row) step = std::gcd(step, slot[row] - window.low[points.cell[row]]);
  window.step = std::max<int64_t>(step, 1);
  return window;
}

bool IsConstant(const Column& column) {
  return std::all_of(column.begin(), column.end(), [&](int64_t v) { return v == column[0]; });
}

// From 0 on, by the common stride.
int64_t Normalise(Column& column) {
  const auto [low_at, high_at] = std::minmax_element(column.begin(), column.end());
  const int64_t low = *low_at, high = *high_at;
  int64_t stride = 0;
  for (const int64_t v : column) stride = std::gcd(stride, v - low);
  if (stride == 0) stride = 1;
  for (int64_t& v : column) v = (v - low) / stride;
  return (high - low) / stride + 1;
}

struct TupleHash {
  size_t operator()(const std::vector<int64_t>& t) const {
    size_t hash = 0x9e3779b97f4a7c15u;
    for (const int64_t v : t) hash = (hash ^ static_cast<size_t>(v)) * 0xff51afd7ed558ccdu + (hash >> 29);
    return hash;
  }
};
using TupleSet = std::unordered_set<std::vector<int64_t>, TupleHash>;

size_t DistinctTuples(const Columns& columns, size_t rows) {
  TupleSet seen;
  std::vector<int64_t> tuple(columns.size());
  for (size_t row = 0; row < rows; ++row) {
    for (size_t k = 0; k < columns.size(); ++k) tuple[k] = (*columns[k])[row];
    seen.insert(tuple);
  }
  return seen.size();
}

// A window of one width whose origin moves, clipped to the range of all: its origin in each cell, as if nothing were
// clipped. Empty if it is none.
Column WindowOrigin(const Window& window) {
  const size_t cells = window.low.size();
  const int64_t step = window.step;
  const int64_t first = *std::min_element(window.low.begin(), window.low.end());
  const int64_t last = *std::max_element(window.high.begin(), window.high.end());
  int64_t span = 0;
  for (size_t c = 0; c < cells; ++c) span = std::max(span, window.high[c] - window.low[c]);
  Column origin(cells);
  for (size_t c = 0; c < cells; ++c) {
    const int64_t low = window.low[c], high = window.high[c];
    origin[c] = high - low == span || low - step >= first ? low : high - span;
    const int64_t end = origin[c] + span;
    const bool begins = origin[c] == low || low - step < first, ends = end == high || high + step > last;
    if (!begins || !ends || high > end || low < origin[c]) return {};
  }
  return origin;
}

// Adds coordinates until all cells differ.
class CoordinateChoice {
 public:
  explicit CoordinateChoice(const CellPoints& points) : points_(points) { first_row_.assign(points.cells, SIZE_MAX); }

  Fitted<CellCoordinates> Run() {
    for (size_t row = points_.rows(); row-- > 0;) first_row_[points_.cell[row]] = row;
    if (points_.cells > 1) {
      AddInvariants();
      if (!Complete()) AddWindows();
      if (!Complete())
        return tl::unexpected(std::string("elements of an intermediate result are not told apart by what they read"));
    }
    CellCoordinates result;
    for (Column& column : chosen_) {
      result.extents.push_back(Normalise(column));
      result.of_cell.push_back(std::move(column));
    }
    return result;
  }

 private:
  bool Complete() {
    if (distinct_ == 0) distinct_ = chosen_.empty() ? 1 : DistinctTuples(Pointers(chosen_), points_.cells);
    return distinct_ == points_.cells;
  }
  // Unless it is constant or follows from the others.
  bool Add(Column column) {
    if (IsConstant(column) || FitAffine(Pointers(chosen_), column)) return false;
    chosen_.push_back(std::move(column));
    distinct_ = 0;
    return true;
  }

  void AddInvariants() {
    const size_t width = points_.slots.size();
    RowSpace differences(width);
    std::vector<int64_t> row(width);
    for (size_t r = 0; r < points_.rows() && differences.rank() < width; ++r) {
      const size_t origin = first_row_[points_.cell[r]];
      if (origin == r) continue;
      for (size_t k = 0; k < width; ++k) row[k] = (*points_.slots[k])[r] - (*points_.slots[k])[origin];
      differences.Add(row);
    }
    for (const std::vector<int64_t>& invariant : differences.NullSpace()) {
      Column column(points_.cells);
      for (size_t c = 0; c < points_.cells; ++c)
        for (size_t k = 0; k < width; ++k)
          if (invariant[k] != 0) column[c] += invariant[k] * (*points_.slots[k])[first_row_[c]];
      Add(std::move(column));
    }
  }

  void AddWindows() {
    for (const Column* slot : points_.slots) {
      const Window window = WindowOf(points_, *slot);
      Column origin = WindowOrigin(window);
      if (!origin.empty()) {
        Add(std::move(origin));
      } else {
        Add(window.low);
        if (!Complete()) Add(window.high);
      }
      if (Complete()) return;
    }
  }

  const CellPoints& points_;
  std::vector<size_t> first_row_;
  std::vector<Column> chosen_;
  size_t distinct_ = 0;
};

class CounterChoice {
 public:
  CounterChoice(const CellPoints& points, const Columns& coordinates, CounterOrder order)
      : points_(points), known_(coordinates), order_(order) {
    counts_.assign(points.cells, 0);
    for (const uint32_t c : points.cell) ++counts_[c];
    full_ = *std::max_element(counts_.begin(), counts_.end());
    counters_.reserve(kMaxCounters);  // known_ points into it
  }

  Fitted<Counters> Run() {
    for (const auto& [moves, slot] : Order()) {
      const Column& values = *points_.slots[slot];
      if (FitAffine(known_, values)) continue;
      if (moves && FitPadded(known_, values, *std::max_element(values.begin(), values.end()) + 1)) continue;
      if (FitAffineOrDigit(known_, values)) continue;  // it follows from the others by a digit
      if (counters_.size() == kMaxCounters)
        return tl::unexpected(std::string("more than eight counters in one reduction"));
      Column counter = moves ? MinusOrigin(values) : values;
      extents_.push_back(Normalise(counter));
      counters_.push_back(std::move(counter));
      known_.push_back(&counters_.back());
    }
    if (!Separates()) return tl::unexpected(std::string("terms of a reduction are not told apart by what they read"));
    return Counters{std::move(counters_), std::move(extents_)};
  }

 private:
  // Slots that take the same values in a full cell as anywhere come first: those are the taps of windows. One that is a
  // digit of another comes last: the block of an element. Extents do not count, or the order would change with them.
  std::vector<std::pair<bool, size_t>> Order() const {
    if (order_ == CounterOrder::kAsTheyStand) {
      std::vector<std::pair<bool, size_t>> slots;
      for (size_t k = 0; k < points_.slots.size(); ++k) slots.emplace_back(false, k);
      return slots;
    }
    std::vector<std::tuple<bool, bool, size_t>> order;
    const auto full = static_cast<uint32_t>(std::max_element(counts_.begin(), counts_.end()) - counts_.begin());
    std::vector<Column> inside(points_.slots.size());
    for (size_t k = 0; k < points_.slots.size(); ++k) {
      const Column& slot = *points_.slots[k];
      for (size_t row = 0; row < points_.rows(); ++row)
        if (points_.cell[row] == full) inside[k].push_back(slot[row]);
      const std::set<int64_t> all(slot.begin(), slot.end()), here(inside[k].begin(), inside[k].end());
      order.emplace_back(all != here, false, k);
    }
    for (auto& [moves, is_digit, k] : order)
      for (size_t other = 0; other < inside.size() && !is_digit; ++other)
        is_digit = other != k && IsDigitOf(inside[k], inside[other]);
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return std::tuple(std::get<1>(a), std::get<0>(a), std::get<2>(a)) <
             std::tuple(std::get<1>(b), std::get<0>(b), std::get<2>(b));
    });
    std::vector<std::pair<bool, size_t>> slots;
    for (const auto& [moves, is_digit, k] : order) slots.emplace_back(moves, k);
    return slots;
  }
  static bool IsDigitOf(const Column& values, const Column& of) {
    if (FitAffine({&of}, values)) return false;
    const auto fit = FitAffineOrDigit({&of}, values);
    return fit && !fit->digits.empty();
  }
  // Sliding windows: minus the least value of the cell, as an affine function of the coordinates, if full cells agree
  // on one.
  Column MinusOrigin(const Column& values) const {
    const Window window = WindowOf(points_, values);
    const Column origins = [&] {
      Column origin = WindowOrigin(window);
      return origin.empty() ? window.low : origin;
    }();
    Column low;
    std::vector<Column> at(points_coordinates());
    for (size_t row = 0; row < points_.rows(); ++row) {
      const uint32_t c = points_.cell[row];
      if (row > 0 && points_.cell[row - 1] == c) continue;
      low.push_back(origins[c]);
      for (size_t k = 0; k < at.size(); ++k) at[k].push_back((*known_[k])[row]);
    }
    const auto fit = FitAffineOrDigit(Pointers(at), low);
    if (!fit || fit->divisor != 1) return values;
    Column counter(values.size());
    for (size_t row = 0; row < values.size(); ++row)
      counter[row] = values[row] - fit->Numerator([&](size_t k) { return (*known_[k])[row]; });
    return counter;
  }
  size_t points_coordinates() const { return known_.size() - counters_.size(); }
  bool Separates() const {
    TupleSet seen;
    std::vector<int64_t> tuple(counters_.size());
    for (size_t row = 0; row < points_.rows(); ++row) {
      if (row > 0 && points_.cell[row] != points_.cell[row - 1]) seen.clear();
      for (size_t k = 0; k < counters_.size(); ++k) tuple[k] = counters_[k][row];
      if (!seen.insert(tuple).second) return false;
    }
    return true;
  }

  const CellPoints& points_;
  Columns known_;
  const CounterOrder order_;
  std::vector<size_t> counts_;
  size_t full_ = 0;
  std::vector<Column> counters_;
  std::vector<int64_t> extents_;
};

class DomainExplanation {
 public:
  DomainExplanation(const Columns& columns, size_t fixed, const std::vector<int64_t>& extents)
      : columns_(columns), fixed_(fixed), extents_(extents) {}

  Fitted<std::vector<IntegerGuard>> Run(const std::vector<IntegerGuard>& bounds) {
    Collect();
    std::vector<IntegerGuard> guards = bounds;
    if (!Explains(guards)) {
      guards = Differences();
      bool enough = Explains(guards);
      if (!enough) {
        guards.insert(guards.end(), bounds.begin(), bounds.end());
        if (!Explains(guards)) {
          if (!AddDigit(guards)) return tl::unexpected(std::string("a domain is no box with affine guards"));
          enough = true;
        }
      }
      if (enough) {
        Thin(guards);
        std::erase_if(guards, [](const IntegerGuard& guard) { return !guard.needs_low && !guard.needs_high; });
        return guards;
      }
    }
    Thin(guards);
    return guards;
  }

 private:
  void Collect() {
    std::map<std::vector<int64_t>, uint64_t> counts;
    std::vector<int64_t> key(fixed_);
    const size_t rows = columns_.empty() ? 0 : columns_[0]->size();
    for (size_t row = 0; row < rows; ++row) {
      for (size_t k = 0; k < fixed_; ++k) key[k] = (*columns_[k])[row];
      ++counts[key];
    }
    uint64_t box = 1;
    for (const int64_t extent : extents_)
      if (box <= kMaxBoxPoints) box *= static_cast<uint64_t>(std::max<int64_t>(extent, 1));
    can_be_counted_ = box <= kMaxBoxPoints;
    if (!can_be_counted_) return;
    // Large ones by a sample of the fixed parts.
    const size_t step = std::max<size_t>(1, counts.size() * box / kMaxBoxPoints);
    size_t i = 0;
    for (const auto& [fixed, count] : counts)
      if (i++ % step == 0) counts_.emplace_back(fixed, count);
  }

  // Rows satisfy all guards, so it is enough to count the points of the box that do. Of a box that is too large for
  // that, nothing is known.
  bool Explains(const std::vector<IntegerGuard>& guards) const {
    if (!can_be_counted_) return false;
    std::vector<int64_t> point(fixed_ + extents_.size());
    for (const auto& [fixed, count] : counts_) {
      std::copy(fixed.begin(), fixed.end(), point.begin());
      std::fill(point.begin() + static_cast<std::ptrdiff_t>(fixed_), point.end(), 0);
      uint64_t holding = 0;
      while (true) {
        holding += Holds(guards, point) ? 1 : 0;
        if (holding > count) return false;
        size_t k = point.size();
        while (k > fixed_ && ++point[k - 1] == extents_[k - 1 - fixed_]) point[--k] = 0;
        if (k == fixed_) break;
      }
      if (holding != count) return false;
    }
    return true;
  }

  // What differences and sums of two columns reveal that their ranges alone do not: triangles and bands.
  std::vector<IntegerGuard> Differences() const {
    std::vector<IntegerGuard> guards;
    const size_t n = columns_.size();
    for (size_t p = fixed_; p < n; ++p) {
      for (size_t q = 0; q < n; ++q) {
        if (q == p || (q >= fixed_ && q < p)) continue;
        for (const int64_t sign : {1, -1}) {
          int64_t low = std::numeric_limits<int64_t>::max(), high = std::numeric_limits<int64_t>::min();
          const Column &a = *columns_[p], &b = *columns_[q];
          for (size_t row = 0; row < a.size(); ++row) {
            const int64_t d = a[row] - sign * b[row];
            low = std::min(low, d);
            high = std::max(high, d);
          }
          const auto [a_low, a_high] = std::minmax_element(a.begin(), a.end());
          const auto [b_low, b_high] = std::minmax_element(b.begin(), b.end());
          const int64_t possible_low = *a_low - (sign > 0 ? *b_high : -*b_low);
          const int64_t possible_high = *a_high - (sign > 0 ? *b_low : -*b_high);
          if (low <= possible_low && high >= possible_high) continue;
          IntegerGuard guard;
          guard.value.coefficients.assign(n, 0);
          guard.value.coefficients[p] = 1;
          guard.value.coefficients[q] = -sign;
          guard.has_low = low > possible_low;
          guard.low = low;
          guard.has_high = high < possible_high;
          guard.high = high + 1;
          guards.push_back(std::move(guard));
        }
      }
    }
    return guards;
  }

  // A column against the remainder of another one: the mask of a row in its group of rows. False: that explains
  // nothing.
  bool AddDigit(std::vector<IntegerGuard>& guards) const {
    if (!can_be_counted_) return false;
    uint64_t box = 1;
    for (const int64_t extent : extents_) box *= static_cast<uint64_t>(std::max<int64_t>(extent, 1));
    if (columns_.empty() || box * counts_.size() > kMaxPointsForDigits) return false;
    const size_t rows = columns_[0]->size();
    for (size_t q = 0; q < columns_.size(); ++q) {
      const int64_t highest = *std::max_element(columns_[q]->begin(), columns_[q]->end());
      for (int64_t modulus = 2; modulus <= std::min(highest, kLargestModulusOfDomain); ++modulus) {
        for (size_t p = 0; p < columns_.size(); ++p) {
          if (p == q) continue;
          IntegerGuard guard;
          guard.value.coefficients.assign(columns_.size(), 0);
          guard.value.coefficients[p] = 1;
          guard.value.digits.push_back({q, modulus, 0, -1});
          guard.low = std::numeric_limits<int64_t>::max();
          int64_t high = std::numeric_limits<int64_t>::min();
          for (size_t row = 0; row < rows; ++row) {
            const int64_t d = guard.value.Numerator([&](size_t k) { return (*columns_[k])[row]; });
            guard.low = std::min(guard.low, d);
            high = std::max(high, d);
          }
          guard.high = high + 1;
          const auto [least, most] = std::minmax_element(columns_[p]->begin(), columns_[p]->end());
          guard.has_low = guard.low > *least - (modulus - 1);
          guard.has_high = high < *most;
          if (!guard.has_low && !guard.has_high) continue;
          guards.push_back(guard);
          if (Explains(guards)) return true;
          guards.pop_back();
        }
      }
    }
    return false;
  }

  // Marks the sides that the others do not imply, the last first.
  void Thin(std::vector<IntegerGuard>& guards) const {
    std::vector<IntegerGuard> kept = guards;
    for (size_t i = guards.size(); i-- > 0;) {
      for (const auto& [has, needs] : {std::pair(&IntegerGuard::has_low, &IntegerGuard::needs_low),
                                       std::pair(&IntegerGuard::has_high, &IntegerGuard::needs_high)}) {
        if (!(kept[i].*has)) continue;
        kept[i].*has = false;
        if (Explains(kept)) continue;
        kept[i].*has = true;
        guards[i].*needs = true;
      }
      // An integrality that no bound needs.
      if (guards[i].needs_low || guards[i].needs_high || kept[i].value.divisor == 1) continue;
      const int64_t divisor = std::exchange(kept[i].value.divisor, 1);
      if (Explains(kept)) continue;
      kept[i].value.divisor = divisor;
      guards[i].needs_low = kept[i].has_low = true;
    }
  }

  const Columns& columns_;
  size_t fixed_;
  const std::vector<int64_t>& extents_;
  std::vector<std::pair<std::vector<int64_t>, uint64_t>> counts_;
  bool can_be_counted_ = true;
};

}  // namespace

Fitted<CellCoordinates> ChooseCoordinates(const CellPoints& points) { return CoordinateChoice(points).Run(); }

Fitted<Counters> ChooseCounters(const CellPoints& points, const Columns& coordinates, CounterOrder order) {
  return CounterChoice(points, coordinates, order).Run();
}

bool Holds(const std::vector<IntegerGuard>& guards, const std::vector<int64_t>& point) {
  for (const IntegerGuard& guard : guards) {
    const int64_t n = guard.value.Numerator([&](size_t k) { return point[k]; });
    if (n % guard.value.divisor != 0) return false;
    const int64_t v = n / guard.value.divisor;
    if ((guard.has_low && v < guard.low) || (guard.has_high && v >= guard.high)) return false;
  }
  return true;
}

Fitted<std::vector<IntegerGuard>> ExplainDomain(const Columns& columns, size_t fixed,
                                                const std::vector<int64_t>& extents,
                                                const std::vector<IntegerGuard>& bounds) {
  return DomainExplanation(columns, fixed, extents).Run(bounds);
}

}  // namespace warpwright::lift
