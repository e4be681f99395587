// Integer expressions of the manifest: names of scalar arguments, decimal literals, + - * / %, parentheses, ceil_div(a,
// b), min(a, b), max(a, b). Division truncates toward zero as in C. Not muparser, which computes in floating point;
// here an overflow must be an error.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace warpwright::core {

class Expression {
 public:
  // Errors contain the column within `text`. At most 1,000 characters and 50 levels.
  static Result<Expression> Parse(std::string_view text);
  Expression() = default;  // the constant 0
  static Expression Constant(int64_t value);

  // Overflow of 64 bits, division by zero and unknown names are errors.
  Result<int64_t> Evaluate(const std::map<std::string, int64_t>& variables) const;
  std::vector<std::string> Variables() const;  // sorted, unique
  const std::string& text() const { return text_; }
  bool operator==(const Expression& other) const { return text_ == other.text_; }

  struct Node;                                      // expression_node.h
  const Node* root() const { return root_.get(); }  // none: the default 0

 private:
  std::shared_ptr<const Node> root_;  // immutable, so sharing is safe
  std::string text_ = "0";
};

}  // namespace warpwright::core
