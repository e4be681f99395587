// What the rules want to know of a module's PTX, in one value: reading a megabyte of text takes as long as a small run,
// and a judge runs one module hundreds of times.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "compile/ptx_rules.h"

namespace warpwright::compile {

struct PtxFacts {
  std::optional<PtxViolation> violation;  // the first
  core::CodeUses uses;
  std::set<double> numbers;
};
PtxFacts FactsOf(const std::string& ptx, const std::set<core::Allow>& allowed);

}  // namespace warpwright::compile
