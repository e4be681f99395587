// init: a first manifest from the existing kernels, and a workflow for GitHub. Drafts only; nothing is written.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/progress.h"
#include "app/workspace.h"

namespace warpwright::app {

struct InitRequest {
  bool replace = false;  // also existing files
  bool workflow = true;
  std::string version;  // of this build
  std::string action;   // how this build references the Action; see WorkflowDraft
};
struct DraftedFile {
  std::filesystem::path path;
  std::optional<std::string> text;  // none: the file already exists, or is not wanted
};
struct InitDraft {
  DraftedFile manifest, workflow;
  size_t sources = 0;  // files that the manifest names
  std::string branch;  // pushes to it start the workflow
};

Result<InitDraft> DraftFiles(const Workspace& workspace, const InitRequest& request, core::Evaluator& worker,
                             const ProgressCallbacks& progress);

}  // namespace warpwright::app
