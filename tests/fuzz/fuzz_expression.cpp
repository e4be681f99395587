// Expressions of the manifest: what parses evaluates to a number or an Error for any values, and parses again from its
// own text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "core/expression.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using warpwright::core::Expression;
  const auto expression = Expression::Parse({reinterpret_cast<const char*>(data), size});
  if (!expression) return 0;
  const int64_t values[] = {std::numeric_limits<int64_t>::min(), -1, 0, 1, 1000, std::numeric_limits<int64_t>::max()};
  for (const int64_t value : values) {
    std::map<std::string, int64_t> variables;
    for (const auto& name : expression->Variables()) variables[name] = value;
    const auto first = expression->Evaluate(variables);
    const auto again = Expression::Parse(expression->text());
    if (!again) std::abort();
    const auto second = again->Evaluate(variables);
    if (first.has_value() != second.has_value() || (first && *first != *second)) std::abort();
  }
  return 0;
}
