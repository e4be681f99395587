// `warpwright init`: the workflow that runs the Action, from config/workflows/optimize.yml.
#pragma once

#include <string>
#include <string_view>

namespace warpwright::app {

inline constexpr std::string_view kWorkflowFile = ".github/workflows/warpwright.yml";

// How the workflows of config/workflows/ reference the Action; a release replaces it with its own commit.
std::string UnpinnedAction(std::string_view version);

struct WorkflowDraft {
  std::string branch;   // pushes to it start the workflow
  std::string version;  // of this build
  std::string action;   // how this build references the Action: a release by its own commit; empty: as UnpinnedAction
};
std::string DraftWorkflow(const WorkflowDraft& draft);

}  // namespace warpwright::app
