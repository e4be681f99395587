#include "cli/nightly.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/machine_report.h"
#include "app/nightly.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/progress.h"
#include "cli/version.h"

namespace warpwright::cli {
namespace {

using nlohmann::json;

json CasesJson(const app::EntryNight& night) {
  json cases = json::array();
  for (const nights::NightTime& time : night.present) {
    json row = {{"name", time.name},       {"us", time.median_us},        {"spread", std::expm1(time.log_error)},
                {"samples", time.samples}, {"discarded", time.discarded}, {"mhz", time.mhz}};
    for (const nights::NightTime& then : night.reference)
      if (then.name == time.name) row["reference_us"] = then.median_us;
    cases.push_back(std::move(row));
  }
  return cases;
}

json ToJson(const app::EntryNight& night) {
  const nights::NightVerdict& verdict = night.outcome.verdict;
  if (!night.error.empty()) return {{"name", night.kernel}, {"state", "error"}, {"message", night.error}};
  return {{"name", night.kernel},
          {"state", Name(verdict.state)},
          {"message", verdict.message},
          {"finding", verdict.finding},
          {"reference", verdict.anchor_commit},
          {"ratio", std::exp(verdict.log_ratio)},
          {"ratio_low", std::exp(verdict.lower)},
          {"ratio_high", std::exp(verdict.upper)},
          {"cases", CasesJson(night)},
          {"notes", night.outcome.notes},
          {"warnings", night.warnings},
          {"comparisons", night.timings}};
}

json ToJson(const nights::Finding& f) {
  return {{"kernel", f.kernel},
          {"id", f.id},
          {"state", Name(f.state)},
          {"cause", Name(f.cause)},
          {"commit", f.commit},
          {"subject", f.subject},
          {"from", f.from},
          {"to", f.to},
          {"case", f.case_name},
          {"ratio", std::exp(f.log_ratio)},
          {"ratio_low", std::exp(f.lower)},
          {"ratio_high", std::exp(f.upper)},
          {"confirmed", f.confirmed},
          {"modelled", f.modelled},
          {"message", f.message},
          {"optimize", true}};
}

std::string Summary(const app::RepositoryNight& night) {
  if (night.entries.empty()) return "nightly runs are disabled in the manifest";
  const size_t errors = night.Errors(), timed = night.entries.size() - errors, slower = night.Reported().size();
  std::string text = fmt::format("{} {} timed", timed, timed == 1 ? "entry" : "entries");
  if (errors > 0) text += fmt::format(", {} failed", errors);
  return text + (slower == 0 ? ", no new regression" : fmt::format(", {} became slower", slower));
}

json ToJson(const app::RepositoryNight& night, const std::string& device, bool modelled, const std::string& time,
            const std::string& branch) {
  json kernels = json::array(), findings = json::array();
  for (const app::EntryNight& entry : night.entries) kernels.push_back(ToJson(entry));
  for (const nights::Finding& finding : night.Reported()) findings.push_back(ToJson(finding));
  const core::TaskOutcome outcome = !findings.empty()    ? core::TaskOutcome::kRegression
                                    : night.Errors() > 0 ? core::TaskOutcome::kError
                                                         : core::TaskOutcome::kChecked;
  return {{"device", device},
          {"chip", night.key.chip},
          {"driver", night.key.driver},
          {"toolkit", night.key.toolkit},
          {"modelled", modelled},
          {"commit", night.commit},
          {"time", time},
          {"outcome", Name(outcome)},
          {"message", Summary(night)},
          {"branch", branch},
          {"branch_commit", night.history_tip},
          {"kernels", kernels},
          {"findings", findings},
          {"experiences", night.experiences}};
}

void Print(const app::RepositoryNight& night, bool modelled) {
  for (const app::EntryNight& entry : night.entries)
    fmt::print("{:20} {:8} {}\n", base::Printable(entry.kernel),
               entry.error.empty() ? Name(entry.outcome.verdict.state) : "error",
               base::Printable(entry.error.empty() ? entry.outcome.verdict.message : entry.error));
  for (const nights::Finding& finding : night.Reported())
    fmt::print("\n{}: regression ({}): {}{}\n", base::Printable(finding.kernel), Name(finding.cause),
               base::Printable(finding.message),
               finding.subject.empty()
                   ? ""
                   : fmt::format("\n  {} {}{}", finding.commit.substr(0, 12), base::Printable(finding.subject),
                                 finding.confirmed ? "" : " (uncertain)"));
  for (const app::EntryNight& entry : night.entries) {
    for (const auto& note : entry.outcome.notes)
      fmt::print("{}: {}\n", base::Printable(entry.kernel), base::Printable(note));
    for (const auto& warning : entry.warnings) fmt::print(stderr, "warpwright: {}\n", base::Printable(warning));
  }
  fmt::print("\n{}.{}\n", Summary(night), modelled && !night.entries.empty() ? " Times are modelled (simulated)." : "");
}

std::string DriverRelease(const CommonOptions& options) {
  const auto done = QueryMachine(options, {"--doctor", options.device});
  const core::Machine machine = done ? app::ReadMachineReport(done->out).machine : core::Machine();
  return machine.nvml ? machine.nvml->driver_release : std::string();
}

// A requested folder, else a branch, whose name is stored in `branch`.
Result<std::unique_ptr<nights::HistoryStore>> OpenHistory(const NightlyOptions& options, repo::Repository& repository,
                                                          const core::Manifest& manifest, std::string& branch) {
  if (!options.history.empty()) return std::make_unique<nights::DirectoryHistory>(options.history);
  WW_ASSIGN(const repo::Signature author, app::AuthorOf(repository, options.author));
  branch = options.history_branch.empty() ? manifest.nightly.branch : options.history_branch;
  return std::make_unique<nights::BranchHistory>(repository, branch, author);
}

// Optimizes what became slower, as `warpwright optimize` does.
Result<int> OptimizeSlower(const NightlyOptions& options, const std::string& commit,
                           const std::vector<nights::Finding>& reported) {
  OptimizeOptions optimize;
  optimize.common = options.common;
  optimize.common.kernels.clear();
  for (const nights::Finding& finding : reported)
    if (std::find(optimize.common.kernels.begin(), optimize.common.kernels.end(), finding.kernel) ==
        optimize.common.kernels.end())
      optimize.common.kernels.push_back(finding.kernel);
  optimize.revision = commit;
  optimize.author = options.author;
  return RunOptimize(optimize);
}

}  // namespace

std::string_view Name(NightlyFailOn fail_on) {
  switch (fail_on) {
    case NightlyFailOn::kNone: return "none";
    case NightlyFailOn::kRegression: return "regression";
  }
  return "?";
}

Result<int> RunNightly(const NightlyOptions& options) {
  if (!options.history.empty() && !options.history_branch.empty())
    return Fail(ErrorCode::kUsage, "--history and --history-branch are mutually exclusive",
                "keep the history in one location");
  if (options.optimize && options.common.json)
    return Fail(ErrorCode::kUsage, "--optimize cannot be combined with --json",
                "the kernels are in findings[]: pass them to `warpwright optimize --kernel`");
  WW_ASSIGN(Session session, Session::Open(options.common));
  app::Workspace& workspace = session.workspace();
  worker::WorkerEvaluator worker = session.MakeWorker();
  Progress progress(options.common.quiet);
  std::string branch;
  const app::NightRequest request{.revision = options.revision,
                                  .time = base::FormatUtc(base::SystemClock().Now()),
                                  .version = kVersion,
                                  .pages = options.pages,
                                  .merge = {options.merge.begin(), options.merge.end()}};
  const app::NightServices services{.worker = Restartable(worker),
                                    .toolchain = session.Toolchain(),
                                    .history =
                                        [&](const core::Manifest& manifest) {
                                          return OpenHistory(options, workspace.repository(), manifest, branch);
                                        },
                                    .driver_release = [&] { return DriverRelease(options.common); },
                                    .progress = progress.Callbacks()};
  WW_ASSIGN(const app::RepositoryNight night, app::RunNight(workspace, request, services));
  for (const auto& warning : night.merge_warnings) fmt::print(stderr, "warpwright: {}\n", base::Printable(warning));
  const bool modelled = !workspace.device().gpu;
  if (options.common.json)
    std::puts(base::DumpJson(ToJson(night, options.common.device, modelled, request.time, branch), 2).c_str());
  else Print(night, modelled);
  const std::vector<nights::Finding> reported = night.Reported();
  int exit_code = kExitDone;
  if (options.optimize && !reported.empty()) {
    WW_ASSIGN(exit_code, OptimizeSlower(options, night.commit, reported));
  }
  if (!reported.empty() && options.fail_on == NightlyFailOn::kRegression) return kExitUnverified;
  return night.Errors() > 0 ? kExitEnvironment : exit_code;
}

}  // namespace warpwright::cli
