#include "core/affine.h"

#include <numeric>
#include <tuple>

#include "core/polynomial.h"

namespace warpwright::core {
namespace {

// What a term multiplies; modulus as normalised text, empty for kWhole.
using TermKey = std::tuple<VariableId, Affine::Part, std::string>;

// Numerator and divisor with polynomials as coefficients.
struct Fraction {
  std::map<TermKey, Polynomial> terms;
  Polynomial constant;
  Polynomial divisor = Polynomial(1);
};

bool IsZero(const Polynomial& p) { return p.valid() && p.terms().empty(); }

Fraction ToFraction(const Affine& position) {
  Fraction fraction{{}, Polynomial::Of(position.constant), Polynomial::Of(position.divisor)};
  for (const auto& term : position.terms) {
    const std::string modulus = term.modulus ? Polynomial::Of(*term.modulus).text() : "";
    Polynomial& sum = fraction.terms[{term.variable, term.part, modulus}];
    sum = sum + Polynomial::Of(term.coefficient);
  }
  return fraction;
}

// Divides numerator and divisor by `by`, if all of it divides.
bool DivideOut(Fraction& fraction, const Polynomial& by) {
  Fraction divided;
  const auto constant = fraction.constant.DividedBy(by);
  const auto divisor = fraction.divisor.DividedBy(by);
  if (!constant || !divisor) return false;
  divided.constant = *constant;
  divided.divisor = *divisor;
  for (const auto& [key, coefficient] : fraction.terms) {
    const auto quotient = coefficient.DividedBy(by);
    if (!quotient) return false;
    divided.terms[key] = *quotient;
  }
  fraction = std::move(divided);
  return true;
}

void Cancel(Fraction& fraction) {
  std::erase_if(fraction.terms, [](const auto& entry) { return IsZero(entry.second); });
  if (fraction.divisor == Polynomial(1) || DivideOut(fraction, fraction.divisor)) return;
  int64_t common = std::gcd(fraction.divisor.Content(), fraction.constant.Content());
  for (const auto& [key, coefficient] : fraction.terms) common = std::gcd(common, coefficient.Content());
  if (common > 1) DivideOut(fraction, Polynomial(common));
}

std::optional<Affine> FromFraction(Fraction fraction) {
  Cancel(fraction);
  Affine position;
  const auto constant = fraction.constant.ToExpression(), divisor = fraction.divisor.ToExpression();
  if (!constant || !divisor) return std::nullopt;
  position.constant = *constant;
  position.divisor = *divisor;
  for (const auto& [key, polynomial] : fraction.terms) {
    const auto& [variable, part, modulus] = key;
    const auto coefficient = polynomial.ToExpression();
    if (!coefficient) return std::nullopt;
    Affine::Term term{.variable = variable, .coefficient = *coefficient, .part = part, .modulus = {}};
    if (part != Affine::Part::kWhole) {
      auto parsed = Expression::Parse(modulus);
      if (!parsed) return std::nullopt;
      term.modulus = std::move(*parsed);
    }
    position.terms.push_back(std::move(term));
  }
  return position;
}

int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

// A quotient or remainder of what replaces its variable.
std::optional<Affine> PartOf(const Affine& whole, Affine::Part part, const Size& modulus) {
  const auto number = AsNumber(whole);
  const auto by = Polynomial::Of(modulus).constant();
  const bool quotient = part == Affine::Part::kQuotient;
  if (number && by && *by > 0) {
    const int64_t floor = FloorDivide(*number, *by);
    return AffineOf(Size::Constant(quotient ? floor : *number - floor * *by));
  }
  const bool single = whole.terms.size() == 1 && Polynomial::Of(whole.terms[0].coefficient) == Polynomial(1) &&
                      IsZero(Polynomial::Of(whole.constant)) && Polynomial::Of(whole.divisor) == Polynomial(1);
  if (!single) return std::nullopt;
  Affine result = whole;
  Affine::Term& term = result.terms[0];
  if (term.part == Affine::Part::kWhole) {
    term.part = part;
    term.modulus = modulus;
    return result;
  }
  const Polynomial before = Polynomial::Of(*term.modulus);
  if (term.part == Affine::Part::kQuotient && quotient) {
    const auto product = (before * Polynomial::Of(modulus)).ToExpression();
    if (!product) return std::nullopt;
    term.modulus = *product;
    return result;
  }
  if (term.part == Affine::Part::kRemainder && !quotient && before.DividedBy(Polynomial::Of(modulus))) {
    term.modulus = modulus;
    return result;
  }
  return std::nullopt;
}

// sum += coefficient * position
void Accumulate(Fraction& sum, const Polynomial& coefficient, const Affine& position) {
  const Fraction added = ToFraction(position);
  if (added.divisor != sum.divisor) {
    for (auto& [key, value] : sum.terms) value = value * added.divisor;
    sum.constant = sum.constant * added.divisor;
  }
  const Polynomial factor = added.divisor != sum.divisor ? coefficient * sum.divisor : coefficient;
  if (added.divisor != sum.divisor) sum.divisor = sum.divisor * added.divisor;
  for (const auto& [key, value] : added.terms) {
    Polynomial& total = sum.terms[key];
    total = total + value * factor;
  }
  sum.constant = sum.constant + added.constant * factor;
}

}  // namespace

Affine AffineOf(VariableId variable) {
  Affine position;
  position.terms.push_back({.variable = variable, .coefficient = Size::Constant(1), .modulus = {}});
  return position;
}
Affine AffineOf(Size constant) {
  Affine position;
  position.constant = std::move(constant);
  return position;
}

std::optional<VariableId> AsVariable(const Affine& position) {
  if (position.terms.size() != 1 || position.terms[0].part != Affine::Part::kWhole) return std::nullopt;
  if (!IsZero(Polynomial::Of(position.constant)) ||
      Polynomial::Of(position.terms[0].coefficient) != Polynomial::Of(position.divisor))
    return std::nullopt;
  return position.terms[0].variable;
}
std::optional<int64_t> AsNumber(const Affine& position) {
  if (!position.terms.empty()) return std::nullopt;
  const auto quotient = Polynomial::Of(position.constant).DividedBy(Polynomial::Of(position.divisor));
  return quotient ? quotient->constant() : std::nullopt;
}

std::optional<Affine> Simplified(const Affine& position) { return FromFraction(ToFraction(position)); }

std::optional<Affine> Substituted(const Affine& position, const std::map<VariableId, Affine>& replacements) {
  Fraction sum{{}, Polynomial::Of(position.constant), Polynomial(1)};
  for (const auto& term : position.terms) {
    const auto found = replacements.find(term.variable);
    Affine part;
    if (found == replacements.end()) {
      part.terms.push_back(term);
      part.terms[0].coefficient = Size::Constant(1);
    } else if (term.part == Affine::Part::kWhole) {
      part = found->second;
    } else {
      auto composed = PartOf(found->second, term.part, *term.modulus);
      if (!composed) return std::nullopt;
      part = std::move(*composed);
    }
    Accumulate(sum, Polynomial::Of(term.coefficient), part);
  }
  sum.divisor = sum.divisor * Polynomial::Of(position.divisor);
  return FromFraction(std::move(sum));
}

std::optional<Guard> Substituted(const Guard& guard, const std::map<VariableId, Affine>& replacements) {
  auto value = Substituted(guard.value, replacements);
  if (!value) return std::nullopt;
  return Guard{std::move(*value), guard.low, guard.high, guard.outside};
}

}  // namespace warpwright::core
