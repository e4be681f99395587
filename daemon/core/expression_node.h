// The tree of an Expression, for those who transform expressions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/expression.h"

namespace warpwright::core {

struct Expression::Node {
  enum class Kind { kLiteral, kName, kAdd, kSubtract, kMultiply, kDivide, kModulo, kNegate, kCeilDiv, kMin, kMax };
  Kind kind = Kind::kLiteral;
  int64_t value = 0;
  std::string name;
  std::shared_ptr<const Node> left, right;
};

}  // namespace warpwright::core
