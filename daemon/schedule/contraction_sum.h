// The text of one result of a contraction: the sum that a thread holds, with what multiplies it and the guards that
// have no terms; or the same added up anew.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/contraction_axes.h"
#include "schedule/expression_code.h"

namespace warpwright::schedule {

class ContractionSum {
 public:
  ContractionSum(const Problem& problem, const core::Stage& stage, const Contraction& contraction,
                 const VariableTexts& variables, Names& names)
      : problem_(problem), stage_(stage), contraction_(contraction), variables_(variables), names_(names) {}

  // Whether a factor is left out for some terms by itself, so that the other one is multiplied by 0 instead: where that
  // is infinite the sum is no number, and must be added up again.
  bool LeavesOut() const;
  // Of the sum that is held under this name.
  std::string Scaled(const std::string& sum, Lines& lines);
  // Added up by this thread alone.
  std::string Again(Lines& lines);
  const std::optional<core::RewriteRefusal>& refusal() const { return refusal_; }

 private:
  bool HasLeftOut(const std::vector<core::Guard>& guards, const std::vector<core::Guard>& others) const;

  const Problem& problem_;
  const core::Stage& stage_;
  const Contraction& contraction_;
  const VariableTexts& variables_;
  Names& names_;
  std::optional<core::RewriteRefusal> refusal_;
};

}  // namespace warpwright::schedule
