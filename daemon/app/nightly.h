// A nightly run: every entry of a revision is timed against its own history; if one became slower, the first bad commit
// is searched. nights/night.h has the decisions, nights/regression.h the statistics.
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
  std::string time;                          // of this run: "2026-11-21T09:30:00Z"
  std::string version;                       // of this build
  std::filesystem::path pages;               // folder for the drawn histories; empty: none are drawn
  std::vector<std::filesystem::path> merge;  // stores of experience to be merged into the workspace's
};
struct NightServices {
  RestartableEvaluator worker;
  ToolchainSource toolchain;
  std::function<Result<std::unique_ptr<nights::HistoryStore>>(const core::Manifest&)>
      history;                                  // where this repository's history is stored
  std::function<std::string()> driver_release;  // "580.159.04"; empty: unknown. Queried if the device is a GPU
  ProgressCallbacks progress = {};
};

struct EntryNight {
  std::string kernel;
  nights::NightOutcome outcome;
  std::string error;  // internal: nothing is known about the entry
  std::vector<std::string> warnings;
  nights::NightTimes present, reference;
  int timings = 0;  // pairs of revisions that were timed
};
struct RepositoryNight {
  std::string commit;
  nights::HistoryKey key;
  std::string history_tip;          // the history's new tip: a commit of its branch; empty for a folder
  std::vector<EntryNight> entries;  // none: nightly runs are disabled in the manifest
  size_t experiences = 0;           // after merging
  std::vector<std::string> merge_warnings;

  std::vector<nights::Finding> Reported() const;
  size_t Errors() const;
};

// A failure at one entry does not affect the others.
Result<RepositoryNight> RunNight(Workspace& workspace, const NightRequest& request, const NightServices& services);

}  // namespace warpwright::app
