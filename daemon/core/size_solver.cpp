#include "core/size_solver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

namespace warpwright::core {
namespace {

constexpr int64_t kLargestOffset = 64, kLargestDivisor = 256, kLargestFactor = 64;
constexpr int64_t kLargestBorder = 4, kDegreesOfFreedom = 2;

bool AllEqual(const std::vector<int64_t>& values) {
  return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == values[0]; });
}

std::string Operand(const std::string& text) {
  const bool simple = text.find_first_of("+-*/% ") == std::string::npos;
  return simple ? text : "(" + text + ")";
}

std::string WithOffset(const std::string& text, int64_t offset) {
  if (offset == 0) return text;
  return fmt::format("{} {} {}", text, offset > 0 ? '+' : '-', std::llabs(offset));
}

std::optional<Size> Parsed(const std::string& text) {
  auto parsed = Size::Parse(text);
  if (!parsed) return std::nullopt;
  return std::move(*parsed);
}

// values = f(atom) + c for one c: c, if it is small.
template <typename F>
std::optional<int64_t> CommonOffset(const std::vector<int64_t>& values, const F& f) {
  std::optional<int64_t> offset;
  for (size_t j = 0; j < values.size(); ++j) {
    const std::optional<int64_t> base = f(j);
    if (!base) return std::nullopt;
    if (offset && *offset != values[j] - *base) return std::nullopt;
    offset = values[j] - *base;
  }
  if (offset && std::llabs(*offset) > kLargestOffset) return std::nullopt;
  return offset;
}

}  // namespace

SizeSolver::SizeSolver(std::vector<Sizes> shapes, const std::vector<Size>& hints) : shapes_(std::move(shapes)) {
  const auto add = [&](const Size& size, bool simple) {
    Atom atom{size, {}, simple};
    for (const Sizes& sizes : shapes_) {
      const auto value = size.Evaluate(sizes);
      if (!value) return;
      atom.values.push_back(*value);
    }
    if (AllEqual(atom.values)) return;
    for (const Atom& other : atoms_)
      if (other.values == atom.values) return;
    atoms_.push_back(std::move(atom));
  };
  if (shapes_.empty()) return;
  for (const auto& [name, value] : shapes_[0])
    if (auto size = Parsed(name)) add(*size, true);
  for (const Size& hint : hints) add(hint, false);
  // Exact quotients: channels of a group.
  const size_t plain = atoms_.size();
  for (size_t a = 0; a < plain; ++a) {
    for (size_t b = 0; b < plain; ++b) {
      bool exact = a != b;
      for (size_t j = 0; exact && j < shapes_.size(); ++j)
        exact = atoms_[b].values[j] > 1 && atoms_[a].values[j] % atoms_[b].values[j] == 0;
      if (!exact) continue;
      if (auto quotient = Parsed(Operand(atoms_[a].size.text()) + " / " + Operand(atoms_[b].size.text())))
        add(*quotient, false);
    }
  }
}

std::optional<Size> SizeSolver::Solve(const std::vector<int64_t>& values) const {
  if (auto found = SolveAsItIs(values)) return found;
  // Back by as much as something is long: half a row, from the second half to the first.
  std::vector<int64_t> opposite;
  for (const int64_t value : values) opposite.push_back(-value);
  if (std::any_of(values.begin(), values.end(), [](int64_t value) { return value >= 0; })) return std::nullopt;
  const auto found = SolveAsItIs(opposite);
  return found ? Parsed("0 - " + Operand(found->text())) : std::nullopt;
}

