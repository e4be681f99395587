#include "core/polynomial.h"

#include <algorithm>
#include <numeric>

#include "core/expression_node.h"

namespace warpwright::core {
namespace {

constexpr size_t kMaxMonomials = 64;
constexpr size_t kMaxDegree = 16;
constexpr size_t kMaxAtomText = 500;

std::string MonomialText(const Polynomial::Monomial& monomial) {
  std::string text;
  for (const auto& atom : monomial) text += (text.empty() ? "" : "*") + atom;
  return text;
}

// `whole` without `part`, if it contains it.
std::optional<Polynomial::Monomial> Without(const Polynomial::Monomial& whole, const Polynomial::Monomial& part) {
  if (!std::includes(whole.begin(), whole.end(), part.begin(), part.end())) return std::nullopt;
  Polynomial::Monomial rest;
  std::set_difference(whole.begin(), whole.end(), part.begin(), part.end(), std::back_inserter(rest));
  return rest;
}

}  // namespace

Polynomial::Polynomial(int64_t constant) { Add({}, constant); }

Polynomial Polynomial::Atom(std::string name) {
  if (name.size() > kMaxAtomText) return Invalid();
  Polynomial atom;
  atom.Add({std::move(name)}, 1);
  return atom;
}
Polynomial Polynomial::Invalid() {
  Polynomial invalid;
  invalid.valid_ = false;
  return invalid;
}

void Polynomial::Add(const Monomial& monomial, int64_t coefficient) {
  if (!valid_ || coefficient == 0) return;
  int64_t& sum = terms_[monomial];
  if (__builtin_add_overflow(sum, coefficient, &sum) || terms_.size() > kMaxMonomials || monomial.size() > kMaxDegree) {
    *this = Invalid();
    return;
  }
  if (sum == 0) terms_.erase(monomial);
}

Polynomial operator+(const Polynomial& a, const Polynomial& b) {
  if (!a.valid_ || !b.valid_) return Polynomial::Invalid();
  Polynomial sum = a;
  for (const auto& [monomial, coefficient] : b.terms_) sum.Add(monomial, coefficient);
  return sum;
}
Polynomial operator*(const Polynomial& a, const Polynomial& b) {
  if (!a.valid_ || !b.valid_) return Polynomial::Invalid();
  Polynomial product;
  for (const auto& [left, x] : a.terms_) {
    for (const auto& [right, y] : b.terms_) {
      int64_t coefficient = 0;
      if (__builtin_mul_overflow(x, y, &coefficient)) return Polynomial::Invalid();
      Polynomial::Monomial both;
      std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(both));
      product.Add(both, coefficient);
    }
  }
  return product;
}
Polynomial operator-(const Polynomial& a, const Polynomial& b) { return a + b * Polynomial(-1); }

std::optional<int64_t> Polynomial::constant() const {
  if (!valid_) return std::nullopt;
  if (terms_.empty()) return 0;
  if (terms_.size() > 1 || !terms_.begin()->first.empty()) return std::nullopt;
  return terms_.begin()->second;
}

int64_t Polynomial::Content() const {
  uint64_t content = 0;
  for (const auto& [monomial, coefficient] : terms_) {
    const uint64_t magnitude =
        coefficient < 0 ? ~static_cast<uint64_t>(coefficient) + 1 : static_cast<uint64_t>(coefficient);
    content = std::gcd(content, magnitude);
  }
  return content > static_cast<uint64_t>(INT64_MAX) ? 1 : static_cast<int64_t>(content);
}

std::optional<Polynomial> Polynomial::DividedBy(const Polynomial& divisor) const {
  if (!valid_ || !divisor.valid_ || divisor.terms_.empty()) return std::nullopt;
  if (*this == divisor) return Polynomial(1);
  if (divisor.terms_.size() != 1) return std::nullopt;
  const auto& [by, factor] = *divisor.terms_.begin();
  Polynomial quotient;
  for (const auto& [monomial, coefficient] : terms_) {
    const auto rest = Without(monomial, by);
    if (!rest || (factor == -1 && coefficient == INT64_MIN) || coefficient % factor != 0) return std::nullopt;
    quotient.Add(*rest, coefficient / factor);
  }
  return quotient;
}

