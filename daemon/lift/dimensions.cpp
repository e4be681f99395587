#include "lift/dimensions.h"

#include <algorithm>
#include <string>

namespace warpwright::lift {

std::vector<core::Expression> DimensionsOf(const core::BufferArgument& buffer, FactorOrder order) {
  if (buffer.shape.size() != 1) return buffer.shape;
  const std::string& text = buffer.shape[0].text();
  std::vector<std::string> factors(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth == 0 && (c == '+' || c == '-' || c == '/' || c == '%')) return buffer.shape;
    if (depth == 0 && c == '*') factors.emplace_back();
    else factors.back() += c;
  }
  if (factors.size() == 1) return buffer.shape;
  std::vector<core::Expression> dimensions;
  for (const std::string& factor : factors) {
    auto parsed = core::Expression::Parse(factor);
    if (!parsed) return buffer.shape;
    dimensions.push_back(std::move(*parsed));
  }
  if (order == FactorOrder::kNumbersLast)
    std::stable_partition(dimensions.begin(), dimensions.end(),
                          [](const core::Expression& factor) { return !factor.Variables().empty(); });
  return dimensions;
}

}  // namespace warpwright::lift
