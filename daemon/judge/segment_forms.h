// What the segments of an entry's launcher (rewrite/segments.h) compute, each by itself: for what no formula of the
// whole entry tells, or tells in a form that nothing takes.
#pragma once

#include <functional>
#include <string>

#include "core/evaluator.h"
#include "core/lifting.h"
#include "core/scheduling.h"

namespace warpwright::judge {

inline constexpr size_t kMostSegments = 16;

// Tells of each in their order; of none for a launcher of one segment. `seconds`: of processor time for each, after
// which no further shape is begun; `tell` says whether another one should be begun. What its sums make of terms beyond
// their bounds is not found out.
Status LiftSegments(const core::SourceRef& source, const core::KernelSpec& spec, const std::string& device,
                    double seconds, core::Evaluator& worker,
                    const std::function<bool(uint64_t number, core::LiftOutcome outcome)>& tell);

}  // namespace warpwright::judge
