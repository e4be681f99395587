#include "core/expression.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "core/expression_node.h"

namespace warpwright::core {

namespace {

using ExpressionNode = Expression::Node;
using Kind = ExpressionNode::Kind;
using NodePtr = std::shared_ptr<const ExpressionNode>;
constexpr size_t kMaxCharacters = 1000;
constexpr int kMaxDepth = 50;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<NodePtr> ParseAll() {
    WW_ASSIGN(NodePtr node, ParseSum(0));
    SkipSpace();
    if (position_ != text_.size()) return Unexpected("an operator or the end");
    return node;
  }

 private:
  tl::unexpected<Error> FailHere(std::string message) {
    Error error{
        .code = ErrorCode::kConfig,
        .message = std::move(message),
        .file = {},
        .column = static_cast<int>(position_) + 1,
        .remedy = "use integers, names of scalar arguments, + - * / %, ( ), ceil_div(a, b), min(a, b), max(a, b)"};
    return Fail(std::move(error));
  }
  tl::unexpected<Error> Unexpected(const std::string& wanted) {
    const std::string found = position_ < text_.size() ? "'" + std::string(1, text_[position_]) + "'" : "the end";
    return FailHere("expected " + wanted + " but found " + found + " in '" + std::string(text_) + "'");
  }
  void SkipSpace() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t')) ++position_;
  }
  bool Take(char c) {
    SkipSpace();
    if (position_ >= text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }
  static NodePtr Make(Kind kind, NodePtr left, NodePtr right) {
    return std::make_shared<const ExpressionNode>(
        ExpressionNode{.kind = kind, .left = std::move(left), .right = std::move(right)});
  }

  Result<NodePtr> ParseSum(int depth) {
    WW_ASSIGN(NodePtr left, ParseProduct(depth));
    for (;;) {
      const auto kind = Take('+') ? Kind::kAdd : Take('-') ? Kind::kSubtract : Kind::kLiteral;
      if (kind == Kind::kLiteral) return left;
      WW_ASSIGN(NodePtr right, ParseProduct(depth));
      left = Make(kind, left, right);
    }
  }
  Result<NodePtr> ParseProduct(int depth) {
    WW_ASSIGN(NodePtr left, ParseUnary(depth));
    for (;;) {
      const auto kind = Take('*')   ? Kind::kMultiply
                        : Take('/') ? Kind::kDivide
                        : Take('%') ? Kind::kModulo
                                    : Kind::kLiteral;
      if (kind == Kind::kLiteral) return left;
      WW_ASSIGN(NodePtr right, ParseUnary(depth));
      left = Make(kind, left, right);
    }
  }
  Result<NodePtr> ParseUnary(int depth) {
    if (depth > kMaxDepth) return FailHere("nested more than 50 levels deep");
    if (Take('-')) {
      WW_ASSIGN(NodePtr operand, ParseUnary(depth + 1));
      return Make(Kind::kNegate, operand, nullptr);
    }
    if (Take('(')) {
      WW_ASSIGN(NodePtr inner, ParseSum(depth + 1));
      if (!Take(')')) return Unexpected("')'");
      return inner;
    }
    SkipSpace();
    if (position_ >= text_.size()) return Unexpected("a value");
    const char c = text_[position_];
    if (c >= '0' && c <= '9') return ParseLiteral();
    if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_') return ParseName(depth);
    return Unexpected("a value");
  }
  Result<NodePtr> ParseLiteral() {
    int64_t value = 0;
    for (; position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9'; ++position_)
      if (__builtin_mul_overflow(value, int64_t{10}, &value) ||
          __builtin_add_overflow(value, int64_t{text_[position_] - '0'}, &value))
        return FailHere("a literal does not fit into 64 bits");
    return std::make_shared<const ExpressionNode>(ExpressionNode{.kind = Kind::kLiteral, .value = value});
  }
  Result<NodePtr> ParseName(int depth) {
    const size_t begin = position_;
    while (position_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[position_])) != 0 || text_[position_] == '_'))
      ++position_;
    const std::string name(text_.substr(begin, position_ - begin));
    if (!Take('(')) return std::make_shared<const ExpressionNode>(ExpressionNode{.kind = Kind::kName, .name = name});
    const auto kind = name == "ceil_div" ? Kind::kCeilDiv
                      : name == "min"    ? Kind::kMin
                      : name == "max"    ? Kind::kMax
                                         : Kind::kLiteral;
    if (kind == Kind::kLiteral) {
      position_ = begin;
      return FailHere("unknown function '" + name + "'");
    }
    WW_ASSIGN(NodePtr left, ParseSum(depth + 1));
    if (!Take(',')) return Unexpected("','");
    WW_ASSIGN(NodePtr right, ParseSum(depth + 1));
    if (!Take(')')) return Unexpected("')'");
    return Make(kind, left, right);
  }

  std::string_view text_;
  size_t position_ = 0;
};

