// What an original's maxima and minima make of a term that is no number, as their text says: fmaxf leaves it out, and
// so does `if (v > m) m = v`; of `m > v ? m : v` it is the result, until the next term takes its place. A bound is the
// same: `x < 0 ? 0 : x` lets it pass. Forms are of real numbers and do not tell; the judge does.
#pragma once

#include <string_view>
#include <vector>

#include "source/tokens.h"

namespace warpwright::schedule {

struct UnorderedTerms {
  bool taken = false;   // by reductions
  bool passed = false;  // by bounds that are numbers
};

// `kernels`: what computes; `file`: where the macros and functors that it calls stand. Neither where they do one and
// the other.
UnorderedTerms UnorderedTermsOf(const std::vector<std::vector<source::Token>>& kernels,
                                const std::vector<source::Token>& file);

}  // namespace warpwright::schedule
