// The commands. Each prints its result to stdout (one JSON object with --json) and returns the exit code; an Error is
// printed by main.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/models.h"
#include "cli/publication_options.h"
#include "cli/session.h"

namespace warpwright::cli {

struct InitOptions {
  CommonOptions common;
  bool force = false;  // replace existing files
  bool print = false;  // to stdout instead of the files
  bool no_workflow = false;
};
struct RevisionOptions {
  CommonOptions common;
  std::string base = "HEAD";  // the trusted revision
};
enum class LiftFormat { kText, kLatex, kJson, kMarkdown };
std::string_view Name(LiftFormat format);
constexpr LiftFormat Last(LiftFormat) { return LiftFormat::kMarkdown; }
struct LiftOptions {
  CommonOptions common;
  LiftFormat format = LiftFormat::kText;
  bool full = false;  // every reduction in a line of its own
};
struct OptimizeOptions {
  CommonOptions common;
  std::string revision = "HEAD";
  std::string changed_since;  // only entries whose slice differs from this revision's
  config::PublishTo publish = config::PublishTo::kBranch;
  std::string author;  // "Name <mail>"; else the repository's warpwright.author, else warpwright
  int max_rounds = 0;  // 0: the manifest's
  double max_minutes = 0;
  bool again = false;  // forget a finished task and start over
  std::string carry;   // a commit of a result's branch: carry it over to `revision` instead of searching
  ModelOptions models;
  PublicationOptions publication;
};
struct PlanOptions {
  CommonOptions common;
  std::string revision = "HEAD";
  std::string changed_since;  // empty or all zeros: every entry counts as changed
  int shards = 0;
};
enum class ShowFormat { kText, kMarkdown, kHtml, kJson, kPullRequest };
std::string_view Name(ShowFormat format);  // "pull_request"
constexpr ShowFormat Last(ShowFormat) { return ShowFormat::kPullRequest; }
struct ShowOptions {
  CommonOptions common;
  int64_t task = 0;  // 0: the latest of --kernel, or a list
  ShowFormat format = ShowFormat::kText;
  std::string output;  // file; empty: stdout
};
enum class SkillsAction { kList, kShow, kCheck, kMatch, kAccept };
struct SkillsOptions {
  CommonOptions common;
  SkillsAction action = SkillsAction::kList;
  std::string argument;  // id, folder, evidence file, or draft of a card
};
enum class MemoryAction { kShow, kMerge };
struct MemoryOptions {
  CommonOptions common;
  MemoryAction action = MemoryAction::kShow;
  std::vector<std::string> paths;
};
enum class ConfigAction { kCheck, kPrint };
struct ConfigOptions {
  ConfigAction action = ConfigAction::kCheck;
  std::string repo;  // folder of .warpwright.yml; empty: the current one, unless an operator's file is given
  std::string operator_file;
  bool effective = false;  // also defaults, and the effective values under the operator's limits
  bool secrets = false;    // also read every secret
  bool json = false;
};
enum class ExchangeAction { kList, kShow, kAnswer, kExport, kImport };
struct ExchangeOptions {
  ExchangeAction action = ExchangeAction::kList;
  std::string folder;                            // of the exchange
  std::string question;                          // the beginning of its id
  std::string file;                              // of an answer (empty: stdin) or a bundle
  std::string model;                             // who answers
  std::optional<int64_t> tokens_in, tokens_out;  // that the answer took
  std::optional<double> dollars;
  bool json = false;
};

Result<int> RunInit(const InitOptions& options);
Result<int> RunCheck(const CommonOptions& options);
Result<int> RunDoctor(const CommonOptions& options);  // an empty device: a GPU, if any
Result<int> RunRecord(const RevisionOptions& options);
Result<int> RunVerify(const RevisionOptions& options);
Result<int> RunProfile(const CommonOptions& options);
Result<int> RunLift(const LiftOptions& options);
Result<int> RunOptimize(const OptimizeOptions& options);
Result<int> RunPlan(const PlanOptions& options);
// GitHub's matrix: {"include": [{"shard": "1/4", "kernels": "a b"}, ...]}, without empty shards, on one line.
std::string MatrixJson(const std::vector<std::vector<std::string>>& shards);
Result<int> RunShow(const ShowOptions& options);
Result<int> RunSkills(const SkillsOptions& options);
Result<int> RunMemory(const MemoryOptions& options);
Result<int> RunConfig(const ConfigOptions& options);
Result<int> RunExchange(const ExchangeOptions& options);  // 75 from list: questions wait

}  // namespace warpwright::cli
