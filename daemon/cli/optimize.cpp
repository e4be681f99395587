#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "app/carry_over.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/github_publisher.h"
#include "cli/interruption.h"
#include "cli/models.h"
#include "cli/named_paths.h"
#include "cli/progress.h"
#include "cli/version.h"
#include "core/device_name.h"
#include "report/format.h"

namespace warpwright::cli {
namespace {

using nlohmann::json;

// Of an answer whose cost is unknown the whole is, which is not zero.
json ModelJson(const llm::TaskSpending& asked) {
  const auto or_null = [](const std::optional<double>& dollars) { return dollars ? json(*dollars) : json(nullptr); };
  return {{"questions", asked.questions},
          {"tokens_in", asked.tokens_in},
          {"tokens_out", asked.tokens_out},
          {"dollars", or_null(asked.Dollars())},
          {"known_dollars", static_cast<double>(asked.known) * 1e-9},
          {"unknown_costs", asked.unknown},
          {"gains", asked.gains},
          {"dollars_per_gain", or_null(asked.DollarsPerGain())},
          {"models", asked.models}};
}

json ToJson(const app::OptimizedKernel& o, const std::string& device) {
  json j = {{"name", o.name},
            {"outcome", Name(o.outcome)},
            {"message", o.message},
            {"gain", o.gain},
            {"modelled", core::IsSimulated(device)},
            {"device", device},
            {"rounds", o.counts.rounds},
            {"attempts", o.counts.attempts},
            {"evaluations", o.counts.evaluations},
            {"seconds", o.seconds},
            {"task", o.task},
            {"branch", nullptr},
            {"commit", nullptr}};
  j["cases"] = json::array();
  for (const app::CaseOutcome& c : o.cases) {
    json row = {{"name", c.name},
                {"original_us", c.original_us},
                {"us", c.us},
                {"original_host_us", c.original_host_us},
                {"host_us", c.host_us}};
    if (c.timing)
      row.update({{"gain", std::exp(c.timing->log_ratio)},
                  {"gain_low", std::exp(c.timing->lower)},
                  {"gain_high", std::exp(c.timing->upper)},
                  {"decision", core::Name(c.timing->decision)},
                  {"pairs", c.timing->pairs},
                  {"discarded", c.timing->discarded},
                  {"hot_original_us", c.timing->hot_original_us},
                  {"hot_us", c.timing->hot_candidate_us}});
    j["cases"].push_back(std::move(row));
  }
  j["roofline_pct"] = {{"before", o.roofline_pct_before}, {"after", o.roofline_pct_after}};
  j["seconds_by_stage"] = o.spent;
  if (!o.branch.empty()) {
    j["branch"] = o.branch;
    j["commit"] = o.commit;
  }
  const auto& computes = o.summary.explanation.computes;
  j["computes"] = computes && computes->why_not.empty() ? json(computes->headline) : json(nullptr);
  j["counters_missing"] = o.summary.explanation.counter_notes;
  if (o.regression > 0) j["regression"] = o.regression;
  if (!o.pending.empty()) j["pending"] = o.pending;
  if (o.out_of_time) j["out_of_time"] = true;
  if (!o.drafts.empty()) j["drafts"] = o.drafts;
  if (o.asked.questions > 0) j["model"] = ModelJson(o.asked);
  const app::PublicationOutcome& p = o.publication;
  if (p.disposition || p.failed)
    j["publication"] = {{"disposition", p.failed ? "error" : service::Name(*p.disposition)}, {"message", p.message}};
  if (p.pull_request != 0)
    j["pull_request"] = {{"number", p.pull_request},
                         {"url", p.pull_request_url},
                         {"operation", p.pull_request_operation},
                         {"head_sha", p.head_sha}};
  return j;
}

json KernelsJson(const std::vector<app::OptimizedKernel>& kernels, const std::string& device) {
  json list = json::array();
  for (const app::OptimizedKernel& kernel : kernels) list.push_back(ToJson(kernel, device));
  return list;
}

int ExitCodeFor(const std::vector<app::OptimizedKernel>& kernels, FailOn fail_on) {
  const auto any = [&](auto is) { return std::any_of(kernels.begin(), kernels.end(), is); };
  // The environment's failures first; a mistake in the user's files is not one of them.
  std::optional<int> failed;
  for (const app::OptimizedKernel& k : kernels) {
    if (k.publication.failed) return kExitEnvironment;
    if (k.outcome != core::TaskOutcome::kError && k.error != ErrorCode::kConfig) continue;
    const int code = ExitCodeOf({.code = k.error.value_or(ErrorCode::kIo)});
    if (code == kExitEnvironment) return code;
    failed = std::max(failed.value_or(0), code);
  }
  if (failed) return *failed;
  if (any([](const app::OptimizedKernel& k) { return !k.pending.empty(); })) return kExitPending;
  return fail_on != FailOn::kNever && any([](const app::OptimizedKernel& k) {
           return k.outcome == core::TaskOutcome::kRefused || k.regression > 0;
         })
             ? kExitUnverified
             : kExitDone;
}

app::OptimizeRequest RequestOf(const OptimizeOptions& options) {
  const PublicationOptions& publication = options.publication;
  return {.revision = options.revision,
          .changed_since = options.changed_since,
          .find_regressions = publication.fail_on == FailOn::kRegression,
          .detect_only = publication.dry_run == DryRun::kDetect,
          .make_branches = options.publish != config::PublishTo::kNone && publication.dry_run != DryRun::kOptimize,
          .base_branch = publication.base_branch,
          .shard = app::ParseShard(publication.shard),
          .author = options.author,
          .max_rounds = options.max_rounds,
          .max_minutes = options.max_minutes,
          .again = options.again,
          .version = kVersion};
}

bool Publishes(const OptimizeOptions& options) {
  const PublicationOptions& publication = options.publication;
  const bool has_remote = !publication.remote.empty() || !publication.repository.empty();
  return !publication.dry_run && (options.publish == config::PublishTo::kPullRequest ||
                                  (options.publish == config::PublishTo::kBranch && has_remote));
}

std::map<std::string, double> SecondsOf(const worker::WorkerEvaluator& trusted,
                                        const worker::WorkerEvaluator& candidates) {
  std::map<std::string, double> spent;
  for (const auto* worker : {&trusted, &candidates})
    for (const auto& [stage, seconds] : worker->seconds()) spent[stage] += seconds;
  return spent;
}

// What is told of a run that is interrupted. The waiting thread reads what the run writes.
class RunSoFar {
 public:
  void Begin(const std::string& kernel) {
    const std::lock_guard lock(mutex_);
    present_ = kernel;
  }
  void End(const app::OptimizedKernel& kernel) {
    const std::lock_guard lock(mutex_);
    ended_.push_back(kernel);
    present_.clear();
  }
  std::vector<app::OptimizedKernel> Tell(const app::Workspace& workspace) const {
    const std::lock_guard lock(mutex_);
    std::vector<app::OptimizedKernel> kernels = ended_;
    if (!present_.empty()) kernels.push_back(app::InterruptedKernel(workspace, present_));
    return kernels;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<app::OptimizedKernel> ended_;
  std::string present_;
};

Result<std::vector<app::OptimizedKernel>> Optimize(const OptimizeOptions& options, Session& session,
                                                   WorkflowCommands& commands, RunSoFar& so_far) {
  worker::WorkerEvaluator trusted = session.MakeWorker(), candidates = session.MakeWorker();
  memory::JsonLinesStore experience = session.Experiences();
  const base::SystemClock clock;
  base::Deadline deadline(clock);
  for (auto* worker : {&trusted, &candidates}) worker->SetDeadline(deadline);
  Progress progress(options.common.quiet);
  GithubPublisher publisher(options.publication, session.workspace(), commands);
  app::OptimizeServices services{.trusted = Restartable(trusted),
                                 .candidates = Restartable(candidates),
                                 .another = session.Another(&deadline),
                                 .seconds = [&] { return SecondsOf(trusted, candidates); },
                                 .toolchain = session.Toolchain(),
                                 .skills = session.Skills(),
                                 .experience = experience,
                                 .clock = clock,
                                 .deadline = &deadline,
                                 .tools_worker = session.Worker(),
                                 .team = {},
                                 .publisher = {},
                                 .progress = progress.Callbacks(),
                                 .began = [&](const std::string& kernel) { so_far.Begin(kernel); },
                                 .ended = [&](const app::OptimizedKernel& kernel) { so_far.End(kernel); }};
  if (!options.carry.empty()) {
    WW_ASSIGN(
        auto carried,
        app::CarryOver(
            session.workspace(),
            {.revision = options.revision, .commit = options.carry, .author = options.author, .version = kVersion},
            services));
    return std::vector<app::OptimizedKernel>{std::move(carried)};
  }
  WW_ASSIGN(services.team, MakeTeamSource(options.models, session.workspace(), deadline));
  if (Publishes(options))
    services.publisher = [&](const repo::Signature& author) { return publisher.Connect(options.publish, author); };
  return app::OptimizeKernels(session.workspace(), RequestOf(options), services);
}

void Print(const std::vector<app::OptimizedKernel>& kernels, const app::TargetDevice& device) {
  for (const app::OptimizedKernel& k : kernels) {
    const std::string result = k.branch.empty() ? base::Printable(k.message) : k.branch;
    fmt::print("{:20} {:10} {:>8}  {}, {:.1f} s  {}\n", k.name, Name(k.outcome),
               k.outcome == core::TaskOutcome::kImproved ? report::FormatGain(k.gain) : "", report::Effort(k.counts),
               k.seconds, k.publication.message.empty() ? result : base::Printable(k.publication.message));
    if (const auto& computes = k.summary.explanation.computes; computes && !computes->headline.empty())
      fmt::print("  {}\n", base::Printable(computes->headline));
  }
  if (!kernels.empty())
    fmt::print("{}\n", device.gpu ? "Gains were measured on " + device.chip.name + "."
                                  : "Gains are modelled on " + device.chip.name + " (simulated).");
}

}  // namespace

namespace {

// Where later steps and people read it: outputs, summary, folder.
Status WriteReports(const OptimizeOptions& options, const app::Workspace& workspace,
                    const std::vector<app::OptimizedKernel>& kernels, const std::string& report,
                    app::RunResult result) {
  const app::RunReport run{.report = report,
                           .kernels = base::DumpJson(KernelsJson(kernels, options.common.device)),
                           .trajectory = workspace.trajectory_file(),
                           .result = result};
  return app::WriteReports(options.publication.Places(), kernels, run,
                           [](const std::string& text) { fmt::print(stderr, "warpwright: {}\n", text); });
}

// What a run that is asked to end leaves behind: what it has so far.
void TellInterruption(const OptimizeOptions& options, const app::Workspace& workspace,
                      const std::vector<app::OptimizedKernel>& kernels, int signal) {
  json told = {{"device", options.common.device}, {"interrupted", ::sigabbrev_np(signal)}};
  told["kernels"] = KernelsJson(kernels, options.common.device);
  const std::string report = base::DumpJson(told, 2);
  if (options.common.json) std::puts(report.c_str());
  else Print(kernels, workspace.device());
  std::fflush(stdout);
  if (!options.publication.Reports()) return;
  const bool improved = app::ResultOf(kernels) == app::RunResult::kImproved;
  if (const Status written = WriteReports(options, workspace, kernels, report,
                                          improved ? app::RunResult::kImproved : app::RunResult::kError);
      !written)
    fmt::print(stderr, "warpwright: {}\n", written.error().Format());
}

Result<int> OptimizeAndReport(const OptimizeOptions& options) {
  const PublicationOptions& publication = options.publication;
  WW_TRY(CheckPublication(publication, options.publish));
  // In a step of GitHub Actions, output of compilers and kernels must not be taken for a workflow command.
  WorkflowCommands commands(InGithubActions() && !options.common.json);
  commands.Stop();
  WW_ASSIGN(Session session, Session::Open(options.common));
  RunSoFar so_far;
  std::optional<Interruption> interruption;
  interruption.emplace(
      [&](int signal) { TellInterruption(options, session.workspace(), so_far.Tell(session.workspace()), signal); });
  const auto done = Optimize(options, session, commands, so_far);
  interruption.reset();
  if (!done) return Fail(done.error());
  const auto& optimized = *done;

  const std::string report = base::DumpJson(
      {{"device", options.common.device}, {"kernels", KernelsJson(optimized, options.common.device)}}, 2);
  if (options.common.json) std::puts(report.c_str());
  else Print(optimized, session.workspace().device());
  if (publication.Reports()) {
    WW_TRY(WriteReports(options, session.workspace(), optimized, report, app::ResultOf(optimized)));
    commands.Resume();  // warpwright's own, escaped, after all other output
    commands.Print(report::RenderFailures(app::Summaries(optimized)));
    if (publication.annotations) commands.Print(report::RenderAnnotations(app::Summaries(optimized)));
  }
  return ExitCodeFor(optimized, publication.fail_on);
}

}  // namespace

Result<int> RunOptimize(const OptimizeOptions& options) {
  const Result<int> done = OptimizeAndReport(options);
  // Later steps read outputs also where there is no result.
  if (!done && CheckNamedOutput("--output", options.publication.output))
    if (const Status written = app::WriteFailure(options.publication.Places(), [](const std::string&) {}); !written)
      fmt::print(stderr, "warpwright: {}\n", written.error().Format());
  return done;
}

}  // namespace warpwright::cli
