#include "lift/affine_fit.h"

#include <algorithm>
#include <boost/rational.hpp>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "base/random.h"

namespace warpwright::lift {
namespace {

using Rational = boost::rational<int64_t>;
// Not r == 0: with C++20 the comparisons of this Boost with integers call each other for ever.
bool IsZero(const Rational& r) { return r.numerator() == 0; }

constexpr size_t kSample = 60;
constexpr int kRefinements = 6;
constexpr int64_t kLargestModulus = 128;

std::vector<size_t> SampleRows(size_t rows, size_t count) {
  std::vector<size_t> sample;
  if (rows <= count) {
    sample.resize(rows);
    std::iota(sample.begin(), sample.end(), size_t{0});
    return sample;
  }
  const base::CounterRandom random(5, 0);
  for (size_t i = 0; i + 10 < count; ++i) sample.push_back(random.Bits(i) % rows);
  for (size_t i = 0; i < 5; ++i) {
    sample.push_back(i);
    sample.push_back(rows - 1 - i);
  }
  std::sort(sample.begin(), sample.end());
  sample.erase(std::unique(sample.begin(), sample.end()), sample.end());
  return sample;
}

struct Solution {
  std::vector<Rational> coefficients;
  Rational constant;
};

// Through the given rows exactly; nullopt: inconsistent. Coefficients that the rows do not determine are zero.
template <typename At>  // At(row, k)
std::optional<Solution> Solve(size_t width, const std::vector<size_t>& rows, const At& x, const Column& values) {
  std::vector<std::pair<size_t, std::vector<Rational>>> basis;
  const size_t origin = rows.front();
  for (const size_t row : rows) {
    std::vector<Rational> r(width + 1);
    for (size_t k = 0; k < width; ++k) r[k] = x(row, k) - x(origin, k);
    r[width] = values[row] - values[origin];
    for (const auto& [pivot, b] : basis) {
      if (IsZero(r[pivot])) continue;
      const Rational factor = r[pivot];
      for (size_t k = 0; k <= width; ++k) r[k] -= factor * b[k];
    }
    size_t pivot = 0;
    while (pivot < width && IsZero(r[pivot])) ++pivot;
    if (pivot == width) {
      if (!IsZero(r[width])) return std::nullopt;
      continue;
    }
    const Rational lead = r[pivot];
    for (Rational& value : r) value /= lead;
    for (auto& [p, b] : basis) {
      if (IsZero(b[pivot])) continue;
      const Rational factor = b[pivot];
      for (size_t k = 0; k <= width; ++k) b[k] -= factor * r[k];
    }
    basis.emplace_back(pivot, std::move(r));
  }
  Solution solution{std::vector<Rational>(width), values[origin]};
  for (const auto& [pivot, b] : basis) {
    solution.coefficients[pivot] = b[width];
    solution.constant -= b[width] * Rational(x(origin, pivot));
  }
  return solution;
}

AffineFit Integral(const Solution& solution) {
  int64_t divisor = solution.constant.denominator();
  for (const Rational& c : solution.coefficients) divisor = std::lcm(divisor, c.denominator());
  AffineFit fit;
  fit.divisor = divisor;
  fit.constant = boost::rational_cast<int64_t>(solution.constant * divisor);
  for (const Rational& c : solution.coefficients)
    fit.coefficients.push_back(boost::rational_cast<int64_t>(c * divisor));
  return fit;
}

bool IsSmall(const Solution& solution) {
  const auto small = [](const Rational& r) {
    return std::llabs(r.numerator()) < (int64_t{1} << 40) && r.denominator() < 4096;
  };
  return small(solution.constant) && std::all_of(solution.coefficients.begin(), solution.coefficients.end(), small);
}

// finish(solution) is the result if holds(result, row) for every row.
template <typename At, typename Finish, typename Holds>
auto FitRows(size_t width, const At& x, const Column& values, const Finish& finish, const Holds& holds)
    -> std::optional<decltype(finish(std::declval<Solution>()))> {
  if (values.empty()) return finish(Solution{std::vector<Rational>(width), 0});
  std::vector<size_t> rows = SampleRows(values.size(), kSample);
  for (int attempt = 0; attempt < kRefinements; ++attempt) {
    const std::optional<Solution> solution = Solve(width, rows, x, values);
    if (!solution || !IsSmall(*solution)) return std::nullopt;
    auto fit = finish(*solution);
    size_t bad = 0;
    while (bad < values.size() && holds(fit, bad)) ++bad;
    if (bad == values.size()) return fit;
    for (size_t i = bad >= 3 ? bad - 3 : 0; i < std::min(values.size(), bad + 4); ++i) rows.push_back(i);
  }
  return std::nullopt;
}

}  // namespace

Columns Pointers(const std::vector<Column>& columns) {
  Columns pointers;
  for (const Column& column : columns) pointers.push_back(&column);
  return pointers;
}

bool AffineFit::IsConstant() const { return !VariesFrom(0); }

bool AffineFit::VariesFrom(size_t column) const {
  for (size_t k = column; k < coefficients.size(); ++k)
    if (coefficients[k] != 0) return true;
  return std::any_of(digits.begin(), digits.end(), [&](const Digit& digit) { return digit.column >= column; });
}

std::optional<AffineFit> FitAffine(const Columns& x, const Column& values) {
  return FitRows(
      x.size(), [&](size_t row, size_t k) { return (*x[k])[row]; }, values, Integral,
      [&](const AffineFit& fit, size_t row) {
        return fit.Numerator([&](size_t k) { return (*x[k])[row]; }) == values[row] * fit.divisor;
      });
}

namespace {

// The values along column d while the others stay as in some row; the longest such line of those through a few rows.
void LineThrough(const Columns& x, const Column& values, size_t d, Column& along, Column& out) {
  for (const size_t base : SampleRows(values.size(), 16)) {
    Column positions, found;
    for (size_t row = 0; row < values.size(); ++row) {
      bool same = true;
      for (size_t k = 0; same && k < x.size(); ++k) same = k == d || (*x[k])[row] == (*x[k])[base];
      if (!same) continue;
      positions.push_back((*x[d])[row]);
      found.push_back(values[row]);
    }
    if (positions.size() <= along.size()) continue;
    along = std::move(positions);
    out = std::move(found);
  }
}

// The modulus by which values depend on one column; 0: they are affine in it; nullopt: neither.
std::optional<int64_t> ModulusAlong(const Columns& x, const Column& values, size_t d) {
  Column along, line;
  LineThrough(x, values, d, along, line);
  if (along.size() < 3 || FitAffine({&along}, line)) return 0;
  const auto [low, high] = std::minmax_element(along.begin(), along.end());
  if (*low < 0) return std::nullopt;
  for (int64_t modulus = 2; modulus <= std::min(*high, kLargestModulus); ++modulus) {
    const auto at = [&](size_t row, size_t k) { return k == 0 ? along[row] : along[row] / modulus; };
    if (FitRows(
            2, at, line, [](const Solution& s) { return s; },
            [&](const Solution& s, size_t row) {
              return s.coefficients[0] * Rational(at(row, 0)) + s.coefficients[1] * Rational(at(row, 1)) + s.constant ==
                     Rational(line[row]);
            }))
      return modulus;
  }
  return std::nullopt;
}

}  // namespace

std::optional<AffineFit> FitAffineOrDigit(const Columns& x, const Column& values) {
  if (auto fit = FitAffine(x, values)) return fit;
  std::vector<std::pair<size_t, int64_t>> digits;  // column, modulus
  for (size_t d = 0; d < x.size(); ++d) {
    const std::optional<int64_t> modulus = ModulusAlong(x, values, d);
    if (!modulus) return std::nullopt;
    if (*modulus > 0) digits.emplace_back(d, *modulus);
  }
  if (digits.empty()) return std::nullopt;
  const auto at = [&](size_t row, size_t k) {
    if (k < x.size()) return (*x[k])[row];
    const auto& [column, modulus] = digits[k - x.size()];
    return (*x[column])[row] / modulus;
  };
  const auto integral = [&](const Solution& solution) {
    AffineFit fit = Integral(solution);
    for (size_t i = 0; i < digits.size(); ++i) {
      const auto& [column, modulus] = digits[i];
      // a x + q floor(x / m) as quotient and remainder: x = m floor(x / m) + x mod m.
      const int64_t a = std::exchange(fit.coefficients[column], 0);
      fit.digits.push_back({column, modulus, fit.coefficients[x.size() + i] + a * modulus, a});
    }
    fit.coefficients.resize(x.size());
    return fit;
  };
  return FitRows(x.size() + digits.size(), at, values, integral, [&](const AffineFit& fit, size_t row) {
    return fit.Numerator([&](size_t k) { return (*x[k])[row]; }) == values[row] * fit.divisor;
  });
}

bool IsDoubtful(const AffineFit& fit, const Columns& x) {
  return std::any_of(fit.digits.begin(), fit.digits.end(), [&](const AffineFit::Digit& digit) {
    return *std::max_element(x[digit.column]->begin(), x[digit.column]->end()) + 1 < 2 * digit.modulus;
  });
}

std::optional<GridFit> FitGrid(const Columns& x, const Column& values, int64_t extent) {
  if (values.empty() || extent < 2) return std::nullopt;
  for (size_t k = 0; k < x.size(); ++k) {
    const auto [low, high] = std::minmax_element(x[k]->begin(), x[k]->end());
    const int64_t own = *high + 1;
    if (*low < 0 || own < 3) continue;
    // Corner on corner, centre on centre, ends on ends, and these rounded to the nearest.
    for (const GridFit fit :
         {GridFit{k, extent, 0, own}, GridFit{k, 2 * extent, extent, 2 * own}, GridFit{k, extent - 1, 0, own - 1},
          GridFit{k, 2 * (extent - 1), own - 1, 2 * (own - 1)}}) {
      size_t row = 0;
      while (row < values.size() && (fit.factor * (*x[k])[row] + fit.offset) / fit.divisor == values[row]) ++row;
      if (row == values.size()) return fit;
    }
  }
  return std::nullopt;
}

std::optional<Line> FitLine(const Columns& x, const std::vector<double>& values) {
  // Slopes between the extreme rows of one column whose other columns agree; seven digits of difference are enough.
  const auto [small, large] = std::minmax_element(values.begin(), values.end());
  const double scale = std::max(std::fabs(*small), std::fabs(*large));
  Line line{std::vector<double>(x.size()), 0};
  std::vector<double> rest = values;
  for (size_t k = 0; k < x.size(); ++k) {
    size_t low = 0, high = 0;
    for (size_t row = 0; row < values.size(); ++row) {
      bool agrees = true;
      for (size_t other = 0; other < x.size(); ++other) agrees &= other == k || (*x[other])[row] == (*x[other])[0];
      if (!agrees) continue;
      if ((*x[k])[row] < (*x[k])[low]) low = row;
      if ((*x[k])[row] > (*x[k])[high]) high = row;
    }
    if ((*x[k])[high] == (*x[k])[low]) continue;
    line.slopes[k] = (values[high] - values[low]) / static_cast<double>((*x[k])[high] - (*x[k])[low]);
    const double range = static_cast<double>((*x[k])[high] - (*x[k])[low]);
    if (std::fabs(line.slopes[k]) * range <= 1e-6 * scale) line.slopes[k] = 0;  // rounding
    for (size_t row = 0; row < values.size(); ++row) rest[row] -= line.slopes[k] * static_cast<double>((*x[k])[row]);
  }
  const auto [least, most] = std::minmax_element(rest.begin(), rest.end());
  if (*most - *least > 2e-6 * scale) return std::nullopt;
  line.constant = (*most + *least) / 2;
  if (std::fabs(line.constant) < 1e-6 * scale) line.constant = 0;
  return line;
}

namespace {

constexpr size_t kMostFeatures = 36;

// Least squares by Gaussian elimination of the normal equations; features that follow from others get zero.
std::vector<double> SolveLeastSquares(std::vector<std::vector<double>> a, std::vector<double> b) {
  const size_t n = b.size();
  std::vector<double> diagonal(n);
  for (size_t i = 0; i < n; ++i) diagonal[i] = a[i][i];
  std::vector<bool> used(n, false);
  std::vector<size_t> pivots;
  for (size_t step = 0; step < n; ++step) {
    size_t best = n;
    for (size_t i = 0; i < n; ++i)
      if (!used[i] && a[i][i] > 1e-9 * diagonal[i] &&
          (best == n || a[i][i] / diagonal[i] > a[best][best] / diagonal[best]))
        best = i;
    if (best == n) break;
    used[best] = true;
    for (size_t i = 0; i < n; ++i) {
      if (i == best || a[i][best] == 0) continue;
      const double factor = a[i][best] / a[best][best];
      for (size_t k = 0; k < n; ++k) a[i][k] -= factor * a[best][k];
      b[i] -= factor * b[best];
    }
  }
  std::vector<double> solution(n, 0);
  for (size_t i = 0; i < n; ++i)
    if (used[i]) solution[i] = b[i] / a[i][i];
  return solution;
}

}  // namespace

std::optional<Bilinear> FitBilinear(const Columns& x, const std::vector<double>& values) {
  const size_t width = x.size();
  if (1 + width + width * (width - 1) / 2 > kMostFeatures || values.empty()) return std::nullopt;
  std::vector<std::pair<size_t, size_t>> products;
  for (size_t i = 0; i < width; ++i)
    for (size_t k = i + 1; k < width; ++k) products.emplace_back(i, k);
  const size_t n = 1 + width + products.size();
  const auto features = [&](size_t row) {
    std::vector<double> f{1};
    for (const Column* column : x) f.push_back(static_cast<double>((*column)[row]));
    for (const auto& [i, k] : products) f.push_back(f[1 + i] * f[1 + k]);
    return f;
  };
  std::vector<std::vector<double>> a(n, std::vector<double>(n, 0));
  std::vector<double> b(n, 0), largest(n, 0);
  for (const size_t row : SampleRows(values.size(), 400)) {
    const std::vector<double> f = features(row);
    for (size_t i = 0; i < n; ++i) {
      largest[i] = std::max(largest[i], std::fabs(f[i]));
      b[i] += f[i] * values[row];
      for (size_t k = 0; k < n; ++k) a[i][k] += f[i] * f[k];
    }
  }
  std::vector<double> c = SolveLeastSquares(std::move(a), std::move(b));
  double scale = 0;
  for (const double v : values) scale = std::max(scale, std::fabs(v));
  for (size_t i = 0; i < n; ++i)
    if (std::fabs(c[i]) * largest[i] < 1e-6 * scale) c[i] = 0;
  for (size_t row = 0; row < values.size(); ++row) {
    const std::vector<double> f = features(row);
    double sum = 0;
    for (size_t i = 0; i < n; ++i) sum += c[i] * f[i];
    if (std::fabs(sum - values[row]) > 2e-6 * scale) return std::nullopt;
  }
  // A few points fit many functions.
  std::set<std::vector<int64_t>> points;
  const auto used = static_cast<size_t>(std::count_if(c.begin(), c.end(), [](double v) { return v != 0; }));
  for (size_t row = 0; row < values.size() && points.size() < 2 * used + 2; ++row) {
    std::vector<int64_t> point;
    for (size_t k = 0; k < width; ++k) {
      bool involved = c[1 + k] != 0;
      for (size_t i = 0; i < products.size(); ++i)
        involved |= c[1 + width + i] != 0 && (products[i].first == k || products[i].second == k);
      point.push_back(involved ? (*x[k])[row] : 0);
    }
    points.insert(std::move(point));
  }
  if (points.size() < 2 * used + 2) return std::nullopt;
  Bilinear fit;
  fit.line.constant = c[0];
  fit.line.slopes.assign(c.begin() + 1, c.begin() + 1 + static_cast<std::ptrdiff_t>(width));
  for (size_t i = 0; i < products.size(); ++i)
    if (c[1 + width + i] != 0) fit.terms.push_back({products[i].first, products[i].second, c[1 + width + i]});
  return fit;
}

bool RowSpace::Add(std::span<const int64_t> row) {
  std::vector<double> r(row.begin(), row.end());
  for (const auto& [pivot, b] : reduced_) {
    if (r[pivot] == 0) continue;
    const double factor = r[pivot];
    for (size_t k = 0; k < width_; ++k) r[k] -= factor * b[k];
  }
  size_t pivot = 0;
  while (pivot < width_ && std::fabs(r[pivot]) < 1e-7) ++pivot;
  if (pivot == width_) return false;
  const double lead = r[pivot];
  for (double& value : r) value = std::fabs(value) < 1e-9 ? 0 : value / lead;
  for (auto& [p, b] : reduced_) {
    const double factor = b[pivot];
    if (factor == 0) continue;
    for (size_t k = 0; k < width_; ++k) b[k] -= factor * r[k];
  }
  reduced_.emplace_back(pivot, std::move(r));
  rows_.emplace_back(row.begin(), row.end());
  return true;
}

std::vector<std::vector<int64_t>> RowSpace::NullSpace() const {
  // Reduced row echelon form over rationals, pivots from the right: invariants are then expressed by the leading
  // columns, and a column that no row touches is a basis vector of its own.
  std::vector<std::vector<Rational>> m;
  for (const auto& row : rows_) m.emplace_back(row.begin(), row.end());
  std::vector<size_t> pivots;
  size_t next = 0;
  for (size_t column = width_; column-- > 0 && next < m.size();) {
    size_t found = next;
    while (found < m.size() && IsZero(m[found][column])) ++found;
    if (found == m.size()) continue;
    std::swap(m[next], m[found]);
    const Rational lead = m[next][column];
    for (Rational& value : m[next]) value /= lead;
    for (size_t i = 0; i < m.size(); ++i) {
      if (i == next || IsZero(m[i][column])) continue;
      const Rational factor = m[i][column];
      for (size_t k = 0; k < width_; ++k) m[i][k] -= factor * m[next][k];
    }
    pivots.push_back(column);
    ++next;
  }
  std::vector<std::vector<int64_t>> basis;
  for (size_t column = 0; column < width_; ++column) {
    if (std::find(pivots.begin(), pivots.end(), column) != pivots.end()) continue;
    std::vector<Rational> v(width_);
    v[column] = 1;
    for (size_t i = 0; i < pivots.size(); ++i) v[pivots[i]] = -m[i][column];
    int64_t scale = 1;
    for (const Rational& value : v) scale = std::lcm(scale, value.denominator());
    std::vector<int64_t> integral;
    int64_t common = 0;
    for (const Rational& value : v) {
      integral.push_back(boost::rational_cast<int64_t>(value * scale));
      common = std::gcd(common, integral.back());
    }
    const auto first = std::find_if(integral.begin(), integral.end(), [](int64_t x) { return x != 0; });
    const int64_t sign = *first < 0 ? -1 : 1;
    for (int64_t& value : integral) value = value / common * sign;
    basis.push_back(std::move(integral));
  }
  const auto weight = [](const std::vector<int64_t>& v) {
    return std::count_if(v.begin(), v.end(), [](int64_t x) { return x != 0; });
  };
  std::stable_sort(basis.begin(), basis.end(), [&](const auto& a, const auto& b) { return weight(a) < weight(b); });
  return basis;
}

}  // namespace warpwright::lift
