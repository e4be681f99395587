// Integer polynomials over named symbols: the form in which index expressions are compared, and from which strides are
// read. "row * C + c" is {row C: 1, c: 1}; its coefficient of c is 1, that of row is C.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright::source {

class Polynomial {
 public:
  Polynomial() = default;  // zero
  static Polynomial Constant(int64_t value);
  static Polynomial Symbol(std::string symbol);

  Polynomial operator+(const Polynomial& other) const;
  Polynomial operator-(const Polynomial& other) const;
  Polynomial operator*(const Polynomial& other) const;
  bool operator==(const Polynomial& other) const = default;

  std::optional<int64_t> constant() const;  // its value, if no symbol occurs
  bool Mentions(std::string_view symbol) const;
  std::vector<std::string> Symbols() const;  // sorted, each once
  // The factor of `symbol` if it occurs at most linearly; nothing if it occurs in a higher power.
  std::optional<Polynomial> Coefficient(std::string_view symbol) const;
  Polynomial Without(std::string_view symbol) const;  // the terms in which it does not occur
  Polynomial Substitute(std::string_view symbol, const Polynomial& value) const;
  std::string ToString() const;  // "C*row + c"; the part of a symbol after '@' is not shown

 private:
  using Monomial = std::vector<std::string>;  // sorted; a square is listed twice
  void Add(const Monomial& monomial, int64_t coefficient);
  std::map<Monomial, int64_t> terms_;  // no zero coefficients
};

}  // namespace warpwright::source
