// optimize's results, said where people are: branch on the remote, pull request and check on the forge, and in an Action the step's summary,
// outputs and annotations. The daemon says its results through the same service/publisher.h; here one process does job and publication.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/workflow_commands.h"
#include "config/operator_file.h"
#include "core/kernel_spec.h"
#include "report/job_summary.h"
#include "repo/repository.h"

namespace warpwright {

class Session;

struct PublicationOptions {
  std::string repository;                      // on the forge: "owner/name"
  std::string api = "https://api.github.com";
  std::string remote;                          // where branches are pushed; empty: made from the two above
  std::string token_env = "GITHUB_TOKEN";      // name of an environment variable
  std::string app_id, app_key_env;             // instead of a token
  std::string base_branch;
  bool draft = false;
  std::string labels, reviewers;               // separated by commas; empty: the manifest's
  int max_open = -1;                           // -1: the manifest's
  bool asked_for = false;                      // by a person: a closed pull request is no obstacle
  std::string dry_run;                         // detect, optimize, full; empty: none
  std::string fail_on = "unverified";          // regression, unverified, never
  std::string shard;                           // "k/n"
  std::string summary, output;                 // files that are appended to
  std::string report;                          // folder
  bool annotations = false;

  bool Reports() const { return !summary.empty() || !output.empty() || !report.empty() || annotations; }
};
// kUsage for what cannot be meant, before anything is run. `publish`: none, branch, pull-request.
Status CheckPublication(const PublicationOptions& options, const std::string& publish);
// Of `kernels` those of shard "k/n", dealt out as `plan --shards n` does, so that every shard decides alike. An empty shard has all.
std::vector<std::string> KernelsOfShard(const std::string& shard, const std::vector<std::string>& kernels);
// "a, b,c" -> a, b, c.
std::vector<std::string> SplitList(const std::string& text);

// Of one kernel; what was said of it is filled in by the publisher.
struct SaidResult {
  KernelSummary summary;
  double gain = 1;
  std::string kernel, file, base_commit, branch, commit;
  PullRequestPolicy policy;                    // the manifest's
  std::string disposition, message;            // service/publisher.h; empty: nothing was tried
  int64_t pull_request = 0;
  std::string head_sha;                        // of the pull request
};

class ResultPublisher {
 public:
  // Pushes from the session's repository. The credentials are taken out of the environment and tried.
  static Result<std::unique_ptr<ResultPublisher>> Open(const PublicationOptions& options, PublishTo to, Session& session, const Signature& author,
                                                       WorkflowCommands& commands);
  virtual ~ResultPublisher() = default;
  // Repeating it is safe. Errors are those of the remote and the forge.
  virtual Status Publish(SaidResult& result) = 0;
};

// Summary, report folder, outputs, annotations; whatever the options ask for. `report`: the result as JSON, `kernels`: its list of kernels.
struct RunReport {
  std::string report, kernels;
  std::filesystem::path trajectory;
  std::string result;                          // improved, unchanged, regression, skipped, error
};
Status WriteReports(const PublicationOptions& options, const std::vector<SaidResult>& results, const RunReport& report, WorkflowCommands& commands);

}  // namespace warpwright
