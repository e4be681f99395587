// Why a step made a kernel faster, in sentences of its method's card, filled with this kernel's numbers:
//
//   cause:
//     - "One thread walked a row, so that {achieved_occupancy_pct.before} of the warps ran; now
//     {achieved_occupancy_pct.after} do."
//
// "[ of {reduction_terms.is} values]" is a part that describes this kernel: it is left out where one of its fields of
// the evidence is not known.
//
// A sentence is bound to figures: every number that it names must be one of the card's `expected` changes, by
// {name.before} and {name.after}, both. It is said only of a kernel whose numbers moved as expected; and a method most
// of whose expected changes did not come true is not said to be the cause of anything.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "skills/match.h"

namespace warpwright::skills {

struct SupportedCause {
  std::string sentence;
  std::vector<std::string> cites;  // names of the changes that it is bound to
  bool operator==(const SupportedCause&) const = default;
};

// What is wrong with a sentence of a card that expects these changes; "" if nothing is.
std::string CheckCause(std::string_view sentence, const std::vector<ExpectedChange>& expected);

// Sentences whose figures all held; none if the method is not to be named as the cause. `facts` are what is known of
// the kernel, by field.
std::vector<SupportedCause> SupportedCauses(const MethodCard& card, const std::vector<PredictionResult>& predictions,
                                            const std::map<std::string, double>& facts = {});

// More expected changes came true than did not.
bool ExplainsTheGain(const std::vector<PredictionResult>& predictions);

}  // namespace warpwright::skills
