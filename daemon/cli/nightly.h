// nightly: options. app/nightly.h has the use case.
#pragma once

#include <string>
#include <vector>

#include "cli/session.h"

namespace warpwright::cli {

struct NightlyOptions {
  CommonOptions common;
  std::string revision = "HEAD";
  std::string history;             // folder of the history; empty: the branch
  std::string history_branch;      // empty: the manifest's
  std::string pages;               // folder for the drawn histories; empty: none are drawn
  std::vector<std::string> merge;  // stores of experience to be merged into this repository's
  std::string fail_on = "none";    // none, regression
  bool optimize = false;           // what became slower
  std::string author;              // of commits: "Name <mail>"
};

Result<int> RunNightly(const NightlyOptions& options);

}  // namespace warpwright::cli