std::optional<Size> SizeSolver::SolveAsItIs(const std::vector<int64_t>& values) const {
  if (AllEqual(values)) return Size::Constant(values[0]);
  // By rising complexity; the first that holds.
  for (const Atom& a : atoms_)
    if (a.values == values) return a.size;
  // The padding that a window begins before its row, where it is also the stride less two.
  for (const Atom& a : atoms_)
    if (const auto c = CommonOffset(values, [&](size_t j) -> std::optional<int64_t> { return -a.values[j]; });
        c && *c == 0 && a.simple)
      return Parsed("0 - " + Operand(a.size.text()));
  for (const int64_t limit : {int64_t{2}, kLargestOffset})
    for (const Atom& a : atoms_)
      if (const auto c = CommonOffset(values, [&](size_t j) -> std::optional<int64_t> { return a.values[j]; });
          c && std::llabs(*c) <= limit)
        return Parsed(WithOffset(a.size.text(), *c));
  for (const Atom& a : atoms_) {
    for (const Atom& b : atoms_) {
      if (&b < &a) continue;
      if (const auto c =
              CommonOffset(values, [&](size_t j) -> std::optional<int64_t> { return a.values[j] * b.values[j]; });
          c && *c == 0)
        return Parsed(Operand(a.size.text()) + " * " + Operand(b.size.text()));
    }
  }
  for (const Atom& a : atoms_)
    if (const auto c = CommonOffset(values, [&](size_t j) -> std::optional<int64_t> { return -a.values[j]; }))
      return Parsed(WithOffset("0 - " + Operand(a.size.text()), *c));
  for (const Atom& a : atoms_) {
    for (int64_t k = 2; k <= kLargestFactor; ++k)
      for (const int64_t sign : {1, -1})
        if (const auto c =
                CommonOffset(values, [&](size_t j) -> std::optional<int64_t> { return sign * k * a.values[j]; }))
          return Parsed(WithOffset(fmt::format("{}{} * {}", sign < 0 ? "0 - " : "", k, Operand(a.size.text())), *c));
    // Without a rest at any shape: 2, 3, 4 of 32, 48, 64 are sixteenths, though also the whole thirteenths.
    if (const int64_t k = values[0] == 0 ? 0 : a.values[0] / values[0]; k >= 2 && k <= kLargestDivisor)
      if (const auto c = CommonOffset(a.values, [&](size_t j) -> std::optional<int64_t> { return values[j] * k; });
          c && *c == 0)
        return Parsed(fmt::format("{} / {}", Operand(a.size.text()), k));
    for (int64_t k = 2; k <= kLargestDivisor; ++k)
      if (const auto c = CommonOffset(values, [&](size_t j) -> std::optional<int64_t> { return a.values[j] / k; });
          c && (*c == 0 || *c == -1))
        return Parsed(WithOffset(fmt::format("{} / {}", Operand(a.size.text()), k), *c));
    // Where both fit, rounding up is what is meant more often than one more.
    for (int64_t k = 2; k <= kLargestDivisor; ++k)
      if (const auto c =
              CommonOffset(values, [&](size_t j) -> std::optional<int64_t> { return (a.values[j] + k - 1) / k; });
          c && std::llabs(*c) <= 1)
        return Parsed(WithOffset(fmt::format("ceil_div({}, {})", a.size.text(), k), *c));
    for (int64_t k = 2; k <= kLargestDivisor; ++k)
      if (const auto c = CommonOffset(values, [&](size_t j) -> std::optional<int64_t> { return a.values[j] / k; });
          c && *c == 1)
        return Parsed(fmt::format("{} / {} + 1", Operand(a.size.text()), k));
  }
  // Whole vectors, whole tiles.
  for (const Atom& a : atoms_)
    for (int64_t k = 2; k <= kLargestDivisor; ++k)
      for (const bool up : {false, true})
        if (const auto c = CommonOffset(
                values, [&](size_t j) -> std::optional<int64_t> { return (a.values[j] + (up ? k - 1 : 0)) / k * k; });
            c && *c == 0)
          return Parsed(up ? fmt::format("ceil_div({}, {}) * {}", a.size.text(), k, k)
                           : fmt::format("{} / {} * {}", Operand(a.size.text()), k, k));
  // Of a triangle in a rectangle.
  for (const Atom& a : atoms_) {
    for (const Atom& b : atoms_) {
      if (&b <= &a) continue;
      for (const bool least : {true, false})
        if (const auto c = CommonOffset(values,
                                        [&](size_t j) -> std::optional<int64_t> {
                                          return least ? std::min(a.values[j], b.values[j])
                                                       : std::max(a.values[j], b.values[j]);
                                        });
            c && std::llabs(*c) <= 2)
          return Parsed(WithOffset(fmt::format("{}({}, {})", least ? "min" : "max", a.size.text(), b.size.text()), *c));
    }
  }
  // The smallest offset first: with a large one, some pair fits a few shapes.
  for (const int64_t limit : {int64_t{0}, kDegreesOfFreedom, kLargestOffset}) {
    for (const Atom& a : atoms_) {
      for (const Atom& b : atoms_) {
        if (&a == &b) continue;
        if (const auto c =
                CommonOffset(values, [&](size_t j) -> std::optional<int64_t> { return a.values[j] - b.values[j]; });
            c && std::llabs(*c) <= limit)
          return Parsed(WithOffset(fmt::format("{} - {}", a.size.text(), Operand(b.size.text())), *c));
        if (const auto c =
                CommonOffset(values, [&](size_t j) -> std::optional<int64_t> { return a.values[j] + b.values[j]; });
            c && &a < &b && std::llabs(*c) <= limit)
          return Parsed(WithOffset(fmt::format("{} + {}", a.size.text(), b.size.text()), *c));
      }
    }
  }
  for (const Atom& a : atoms_) {
    for (const Atom& b : atoms_) {
      if (&a == &b) continue;
      const auto quotient = [&](size_t j) -> std::optional<int64_t> {
        return b.values[j] > 0 ? std::optional(a.values[j] / b.values[j]) : std::nullopt;
      };
      if (const auto c = CommonOffset(values, quotient); c && std::llabs(*c) <= 1)
        return Parsed(WithOffset(fmt::format("{} / {}", Operand(a.size.text()), Operand(b.size.text())), *c));
    }
  }
  for (const Atom& a : atoms_)
    for (const Atom& b : atoms_)
      for (int64_t k = 2; k <= kLargestFactor; ++k)
        if (const auto c = CommonOffset(values,
                                        [&](size_t j) {
                                          return a.values[j] % k == 0 ? std::optional(a.values[j] / k * b.values[j])
                                                                      : std::nullopt;
                                        });
            c && *c == 0)
          return Parsed(fmt::format("{} / {} * {}", Operand(a.size.text()), k, Operand(b.size.text())));
  for (const bool exactly : {true, false}) {
    for (const Atom& a : atoms_)
      for (const Atom& b : atoms_)
        for (const Atom& d : atoms_)
          if (&a <= &b && &b <= &d)
            if (const auto c = CommonOffset(
                    values,
                    [&](size_t j) -> std::optional<int64_t> { return a.values[j] * b.values[j] * d.values[j]; });
                c && std::llabs(*c) <= (exactly ? 0 : kDegreesOfFreedom))
              return Parsed(WithOffset(
                  fmt::format("{} * {} * {}", Operand(a.size.text()), Operand(b.size.text()), Operand(d.size.text())),
                  *c));
    if (const auto product = SolveProduct(values)) return product;
  }
  return std::nullopt;
}

// Numbers of elements but one (of an unbiased variance), and of the inner elements of a grid: (H - 2) * (W - 2).
std::optional<Size> SizeSolver::SolveProduct(const std::vector<int64_t>& values) const {
  for (const Atom& a : atoms_) {
    for (const Atom& b : atoms_) {
      if (&b < &a) continue;
      for (int64_t i = -kLargestBorder; i <= kLargestBorder; ++i) {
        for (int64_t k = -kLargestBorder; k <= kLargestBorder; ++k) {
          const auto c = CommonOffset(
              values, [&](size_t j) -> std::optional<int64_t> { return (a.values[j] + i) * (b.values[j] + k); });
          if (!c || std::llabs(*c) > (i == 0 && k == 0 ? kDegreesOfFreedom : 0)) continue;
          return Parsed(WithOffset(
              fmt::format("{} * {}", Operand(WithOffset(a.size.text(), i)), Operand(WithOffset(b.size.text(), k))),
              *c));
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace warpwright::core
