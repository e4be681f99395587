// Copies of a factor's octets by a pointer that walks along the terms: everything but constants is computed before the
// loop over the steps.
#include <fmt/format.h>

#include "schedule/contraction_loads.h"

namespace warpwright::schedule {

bool FactorLoads::Walks() const {
  const int apart = format_.threads / fast();  // rows of the tile, of which the eighth has the same swizzle
  return copies() && factor_.guards.empty() && factor_.conditions.empty() && flat_rows_ && flat_terms_ &&
         (passes() == 1 || apart % 8 == 0);
}

std::string FactorLoads::BytesTo(const std::string& stage, const std::string& row, const std::string& term) const {
  const bool along = TermsAreNeighbours();
  const std::string place = along ? row : term;
  const std::string rows = fmt::format("{} * {}", stage, along ? format_.rows_name : "kTileK");
  return fmt::format("{} * {} * 2", place.empty() ? rows : fmt::format("({} + {})", rows, place),
                     along ? "kTileK" : format_.rows_name);
}

void FactorLoads::DeclareWalk(Lines& lines) const {
  VariableTexts variables = scope_.uniform;
  for (const Axis& axis : rows_.axes()) variables[axis.variable] = fmt::format("{} + {}", first_row_, row_);
  for (const Axis& axis : terms_.axes()) variables[axis.variable] = fmt::format("{} + {}", scope_.first_term, term_);
  AddBroken(lines, fmt::format("const {}* {} = {} + {};", ElementType(), from_, read_->tensor, GroupOffset(variables)));
  lines.Add(fmt::format("const unsigned {} = shared_address(&{});", to_, Element("0", row_, term_)));
}

void FactorLoads::CopyWalking(Lines& lines, const std::string& stage) const {
  const FlatOffset offset = GroupedOffset();
  const auto stride = [&](const FlatAxis& axis) {
    return SizeText(offset.coefficients.at(axis.axes().back().variable));
  };
  const FlatAxis& slow = along_terms_ ? rows_ : terms_;
  const std::string step = Step();
  const std::string row = fmt::format("{} + {}{}", first_row_, row_, along_terms_ ? step : "");
  const std::string term = fmt::format("{} + {}{}", scope_.first_term, term_, along_terms_ ? "" : step);
  const std::string inside =
      along_terms_ ? fmt::format("{} < {}", row, rows_.count()) : fmt::format("{} < {}", term, terms_.count());
  const std::string left =
      along_terms_ ? fmt::format("{} - ({})", terms_.count(), term) : fmt::format("{} - ({})", rows_.count(), row);
  const std::string on = step.empty() ? "" : step.substr(3);  // "i * 32"
  const std::string from = step.empty() ? "" : fmt::format(" + {} * static_cast<long long>({})", on, stride(slow));
  if (!step.empty()) {
    lines.Add("#pragma unroll");
    lines.Open(fmt::format("for (int i = 0; i < {}; ++i)", passes()));
  }
  AddBroken(lines,
            fmt::format("copy_octet({} + {}, {}{}, {} ? {} : 0);", to_,
                        BytesTo(stage, along_terms_ ? on : "", along_terms_ ? "" : on), from_, from, inside, left));
  if (!step.empty()) lines.Close();
  lines.Add(fmt::format("{} += {};", from_,
                        along_terms_ ? "kTileK" : fmt::format("kTileK * static_cast<long long>({})", stride(terms_))));
}

}  // namespace warpwright::schedule
