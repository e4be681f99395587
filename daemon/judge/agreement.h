// How close an output that was accepted came to the original's. For reviewers: it decides nothing.
#pragma once

#include <span>
#include <string>

#include "judge/compare.h"

namespace warpwright::judge {

struct Agreement {
  size_t different = 0,
         elements = 0;  // elements whose bits differ; those that the original leaves untouched are not counted
  double error = 0, allowed = 0;  // of the element that used the largest share of its tolerance
};
// `actual` has the reference's size and was accepted with this leniency and tightening.
Agreement Agree(const OutputLayout& layout, const OutputReference& reference, const ToleranceOverrides& leniency,
                double tighten, std::span<const std::byte> actual);

// "agreement: gpt2: out is bit-identical", "agreement: gpt2: out is off by at most 1.2e-07 where 4.8e-07 is allowed (9
// of 4096 elements differ)". report/explain.cpp reads it back.
std::string AgreementNote(const std::string& case_name, const std::string& output, const Agreement& agreement);

}  // namespace warpwright::judge
