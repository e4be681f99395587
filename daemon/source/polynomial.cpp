#include "source/polynomial.h"

#include <algorithm>
#include <set>

namespace warpwright::source {

Polynomial Polynomial::Constant(int64_t value) {
  Polynomial result;
  result.Add({}, value);
  return result;
}

Polynomial Polynomial::Symbol(std::string symbol) {
  Polynomial result;
  result.Add({std::move(symbol)}, 1);
  return result;
}

// Computed in unsigned arithmetic, which wraps around: overflow must not be undefined behaviour on untrusted constants.
void Polynomial::Add(const Monomial& monomial, int64_t coefficient) {
  int64_t& value = terms_[monomial];
  value = static_cast<int64_t>(static_cast<uint64_t>(value) + static_cast<uint64_t>(coefficient));
  if (value == 0) terms_.erase(monomial);
}

Polynomial Polynomial::operator+(const Polynomial& other) const {
  Polynomial result = *this;
  for (const auto& [monomial, coefficient] : other.terms_) result.Add(monomial, coefficient);
  return result;
}

Polynomial Polynomial::operator-(const Polynomial& other) const { return *this + Constant(-1) * other; }

Polynomial Polynomial::operator*(const Polynomial& other) const {
  Polynomial result;
  for (const auto& [left, a] : terms_) {
    for (const auto& [right, b] : other.terms_) {
      Monomial product;
      std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(product));
      result.Add(product, static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)));
    }
  }
  return result;
}

std::optional<int64_t> Polynomial::constant() const {
  if (terms_.empty()) return 0;
  if (terms_.size() == 1 && terms_.begin()->first.empty()) return terms_.begin()->second;
  return std::nullopt;
}

bool Polynomial::Mentions(std::string_view symbol) const {
  return std::any_of(terms_.begin(), terms_.end(), [&](const auto& term) {
    return std::find(term.first.begin(), term.first.end(), symbol) != term.first.end();
  });
}

std::vector<std::string> Polynomial::Symbols() const {
  std::set<std::string> symbols;
  for (const auto& [monomial, coefficient] : terms_) symbols.insert(monomial.begin(), monomial.end());
  return {symbols.begin(), symbols.end()};
}

std::optional<Polynomial> Polynomial::Coefficient(std::string_view symbol) const {
  Polynomial result;
  for (const auto& [monomial, coefficient] : terms_) {
    const auto count = std::count(monomial.begin(), monomial.end(), symbol);
    if (count > 1) return std::nullopt;
    if (count == 0) continue;
    Monomial rest = monomial;
    rest.erase(std::find(rest.begin(), rest.end(), symbol));
    result.Add(rest, coefficient);
  }
  return result;
}

Polynomial Polynomial::Without(std::string_view symbol) const {
  Polynomial result;
  for (const auto& [monomial, coefficient] : terms_)
    if (std::find(monomial.begin(), monomial.end(), symbol) == monomial.end()) result.Add(monomial, coefficient);
  return result;
}

Polynomial Polynomial::Substitute(std::string_view symbol, const Polynomial& value) const {
  Polynomial result;
  for (const auto& [monomial, coefficient] : terms_) {
    Polynomial product = Constant(coefficient);
    for (const std::string& factor : monomial) product = product * (factor == symbol ? value : Symbol(factor));
    result = result + product;
  }
  return result;
}

std::string Polynomial::ToString() const {
  if (terms_.empty()) return "0";
  std::string text;
  const auto append = [&](const Monomial& monomial, int64_t coefficient) {
    const bool negative = coefficient < 0;
    text += text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
    const uint64_t size = negative ? 0 - static_cast<uint64_t>(coefficient) : static_cast<uint64_t>(coefficient);
    std::string product = monomial.empty() || size != 1 ? std::to_string(size) : "";
    for (const std::string& symbol : monomial) {
      if (!product.empty()) product += "*";
      product += symbol.substr(0, symbol.find('@'));
    }
    text += product;
  };
  for (const auto& [monomial, coefficient] : terms_)
    if (!monomial.empty()) append(monomial, coefficient);
  const auto constant_term = terms_.find({});
  if (constant_term != terms_.end()) append({}, constant_term->second);
  return text;
}

}  // namespace warpwright::source