Result<int64_t> EvaluateNode(const ExpressionNode& node, const std::map<std::string, int64_t>& variables,
                             const std::string& text) {
  const auto fail = [&](const std::string& why) { return Fail(ErrorCode::kConfig, why + " in '" + text + "'"); };
  if (node.kind == Kind::kLiteral) return node.value;
  if (node.kind == Kind::kName) {
    const auto found = variables.find(node.name);
    if (found == variables.end()) return fail("'" + node.name + "' is not an integer scalar argument");
    return found->second;
  }
  WW_ASSIGN(const int64_t left, EvaluateNode(*node.left, variables, text));
  int64_t right = 0;
  if (node.right) {
    WW_ASSIGN(right, EvaluateNode(*node.right, variables, text));
  }
  const bool divides = node.kind == Kind::kDivide || node.kind == Kind::kModulo || node.kind == Kind::kCeilDiv;
  if (divides && right == 0) return fail("division by zero");
  if (divides && right == -1 && left == std::numeric_limits<int64_t>::min()) return fail("overflow");
  int64_t value = 0;
  bool overflow = false;
  switch (node.kind) {
    case Kind::kAdd: overflow = __builtin_add_overflow(left, right, &value); break;
    case Kind::kSubtract: overflow = __builtin_sub_overflow(left, right, &value); break;
    case Kind::kMultiply: overflow = __builtin_mul_overflow(left, right, &value); break;
    case Kind::kNegate: overflow = __builtin_sub_overflow(int64_t{0}, left, &value); break;
    case Kind::kDivide: value = left / right; break;
    case Kind::kModulo: value = left % right; break;
    case Kind::kCeilDiv: value = left / right + (left % right != 0 && (left < 0) == (right < 0) ? 1 : 0); break;
    case Kind::kMin: value = std::min(left, right); break;
    case Kind::kMax: value = std::max(left, right); break;
    case Kind::kLiteral:
    case Kind::kName: break;
  }
  if (overflow) return fail("overflow");
  return value;
}

void CollectNames(const ExpressionNode& node, std::vector<std::string>& names) {
  if (node.kind == Kind::kName) names.push_back(node.name);
  if (node.left) CollectNames(*node.left, names);
  if (node.right) CollectNames(*node.right, names);
}

}  // namespace

Result<Expression> Expression::Parse(std::string_view text) {
  if (text.size() > kMaxCharacters) return Fail(ErrorCode::kConfig, "an expression has more than 1,000 characters");
  Expression expression;
  WW_ASSIGN(expression.root_, Parser(text).ParseAll());
  expression.text_ = std::string(text);
  return expression;
}

Expression Expression::Constant(int64_t value) {
  Expression expression;
  expression.root_ = std::make_shared<const ExpressionNode>(ExpressionNode{.kind = Kind::kLiteral, .value = value});
  expression.text_ = std::to_string(value);
  return expression;
}

Result<int64_t> Expression::Evaluate(const std::map<std::string, int64_t>& variables) const {
  if (!root_) return int64_t{0};
  return EvaluateNode(*root_, variables, text_);
}

std::vector<std::string> Expression::Variables() const {
  std::vector<std::string> names;
  if (root_) CollectNames(*root_, names);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace warpwright::core
