// A night: every entry of a revision timed against its own past, and where one became slower, the commit that did it.
// nights/night.h has the decisions, nights/regression.h the statistics.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/judging.h"
#include "nights/history_store.h"
#include "nights/night.h"

namespace warpwright::app {

struct NightRequest {
  std::string revision = "HEAD";
  std::string time;                          // of this night: "2026-11-21T09:30:00Z"
  std::string version;                       // of this build
  std::filesystem::path pages;               // folder for the drawn histories; empty: none are drawn
  std::vector<std::filesystem::path> merge;  // stores of experience to be merged into the workspace's
};
struct NightServices {
  RestartableEvaluator worker;
  ToolchainSource toolchain;
  std::function<Result<std::unique_ptr<nights::HistoryStore>>(const core::Manifest&)>
      history;                                  // where this repository's is kept
  std::function<std::string()> driver_release;  // "580.159.04"; empty: not known. Asked where the device is a GPU
  ProgressCallbacks progress = {};
};

struct EntryNight {
  std::string kernel;
  nights::NightOutcome outcome;
  std::string error;  // ours: nothing is known of the entry
  std::vector<std::string> warnings;
  nights::NightTimes present, reference;
  int timings = 0;  // pairs of revisions that were timed
};
struct RepositoryNight {
  std::string commit;
  nights::HistoryKey key;
  std::string history_tip;          // where the history stands now: a commit of its branch; empty for a folder
  std::vector<EntryNight> entries;  // none: nights are switched off in the manifest
  size_t experiences = 0;           // after merging
  std::vector<std::string> merge_warnings;

  std::vector<nights::Finding> Reported() const;
  size_t Errors() const;
};

// One entry that we fail at does not take the others with it.
Result<RepositoryNight> RunNight(Workspace& workspace, const NightRequest& request, const NightServices& services);

}  // namespace warpwright::app