std::vector<std::pair<std::string, bool>> Polynomial::SignedTerms() const {
  std::vector<std::pair<const Monomial*, int64_t>> ordered;
  for (const auto& [monomial, coefficient] : terms_) ordered.emplace_back(&monomial, coefficient);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.first->size() > b.first->size(); });
  std::vector<std::pair<std::string, bool>> terms;
  for (const auto& [monomial, coefficient] : ordered) {
    std::string number = std::to_string(coefficient);
    const bool negative = coefficient < 0;
    if (negative) number.erase(0, 1);
    const std::string names = MonomialText(*monomial);
    if (names.empty()) terms.emplace_back(number, negative);
    else terms.emplace_back(number == "1" ? names : number + "*" + names, negative);
  }
  return terms;
}

std::string Polynomial::text() const {
  if (!valid_) return "invalid";
  if (terms_.empty()) return "0";
  std::string text;
  for (const auto& [term, negative] : SignedTerms()) text += (negative ? "-" : text.empty() ? "" : "+") + term;
  return text;
}

std::optional<Expression> Polynomial::ToExpression() const {
  if (!valid_) return std::nullopt;
  auto parsed = Expression::Parse(text());
  if (!parsed) return std::nullopt;
  return std::move(*parsed);
}

// Division truncates toward zero, so that only what divides without remainder can be divided term by term.
Polynomial Polynomial::OfDivision(const Expression::Node& node, const Polynomial& left, const Polynomial& right) {
  using Kind = Expression::Node::Kind;
  const auto a = left.constant(), b = right.constant();
  if (a && b && *b != 0 && !(*b == -1 && *a == INT64_MIN)) {
    const bool up = node.kind == Kind::kCeilDiv && *a % *b != 0 && (*a < 0) == (*b < 0);
    return Polynomial(node.kind == Kind::kModulo ? *a % *b : *a / *b + (up ? 1 : 0));
  }
  if (const auto exact = left.DividedBy(right)) return node.kind == Kind::kModulo ? Polynomial() : *exact;
  if (node.kind == Kind::kCeilDiv) return Atom("ceil_div(" + left.text() + "," + right.text() + ")");
  return Atom("((" + left.text() + (node.kind == Kind::kDivide ? ")/(" : ")%(") + right.text() + "))");
}

Polynomial Polynomial::OfNode(const Expression::Node& node, const Rename& rename) {
  using Kind = Expression::Node::Kind;
  if (node.kind == Kind::kLiteral) return Polynomial(node.value);
  if (node.kind == Kind::kName) return Atom(rename ? rename(node.name) : node.name);
  const Polynomial left = OfNode(*node.left, rename);
  const Polynomial right = node.right ? OfNode(*node.right, rename) : Polynomial();
  if (!left.valid() || !right.valid()) return Invalid();
  switch (node.kind) {
    case Kind::kAdd: return left + right;
    case Kind::kSubtract: return left - right;
    case Kind::kMultiply: return left * right;
    case Kind::kNegate: return Polynomial() - left;
    case Kind::kDivide:
    case Kind::kModulo:
    case Kind::kCeilDiv: return OfDivision(node, left, right);
    case Kind::kMin:
    case Kind::kMax: break;
    case Kind::kLiteral:
    case Kind::kName: break;
  }
  const bool is_min = node.kind == Kind::kMin;
  if (const auto difference = (left - right).constant()) return (*difference < 0) == is_min ? left : right;
  const auto [low, high] = std::minmax({left.text(), right.text()});
  return Atom((is_min ? "min(" : "max(") + low + "," + high + ")");
}

Polynomial Polynomial::Of(const Expression& expression, const Rename& rename) {
  return expression.root() == nullptr ? Polynomial() : OfNode(*expression.root(), rename);
}

}  // namespace warpwright::core
