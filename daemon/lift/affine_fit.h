// Exact affine functions through integer points: indices from where loads hit. Elimination over rationals on a sample
// of the points; what comes out is checked on all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warpwright::lift {

// One value for each row; the rows are the points.
using Column = std::vector<int64_t>;
using Columns = std::vector<const Column*>;
Columns Pointers(const std::vector<Column>& columns);

// (sum of coefficients[k] * x[k] + sum over digits of quotient * floor(x[column] / modulus) + remainder * (x[column]
// mod modulus) + constant) / divisor.
struct AffineFit {
  std::vector<int64_t> coefficients;
  int64_t constant = 0, divisor = 1;
  struct Digit {
    size_t column = 0;  // whose values are not negative
    int64_t modulus = 0, quotient = 0, remainder = 0;
    bool operator==(const Digit&) const = default;
  };
  std::vector<Digit> digits;  // by ascending column, at most one of each

  template <typename At>  // At(k): the k-th coordinate
  int64_t Numerator(const At& x) const {
    int64_t sum = constant;
    for (size_t k = 0; k < coefficients.size(); ++k)
      if (coefficients[k] != 0) sum += coefficients[k] * x(k);
    for (const Digit& digit : digits) {
      const int64_t v = x(digit.column);
      sum += digit.quotient * (v / digit.modulus) + digit.remainder * (v % digit.modulus);
    }
    return sum;
  }
  bool IsConstant() const;
  bool VariesFrom(size_t column) const;  // with that one or a later one
  bool operator==(const AffineFit&) const = default;
};

// nullopt: the values are no such function of the columns. No rows: 0.
std::optional<AffineFit> FitAffine(const Columns& x, const Column& values);
// FitAffine, or else with digits of columns whose values are not negative.
std::optional<AffineFit> FitAffineOrDigit(const Columns& x, const Column& values);

// Whether some digit does not take two values to their end: of so few points, some fit by chance.
bool IsDoubtful(const AffineFit& fit, const Columns& x);

// floor((factor * x[column] + offset) / divisor): the nearest neighbour of a position on another grid.
struct GridFit {
  size_t column = 0;
  int64_t factor = 0, offset = 0, divisor = 1;
};
// `extent`: of the grid that the values are positions on. By the usual ways to lay one grid over another, of columns
// whose values are not negative.
std::optional<GridFit> FitGrid(const Columns& x, const Column& values, int64_t extent);

// A real-valued affine function, as exact as literals of seven digits are.
struct Line {
  std::vector<double> slopes;
  double constant = 0;
};
std::optional<Line> FitLine(const Columns& x, const std::vector<double>& values);

// An affine function and products of two different columns, as exact: the angle of a Fourier transform. Through
// clearly more points than it has coefficients.
struct Bilinear {
  struct Term {
    size_t first = 0, second = 0;  // columns
    double coefficient = 0;
  };
  Line line;
  std::vector<Term> terms;
};
std::optional<Bilinear> FitBilinear(const Columns& x, const std::vector<double>& values);

// The row space of integer vectors, grown one by one.
class RowSpace {
 public:
  explicit RowSpace(size_t width) : width_(width) {}
  // True if it was not in the space.
  bool Add(std::span<const int64_t> row);
  size_t rank() const { return rows_.size(); }
  // A basis of the vectors whose product with every row is zero, as integers without common divisor whose first nonzero
  // element is positive; those with fewer nonzero elements first.
  std::vector<std::vector<int64_t>> NullSpace() const;

 private:
  size_t width_;
  std::vector<std::vector<int64_t>> rows_;                       // as added
  std::vector<std::pair<size_t, std::vector<double>>> reduced_;  // pivot, row with 1 there
};

}  // namespace warpwright::lift
