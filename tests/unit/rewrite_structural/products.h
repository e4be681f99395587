// Naive matrix products in the forms in which they are written; tile_matmul must rewrite each.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace warpwright::structural_test {

struct Product {
  std::string name;
  std::string arguments;  // of the entry, in the syntax of DescribeArguments
  std::string source;     // with a launcher named entry
  std::vector<std::string> kernels;
  std::vector<std::string> contains;
  std::vector<std::string> absent;
};
inline std::ostream& operator<<(std::ostream& out, const Product& product) { return out << product.name; }

const std::vector<Product>& Products();

}  // namespace warpwright::structural_test
