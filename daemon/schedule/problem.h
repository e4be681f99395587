// What a schedule is given: the computation in the form that is scheduled, the entry, the sizes and the chip.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/computation_structure.h"
#include "core/computation_walk.h"
#include "core/scheduling.h"
#include "schedule/entry.h"
#include "schedule/schedule.h"

namespace warpwright::schedule {

struct Problem {
  core::Computation form;  // elementwise intermediates are in their readers; reductions are roots of stages
  core::ComputationStructure structure;  // of the form
  core::Scheduling input;                // as it was lifted; cases, chip
  Entry entry;
  bool in_double = false;  // real values are computed in double
  bool wide = false;       // offsets need 64 bits
  // By what sizes are divisible wherever the form is right: the launcher takes new kernels only there.
  std::map<std::string, int64_t> divisors = {};
  bool zero_unless_seen = false;  // terms beyond the bounds of sums, where Guard::outside is unknown
  bool rows_in_turns = false;     // rows longer than a tile are reduced tile by tile, where there is no memory for them
  // A name that neither the file nor an earlier kernel has, from this one.
  std::function<std::string(const std::string&)> fresh_name;
  // The same for a kernel; the old kernel's, where one takes the place of one. None: fresh_name.
  std::function<std::string(const std::string&)> kernel_name;
  // The same for what kernels share: one name for each.
  std::function<std::string(const std::string&)> shared_name;

  std::string real() const { return in_double ? "double" : "float"; }
  const core::Stage& stage(size_t i) const { return form.stages[i]; }
};

// Whether a sum's term beyond the guard's bounds is 0 times its other factors. What only is no integer is left out.
bool IsZeroOutside(const Problem& problem, const core::Guard& guard);

// The value of a size in a case, in the one whose time counts most; none: it cannot be evaluated.
std::optional<int64_t> ValueIn(const core::Size& size, const core::ScheduledCase& c);
const core::ScheduledCase& HeaviestCase(const Problem& problem);
// The largest over all cases.
std::optional<int64_t> LargestOf(const Problem& problem, const core::Size& size);

// Whether the stage reads this argument, or (`of_stage`) this earlier stage.
bool ReadsTensor(const core::Stage& stage, const std::string& tensor, bool of_stage);
// The sum that the stage's value is; nullptr: it is something else.
const core::Reduce* RootSumOf(const core::Stage& stage);
// With the nodes alone that its value, the last one, is made of.
core::Stage WithoutUnused(core::Stage stage);

// What belongs together beside stages connected by tensors without memory: nothing, parts of one output, or all outputs
// of one shape.
enum class Joining { kNeeded, kParts, kShapes };
std::vector<Group> GroupsOf(const core::Computation& form, Joining joining);
// Whether the groups can run one after the other: none reads what an earlier one has overwritten.
std::optional<core::RewriteRefusal> FindHazard(const core::Computation& form, const std::vector<Group>& groups);

// Elementwise intermediates in their readers; unread stages gone. Reductions stay stages of their own.
core::Computation Fused(const core::Computation& computation);

// A tensor's element as a flat offset: sum of coefficient * variable + constant, where the position is that simple.
struct FlatOffset {
  std::map<core::VariableId, core::Size> coefficients;  // none are zero
  core::Size constant;
};
std::optional<FlatOffset> FlatOffsetOf(const std::vector<core::Size>& shape, const std::vector<core::Coordinate>& at);
std::optional<FlatOffset> FlatOffsetOf(const std::vector<core::Size>& shape, const std::vector<core::Affine>& at);
// Where a stage's elements are stored.
std::vector<core::Affine> StoredAt(const core::Stage& stage);
const std::vector<core::Size>& ShapeOf(const Problem& problem, const std::string& tensor);

core::Size Product(const std::vector<core::Size>& sizes);
bool Equal(const core::Size& a, const core::Size& b);  // whatever the names stand for

}  // namespace warpwright::schedule
