// Which elements of an output are wrong, in words: from a tail, a row or every 32nd element whoever wrote the kernel
// sees what went wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace warpwright::judge {

class MismatchPattern {
 public:
  explicit MismatchPattern(std::vector<int64_t> shape);

  // In ascending order of the index.
  void Add(size_t index, double actual, double expected);
  void AddPlace(size_t index);  // whatever is there
  // "the last 31 of them", "every 32nd from 5 on, each 2 times what is expected"; empty: there is none. `count`: of all
  // elements.
  std::string Describe(size_t count) const;

 private:
  struct Range {
    size_t low = SIZE_MAX, high = 0;
    void Add(size_t value);
    bool one() const { return low == high; }
  };
  std::string Location(size_t count) const;
  std::string Scale() const;

  size_t columns_ = 1;  // the last dimension
  size_t rows_seen_ = 0;
  Range indices_, rows_, columns_seen_;
  size_t wrong_ = 0, stride_ = 0;  // the greatest common divisor of the distances
  size_t zeros_ = 0, not_finite_ = 0, scaled_ = 0;
  double ratio_ = 0;  // of the first one
};

}  // namespace warpwright::judge
