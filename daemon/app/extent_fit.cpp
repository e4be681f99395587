#include "app/extent_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace warpwright::app {
namespace {

constexpr size_t kMaxNames = 16, kMaxWindowNames = 9;
constexpr size_t kMinSamples = 3;
constexpr int64_t kMaxOffset = 2;
constexpr int64_t kDivisors[] = {2, 4, 8, 16, 32, 64, 128, 256};  // packed elements, tiles, warps, blocks
// A small argument (taps, a stride) divides numbers by chance: below this product of its values it must explain all
// that is left, alone or with one other factor.
constexpr double kTellingProduct = 2000;

using Values = std::vector<int64_t>;  // one for each sample

// An extent that is no plain argument, with its value at every sample.
struct Factor {
  std::string text;
  Values values;
};

bool AllEqual(const Values& values) {
  return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == values[0]; });
}
bool Divides(const Values& factor, const Values& values) {
  for (size_t j = 0; j < values.size(); ++j)
    if (factor[j] <= 0 || values[j] % factor[j] != 0) return false;
  return true;
}
Values Quotient(const Values& values, const Values& factor) {
  Values quotient;
  for (size_t j = 0; j < values.size(); ++j) quotient.push_back(values[j] / factor[j]);
  return quotient;
}

bool IsTelling(const Values& values) {
  double product = 1;
  for (const int64_t v : values) product *= static_cast<double>(v);
  return !AllEqual(values) && product >= kTellingProduct;
}

// The extents that may follow from arguments, the simpler ones first.
class Factors {
 public:
  Factors(const std::vector<std::string>& names, const std::vector<Values>& values) : names_(names), values_(values) {
    for (size_t a = 0; a < names.size(); ++a) Add(names[a], [&, a](size_t j) { return values_[a][j]; });
    AddOffsets();
    AddPairs();
    AddQuotients();
    AddWindows();
  }
  const std::vector<Factor>& all() const { return factors_; }

 private:
  // Of all samples, or none if one of them has no positive value.
  void Add(std::string text, const std::function<int64_t(size_t)>& value) {
    Factor factor{std::move(text), {}};
    for (size_t j = 0; j < values_[0].size(); ++j) {
      factor.values.push_back(value(j));
      if (factor.values.back() <= 0) return;
    }
    if (!AllEqual(factor.values)) factors_.push_back(std::move(factor));
  }
  void AddOffsets() {
    for (size_t a = 0; a < names_.size(); ++a)
      for (int64_t c = 1; c <= kMaxOffset; ++c)
        for (const int64_t sign : {1, -1})
          Add(fmt::format("{} {} {}", names_[a], sign > 0 ? '+' : '-', c),
              [&, a](size_t j) { return values_[a][j] + sign * c; });
  }
  void AddPairs() {
    for (size_t a = 0; a < names_.size(); ++a)
      for (size_t b = 0; b < names_.size(); ++b) {
        if (a < b)
          Add(fmt::format("{} + {}", names_[a], names_[b]), [&](size_t j) { return values_[a][j] + values_[b][j]; });
        if (a == b) continue;
        Add(fmt::format("{} - {}", names_[a], names_[b]), [&](size_t j) { return values_[a][j] - values_[b][j]; });
        Add(fmt::format("{} + 2 * {}", names_[a], names_[b]),
            [&](size_t j) { return values_[a][j] + 2 * values_[b][j]; });
        Add(fmt::format("{} / {}", names_[a], names_[b]),
            [&](size_t j) { return values_[b][j] > 1 ? values_[a][j] / values_[b][j] : 0; });
        Add(fmt::format("ceil_div({}, {})", names_[a], names_[b]),
            [&](size_t j) { return values_[b][j] > 1 ? (values_[a][j] + values_[b][j] - 1) / values_[b][j] : 0; });
      }
  }
  void AddQuotients() {
    for (size_t a = 0; a < names_.size(); ++a)
      for (const int64_t k : kDivisors) {
        Add(fmt::format("{} / {}", names_[a], k), [&, a](size_t j) { return values_[a][j] / k; });
        Add(fmt::format("ceil_div({}, {})", names_[a], k), [&, a](size_t j) { return (values_[a][j] + k - 1) / k; });
      }
  }
  // Output extents of windows over `a` with `k` taps: with or without a stride, padding and dilation; and of transposed
  // ones.
  void AddWindows() {
    const size_t n = std::min(names_.size(), kMaxWindowNames);
    const auto v = [&](size_t i, size_t j) { return values_[i][j]; };
    const auto out = [](int64_t span, int64_t stride) { return stride > 0 && span >= 0 ? span / stride + 1 : 0; };
    for (size_t a = 0; a < n; ++a)
      for (size_t k = 0; k < n; ++k) {
        if (a == k) continue;
        Add(fmt::format("{} - {} + 1", names_[a], names_[k]), [&](size_t j) { return v(a, j) - v(k, j) + 1; });
        Add(fmt::format("{} + {} - 1", names_[a], names_[k]), [&](size_t j) { return v(a, j) + v(k, j) - 1; });
        for (size_t x = 0; x < n; ++x) {
          if (x == a || x == k) continue;
          Add(fmt::format("({} - {}) / {} + 1", names_[a], names_[k], names_[x]),
              [&](size_t j) { return out(v(a, j) - v(k, j), v(x, j)); });
          Add(fmt::format("{} + 2 * {} - {} + 1", names_[a], names_[x], names_[k]),
              [&](size_t j) { return v(a, j) + 2 * v(x, j) - v(k, j) + 1; });
          Add(fmt::format("({} - 1) * {} + {}", names_[a], names_[x], names_[k]),
              [&](size_t j) { return (v(a, j) - 1) * v(x, j) + v(k, j); });
          for (size_t p = 0; p < n; ++p) AddPaddedWindows(a, k, x, p, n);
        }
      }
  }
  void AddPaddedWindows(size_t a, size_t k, size_t stride, size_t pad, size_t n) {
    if (pad == a || pad == k || pad == stride) return;
    const auto v = [&](size_t i, size_t j) { return values_[i][j]; };
    const auto out = [](int64_t span, int64_t by) { return by > 0 && span >= 0 ? span / by + 1 : 0; };
    Add(fmt::format("({} + 2 * {} - {}) / {} + 1", names_[a], names_[pad], names_[k], names_[stride]),
        [&](size_t j) { return out(v(a, j) + 2 * v(pad, j) - v(k, j), v(stride, j)); });
    Add(fmt::format("({} - 1) * {} - 2 * {} + {}", names_[a], names_[stride], names_[pad], names_[k]),
        [&](size_t j) { return (v(a, j) - 1) * v(stride, j) - 2 * v(pad, j) + v(k, j); });
    for (size_t d = 0; d < n; ++d) {
      if (d == a || d == k || d == stride || d == pad) continue;
      Add(fmt::format("({} + 2 * {} - {} * ({} - 1) - 1) / {} + 1", names_[a], names_[pad], names_[d], names_[k],
                      names_[stride]),
          [&](size_t j) { return out(v(a, j) + 2 * v(pad, j) - v(d, j) * (v(k, j) - 1) - 1, v(stride, j)); });
    }
  }

