// init: a first manifest from the kernels that are there, and a workflow for GitHub. Drafts only; nothing is written.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/progress.h"
#include "app/workspace.h"

namespace warpwright::app {

struct InitRequest {
  bool replace = false;  // also what is there already
  bool workflow = true;
  std::string version;  // of this build
  std::string action;   // how this build names the Action; WorkflowDraft
};
struct DraftedFile {
  std::filesystem::path path;
  std::optional<std::string> text;  // none: the file is there already, or not wanted
};
struct InitDraft {
  DraftedFile manifest, workflow;
  size_t sources = 0;  // files that the manifest names
  std::string branch;  // pushes to it start the workflow
};

Result<InitDraft> DraftFiles(const Workspace& workspace, const InitRequest& request, core::Evaluator& worker,
                             const ProgressCallbacks& progress);

}  // namespace warpwright::app
