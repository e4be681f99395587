// Traces of an entry at one shape: the request for them, and which of its branches data can turn.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/lifting.h"
#include "lift/lift.h"
#include "lift/trace.h"

namespace warpwright::lift {

inline constexpr int kConversions = 3;  // of branches, at a shape

// Without limits. All outlive the request.
TraceRequest MakeTraceRequest(const core::KernelSpec& spec, const core::LiftShape& at, const PreparedShape& shape);

bool WritesNothing(const std::vector<TracedBuffer>& buffers);

// Both sides of these branches shall run from now on. False: that is nothing new.
bool ConvertBranches(const std::vector<std::string>& kernels, const std::vector<const DataBranch*>& open,
                     sim::DecodeOptions& decode);

// Launches of these branches' kernels shall run along every path from now on. False: that is nothing new.
bool ForkLaunches(const std::vector<std::string>& kernels, const std::vector<const DataBranch*>& open,
                  std::set<std::string, std::less<>>& forked);

}  // namespace warpwright::lift
