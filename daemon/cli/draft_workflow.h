// `warpwright init`: the workflow that runs the Action, from config/workflows/optimize.yml.
#pragma once

#include <string>
#include <string_view>

namespace warpwright {

inline constexpr std::string_view kWorkflowFile = ".github/workflows/warpwright.yml";

// How the workflows of config/workflows/ name the Action; a release puts its own commit in its place.
std::string UnpinnedAction();
// For pushes to `branch`. The Action is named as this build knows it: a release knows its own commit.
std::string DraftWorkflow(const std::string& branch);

}  // namespace warpwright
