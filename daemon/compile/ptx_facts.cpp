#include "compile/ptx_facts.h"

#include "compile/ptx_numbers.h"

namespace warpwright::compile {

PtxFacts FactsOf(const std::string& ptx, const std::set<core::Allow>& allowed) {
  PtxFacts facts{.violation = {}, .uses = FindPrecision(ptx), .numbers = FindNumbers(ptx)};
  auto violations = FindPtxViolations(ptx, allowed);
  if (!violations.empty()) facts.violation = std::move(violations.front());
  return facts;
}

}  // namespace warpwright::compile
