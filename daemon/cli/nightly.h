// nightly: options. app/nightly.h has the use case.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/session.h"

namespace warpwright::cli {

// What gives exit code 1.
enum class NightlyFailOn { kNone, kRegression };
std::string_view Name(NightlyFailOn fail_on);  // "none"
constexpr NightlyFailOn Last(NightlyFailOn) { return NightlyFailOn::kRegression; }

struct NightlyOptions {
  CommonOptions common;
  std::string revision = "HEAD";
  std::string history;             // folder of the history; empty: the branch
  std::string history_branch;      // empty: the manifest's
  std::string pages;               // folder for the drawn histories; empty: none are drawn
  std::vector<std::string> merge;  // stores of experience to be merged into this repository's
  NightlyFailOn fail_on = NightlyFailOn::kNone;
  bool optimize = false;  // what became slower
  std::string author;     // of commits: "Name <mail>"
};

Result<int> RunNightly(const NightlyOptions& options);

}  // namespace warpwright::cli
