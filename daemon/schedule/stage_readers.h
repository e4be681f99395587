// Outputs that take every element of an earlier stage at one place: what becomes of a sum where it is made.
#pragma once

#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "schedule/problem.h"

namespace warpwright::schedule {

using VariableMap = std::map<core::VariableId, core::VariableId>;

struct StageReader {
  size_t stage = 0;       // of Problem::form.stages; the earlier stage itself, if that is an output
  VariableMap variables;  // the earlier stage's, by this one's
};

// The sum's variables by those of the reader, if it reads the sum, always at one place, which is an element of its own.
std::optional<VariableMap> VariablesOfReader(const core::Stage& sum, const core::Stage& reader);

// The one reduction of a group and its readers. Refuses a group with another reduction, and one whose outputs do not
// take each result at one place.
struct ReducedGroup {
  size_t stage = 0;
  std::vector<StageReader> outputs;
};
std::variant<core::RewriteRefusal, ReducedGroup> ReducedGroupOf(const Problem& problem, const Group& group);

// An element's offset over the earlier stage's variables; none: it is not affine in them.
std::optional<FlatOffset> StoredOffset(const Problem& problem, const StageReader& output);

}  // namespace warpwright::schedule
