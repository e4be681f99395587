// plan: which entries of a revision are worth a job, each with a key that is equal for jobs that do the same work.
// Nothing is run.
#pragma once

#include <string>
#include <vector>

#include "app/changed_entries.h"
#include "app/workspace.h"

namespace warpwright::app {

struct PlanRequest {
  std::string revision = "HEAD";
  std::string changed_since;  // empty or all zeros: every entry counts as changed
  std::string device;         // that the work is for; the planning machine needs none
  std::string version;        // of this build
};
struct PlanServices {
  core::Evaluator& worker;
  ToolchainSource toolchain;
  SkillsSource skills;
};

struct PlannedEntry {
  std::string kernel, file, entry;
  EntryChange change;
  std::string key = {};  // of the changed entries
};
struct ChangePlan {
  std::string revision;   // commit
  std::string base;       // commit; empty: there is nothing to compare with
  std::string toolchain;  // empty: none here, or nothing changed
  std::vector<PlannedEntry> entries;

  std::vector<std::string> ChangedKernels() const;
};

Result<ChangePlan> PlanChanges(const Workspace& workspace, const PlanRequest& request, const PlanServices& services);

}  // namespace warpwright::app
