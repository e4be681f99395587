// Integer polynomials over the names of an Expression: its normal form, and arithmetic on sizes. What is no sum or
// product (a division with remainder, min, max) is an atom with normalised arguments.
//
// An overflow of 64 bits, or more than 64 terms, makes a polynomial invalid, and so all that is computed from it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/expression.h"

namespace warpwright::core {

class Polynomial {
 public:
  using Monomial = std::vector<std::string>;  // atoms, sorted, repeated for powers; empty: 1
  using Rename = std::function<std::string(const std::string&)>;

  Polynomial() = default;  // 0
  explicit Polynomial(int64_t constant);
  static Polynomial Of(const Expression& expression, const Rename& rename = nullptr);

  bool valid() const { return valid_; }
  std::optional<int64_t> constant() const;  // none: it has names, or is invalid
  const std::map<Monomial, int64_t>& terms() const { return terms_; }
  // "2*N*C+N-1"; equal for equal polynomials. "invalid".
  std::string text() const;
  // The texts of its terms as text() has them, and whether each is subtracted.
  std::vector<std::pair<std::string, bool>> SignedTerms() const;
  // None: invalid, or too long for an Expression.
  std::optional<Expression> ToExpression() const;
  // The quotient if it has no remainder, whatever the names stand for.
  std::optional<Polynomial> DividedBy(const Polynomial& divisor) const;
  // The greatest common divisor of all coefficients, at least 0.
  int64_t Content() const;

  friend Polynomial operator+(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator-(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator*(const Polynomial& a, const Polynomial& b);
  bool operator==(const Polynomial&) const = default;
  bool operator<(const Polynomial& other) const { return terms_ < other.terms_; }

 private:
  static Polynomial Atom(std::string name);
  static Polynomial Invalid();
  void Add(const Monomial& monomial, int64_t coefficient);
  static Polynomial OfNode(const Expression::Node& node, const Rename& rename);
  static Polynomial OfDivision(const Expression::Node& node, const Polynomial& left, const Polynomial& right);

  std::map<Monomial, int64_t> terms_;  // no zeros
  bool valid_ = true;
};

}  // namespace warpwright::core
