// How `optimize` publishes, and what it writes in an Action.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/publication_reports.h"
#include "base/result.h"
#include "config/operator_file.h"

namespace warpwright::cli {

// How far a dry run goes.
enum class DryRun { kDetect, kOptimize, kFull };
std::string_view Name(DryRun dry_run);  // "detect"
constexpr DryRun Last(DryRun) { return DryRun::kFull; }
// What gives exit code 1.
enum class FailOn { kRegression, kUnverified, kNever };
std::string_view Name(FailOn fail_on);  // "unverified"
constexpr FailOn Last(FailOn) { return FailOn::kNever; }

struct PublicationOptions {
  std::string repository;  // on the forge: "owner/name"
  std::string api = "https://api.github.com";
  std::string remote;                      // where branches are pushed; empty: derived from the two above
  std::string token_env = "GITHUB_TOKEN";  // name of an environment variable
  std::string app_id, app_key_env;         // instead of a token
  std::string base_branch;
  bool draft = false;
  std::string labels, reviewers;  // separated by commas; empty: the manifest's
  int max_open = -1;              // -1: the manifest's
  bool asked_for = false;         // by a person: ignores a closed pull request
  std::optional<DryRun> dry_run;
  FailOn fail_on = FailOn::kUnverified;
  std::string shard;            // "k/n"
  std::string summary, output;  // files that are appended to
  std::string report;           // folder
  bool annotations = false;

  app::ReportPlaces Places() const { return {summary, output, report}; }
  bool Reports() const { return !summary.empty() || !output.empty() || !report.empty() || annotations; }
};
// kUsage for contradictory options, before anything is run.
Status CheckPublication(const PublicationOptions& options, config::PublishTo publish);
// "a, b,c" -> a, b, c.
std::vector<std::string> SplitList(const std::string& text);

}  // namespace warpwright::cli
