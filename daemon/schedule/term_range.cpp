#include "schedule/term_range.h"

#include <fmt/format.h>

#include <optional>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "core/polynomial.h"
#include "schedule/expression_code.h"

namespace warpwright::schedule {
namespace {

// A guard's value as term + sign * side + constant.
struct Slope {
  const TileSide* side = nullptr;
  bool falls = false;  // the sign is minus: bounds move with the side
};

std::optional<Slope> SlopeOf(const core::Affine& value, core::VariableId term, const TileSide& rows,
                             const TileSide& columns) {
  if (value.terms.size() != 2 || !core::IsNumber(value.divisor, 1)) return std::nullopt;
  std::optional<Slope> slope;
  bool of_term = false;
  for (const core::Affine::Term& part : value.terms) {
    if (part.part != core::Affine::Part::kWhole) return std::nullopt;
    if (part.variable == term) of_term = core::IsNumber(part.coefficient, 1);
    for (const TileSide* side : {&rows, &columns}) {
      if (!side->axis.single() || side->axis.axes()[0].variable != part.variable) continue;
      if (core::IsNumber(part.coefficient, 1)) slope = Slope{side, false};
      if (core::IsNumber(part.coefficient, -1)) slope = Slope{side, true};
    }
  }
  return of_term ? slope : std::nullopt;
}

// The bound less the constant, moved by the tile's first index, or (`last`) by its last one.
std::optional<std::string> Moved(const core::Size& bound, const core::Size& constant, const Slope& slope, bool last) {
  const auto rest = (core::Polynomial::Of(bound) - core::Polynomial::Of(constant)).ToExpression();
  if (!rest) return std::nullopt;
  const TileSide& side = *slope.side;
  const std::string index = last ? fmt::format("{} + {} - 1", side.first, side.count) : side.first;
  if (!slope.falls) return fmt::format("{} - {}", Parenthesized(SizeText(*rest)), last ? Parenthesized(index) : index);
  if (core::IsNumber(*rest, 0)) return index;
  if (last && core::IsNumber(*rest, 1)) return fmt::format("{} + {}", side.first, side.count);
  return fmt::format("{} + {}", index, Parenthesized(SizeText(*rest)));
}

}  // namespace

TermRange TermRangeOf(const Problem& problem, const Contraction& contraction, const FlatAxis& terms,
                      const TileSide& rows, const TileSide& columns) {
  TermRange range;
  if (!terms.single()) return range;
  for (const Factor* factor : {&contraction.left, &contraction.right}) {
    for (const core::Guard& guard : factor->guards) {
      const auto slope = SlopeOf(guard.value, terms.axes()[0].variable, rows, columns);
      if (!slope || IsZeroOutside(problem, guard)) continue;
      const core::Size& constant = guard.value.constant;
      const auto begin = guard.low ? Moved(*guard.low, constant, *slope, !slope->falls) : std::nullopt;
      const auto end = guard.high ? Moved(*guard.high, constant, *slope, slope->falls) : std::nullopt;
      if (begin) range.begins.push_back(*begin);
      if (end) range.ends.push_back(*end);
    }
  }
  return range;
}

}  // namespace warpwright::schedule
