// Edits of launch configurations: the shape of the grid and of the block, wherever they are computed.
//
// A launch names its shape directly or through local variables. A variable that nothing but this launch (and the grid
// of this launch) uses is edited where it is defined, which gives the diff that a person would write; everything else
// is replaced in the launch itself, and other uses of the variable keep their value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rewrite/site.h"

namespace warpwright::rewrite {

enum class LaunchAxisGroup : size_t { kGrid = source::kLaunchGrid, kBlock = source::kLaunchBlock };

struct LaunchAxis {
  const source::Node* expression = nullptr;  // the value of the axis
  const source::Node* variable = nullptr;  // kVariable whose initializer contains it; null: it is in the launch itself
  bool exclusive = true;                   // editing it changes nothing but this launch
};
// Nothing if the axis has its default (1) or is not computed by an expression that can be followed.
std::optional<LaunchAxis> FindAxis(const LaunchSite& site, LaunchAxisGroup group, size_t axis);

// Are all axes after the first absent or 1?
bool IsOneDimensional(const LaunchSite& site, LaunchAxisGroup group);
std::optional<int64_t> ConstantAxis(const LaunchSite& site, LaunchAxisGroup group, size_t axis);  // 1 if absent

// Another shape: texts by axis; an empty vector leaves the grid or block unchanged, an empty string the shared bytes.
struct LaunchShape {
  std::vector<std::string> grid, block;
  std::string shared_bytes;
};
void SetLaunch(const LaunchSite& site, const LaunchShape& shape, Edits& edits);

// The grid's first axis divided by `factor`, rounded up: a thread now does the work of `factor`. Unless `any_form`,
// only a grid that is computed by a division from a number of elements changes: a fixed grid is unchanged.
void CoarsenGrid(const LaunchSite& site, int factor, bool any_form, Edits& edits);

// The kernel parameter's value at the launch, as text that can be used in any expression: "n", "(B * T)"; "" if
// unknown.
std::string ArgumentText(const KernelSite& kernel, const LaunchSite& site, const std::string& parameter_symbol);
// A kernel expression over parameters and constants as the host would write it; nothing if it uses anything else.
std::optional<std::string> HostText(const KernelSite& kernel, const LaunchSite& site, const source::Node& expression);

}  // namespace warpwright::rewrite
