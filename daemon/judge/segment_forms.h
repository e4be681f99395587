// What the segments of an entry's launcher (rewrite/segments.h) compute, each by itself: for what no formula of the
// whole entry tells, or tells in a form that nothing takes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/evaluator.h"
#include "core/lifting.h"
#include "core/scheduling.h"

namespace warpwright::judge {

inline constexpr size_t kMostSegments = 16;

// In their order; none for a launcher of one segment. `seconds`: of processor time for each, after which no further
// shape is begun; `more`: whether another one should be begun. What its sums make of terms beyond their bounds is not found out.
Result<std::vector<core::LiftOutcome>> LiftSegments(const core::SourceRef& source, const core::KernelSpec& spec,
                                                    const std::string& device, double seconds,
                                                    const std::function<bool()>& more, core::Evaluator& worker);
// Those that are lifted.
std::vector<core::SegmentForm> FormsOf(const std::vector<core::LiftOutcome>& segments);

}  // namespace warpwright::judge
