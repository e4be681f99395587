// Kernels for the small sizes that the cases have: windows of three by three, strides of two. As arguments they keep a
// compiler from unrolling and from sharing what neighbours need; as numbers they are what an expert would write, with
// the user's own kernels for all other sizes.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/computation.h"
#include "core/scheduling.h"
#include "schedule/entry.h"
#include "schedule/schedule.h"

namespace warpwright::schedule {

inline const ScheduleParameter kSizes{"sizes", {"small_fixed", "any"}};

// By name: sizes of windows, and strides, dilations and paddings, that are small and the same in all cases. Extents of
// what is computed are none, however small: there callers differ.
std::map<std::string, int64_t> SmallSizes(const core::Scheduling& scheduling, const Entry& entry);

// With numbers in their place; none: a size does not stay readable.
std::optional<core::Computation> WithSizes(core::Computation computation, const std::map<std::string, int64_t>& sizes);

// The shapes of the buffers with these numbers in place of their names.
void BindShapes(core::KernelSpec& spec, const std::map<std::string, int64_t>& sizes);
// "k == 3 && stride == 2"
std::string ConditionOfSizes(const std::map<std::string, int64_t>& sizes);

}  // namespace warpwright::schedule
