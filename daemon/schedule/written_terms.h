// Reductions of a few terms, as many at all sizes, as the terms themselves: a window of three by three as nine reads,
// which a thread can keep in registers and a reader can see.
#pragma once

#include <optional>

#include "schedule/problem.h"

namespace warpwright::schedule {

// None: a reduction is longer than `most_terms`, or as long as a size says, or finds a position.
// The stage is one of the problem's, or made of what it has.
std::optional<core::Stage> WithWrittenTerms(const Problem& problem, const core::Stage& stage, size_t most_terms);

// With sums of two terms that arguments give written out, such as either part of a product of complex numbers: what
// they are made of is then known place by place, and what reads them takes them in.
core::Computation WithWrittenPairs(const core::Computation& computation);

}  // namespace warpwright::schedule