  const std::vector<std::string>& names_;
  const std::vector<Values>& values_;
  std::vector<Factor> factors_;
};

std::vector<std::string> WithConstant(std::vector<std::string> shape, int64_t constant) {
  if (constant != 1 || shape.empty()) shape.push_back(fmt::format("{}", constant));
  return shape;
}

// What is left after the plain arguments: one factor or two, times a constant.
std::optional<std::vector<std::string>> FitRest(const Factors& factors, const Values& rest) {
  const auto times = [&](const Factor& factor, const Values& values) -> std::optional<int64_t> {
    if (!Divides(factor.values, values)) return std::nullopt;
    const Values quotient = Quotient(values, factor.values);
    return AllEqual(quotient) ? std::optional(quotient[0]) : std::nullopt;
  };
  for (const Factor& factor : factors.all())
    if (const auto constant = times(factor, rest)) return WithConstant({factor.text}, *constant);
  std::map<Values, const Factor*> by_values;
  for (const Factor& factor : factors.all()) by_values.emplace(factor.values, &factor);  // the simplest stays
  for (const Factor& factor : factors.all()) {
    if (!Divides(factor.values, rest)) continue;
    if (const auto other = by_values.find(Quotient(rest, factor.values)); other != by_values.end())
      return std::vector<std::string>{factor.text, other->second->text};
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<std::string>> FitShape(const std::vector<std::string>& all_names,
                                                 const std::vector<ExtentSample>& samples) {
  std::vector<std::string> names = all_names;
  if (names.size() > kMaxNames) names.resize(kMaxNames);
  Values rest;
  for (const ExtentSample& sample : samples) {
    if (sample.elements <= 0) return std::nullopt;
    rest.push_back(sample.elements);
  }
  if (rest.empty() || (!names.empty() && rest.size() < kMinSamples)) return std::nullopt;
  std::vector<Values> values;
  for (const std::string& name : names) {
    Values& of_name = values.emplace_back();
    for (const ExtentSample& sample : samples) of_name.push_back(sample.sizes.at(name));
  }

  std::vector<std::string> shape;
  // Twice: a square matrix has an extent as often.
  for (int power = 0; power < 2; ++power)
    for (size_t a = 0; a < names.size(); ++a)
      if (IsTelling(values[a]) && Divides(values[a], rest)) {
        rest = Quotient(rest, values[a]);
        shape.push_back(names[a]);
      }
  if (AllEqual(rest)) return WithConstant(std::move(shape), rest[0]);
  auto last = FitRest(Factors(names, values), rest);
  if (!last) return std::nullopt;
  shape.insert(shape.end(), last->begin(), last->end());
  return shape;
}

}  // namespace warpwright::app
