#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/task_explanation.h"
#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/named_paths.h"
#include "cli/progress.h"
#include "cli/version.h"
#include "report/format.h"

namespace warpwright::cli {
namespace {

using nlohmann::json;

json ToJson(const report::Explanation& e) {
  json cases = json::array(), attempts = json::array();
  for (const auto& c : e.cases)
    cases.push_back({{"case", c.name}, {"before_us", c.before_us}, {"after_us", c.after_us}, {"sampled", c.sampled}});
  for (const auto& a : e.attempts)
    attempts.push_back({{"round", a.round == report::kNoRound ? json() : json(a.round)},
                        {"candidate", a.id},
                        {"parent", a.parent},
                        {"method", a.method},
                        {"parameters", a.parameters},
                        {"outcome", Name(a.outcome)},
                        {"message", a.message},
                        {"gain", a.gain ? json(*a.gain) : json(nullptr)},
                        {"accepted", a.accepted},
                        {"agent", a.agent},
                        {"question", a.question}});
  json computes = nullptr;
  if (e.computes && !e.computes->why_not.empty()) computes = {{"why_not", e.computes->why_not}};
  else if (e.computes)
    computes = {{"headline", e.computes->headline},
                {"text", e.computes->text},
                {"assumptions", e.computes->assumptions},
                {"evidence", e.computes->evidence}};
  return {{"computes", computes},   {"kernel", e.kernel},         {"device", e.device},
          {"modelled", e.modelled}, {"outcome", Name(e.outcome)}, {"reason", e.outcome_reason},
          {"gain", e.gain},         {"rounds", e.counts.rounds},  {"evaluations", e.counts.evaluations},
          {"cases", cases},         {"plans", e.plans},           {"attempts", attempts},
          {"checks", e.checks}};
}

void List(const std::vector<memory::TaskSummary>& tasks, bool as_json) {
  json list = json::array();
  for (const auto& task : tasks) {
    const core::TaskOutcome outcome = task.result ? task.result->outcome : core::TaskOutcome::kUnfinished;
    const double gain = task.result ? task.result->gain : 1;
    list.push_back({{"task", task.id},
                    {"kernel", task.key.kernel},
                    {"device", task.key.device},
                    {"outcome", Name(outcome)},
                    {"gain", gain},
                    {"started", task.started},
                    {"rounds", task.counts.rounds},
                    {"attempts", task.counts.attempts},
                    {"evaluations", task.counts.evaluations}});
    if (!as_json)
      fmt::print("{:5}  {:24} {:12} {:11} {:>8}  {}, started {}\n", task.id, base::Printable(task.key.kernel),
                 task.key.device, Name(outcome),
                 outcome == core::TaskOutcome::kImproved ? report::FormatGain(gain) : "", report::Effort(task.counts),
                 task.started);
  }
  if (as_json) std::puts(json({{"tasks", list}}).dump(2).c_str());
  else if (tasks.empty()) fmt::print("Nothing was optimized here yet.\n");
}

}  // namespace

std::string_view Name(ShowFormat format) {
  switch (format) {
    case ShowFormat::kText: return "text";
    case ShowFormat::kMarkdown: return "markdown";
    case ShowFormat::kHtml: return "html";
    case ShowFormat::kJson: return "json";
    case ShowFormat::kPullRequest: return "pull_request";
  }
  return "?";
}

Result<int> RunShow(const ShowOptions& options) {
  WW_TRY(CheckNamedOutput("--output", options.output));
  CommonOptions common = options.common;
  const std::vector<std::string> kernels = common.kernels;
  common.kernels.clear();  // a kernel that was removed from the manifest can still be shown
  WW_ASSIGN(const Session session, Session::Open(common));
  WW_ASSIGN(memory::Trajectory trajectory, session.workspace().OpenTrajectory());
  WW_ASSIGN(auto tasks, trajectory.Tasks());
  if (!kernels.empty())
    std::erase_if(tasks, [&](const memory::TaskSummary& t) {
      return std::find(kernels.begin(), kernels.end(), t.key.kernel) == kernels.end();
    });
  if (options.task == 0 && kernels.empty()) {
    List(tasks, common.json || options.format == ShowFormat::kJson);
    return kExitDone;
  }
  if (options.task != 0) std::erase_if(tasks, [&](const memory::TaskSummary& t) { return t.id != options.task; });
  if (tasks.empty())
    return Fail(ErrorCode::kUsage,
                kernels.empty() ? fmt::format("there is no task {}", options.task)
                                : fmt::format("nothing was optimized yet of {}", fmt::join(kernels, ", ")),
                "`warpwright show` lists what was");

  WW_ASSIGN(const memory::TrajectoryView view, trajectory.View(tasks.front().id));
  const report::Explanation explanation = app::ExplainTask(session.workspace(), view, session.Toolchain(), kVersion);
  std::string text;
  if (common.json || options.format == ShowFormat::kJson) text = base::DumpJson(ToJson(explanation), 2) + "\n";
  else if (options.format == ShowFormat::kHtml) text = report::RenderHtml(explanation);
  else if (options.format == ShowFormat::kPullRequest)
    text = app::ProposedText(session.workspace().repository(), explanation);
  else if (options.format == ShowFormat::kMarkdown) text = report::RenderMarkdown(explanation);
  else text = report::RenderText(explanation, options.output.empty() ? TextColumns() : kTextColumns);
  if (options.output.empty()) {
    std::fputs(text.c_str(), stdout);
  } else {
    WW_TRY(base::WriteFileAtomically(options.output, text));
    fmt::print("Wrote {}\n", options.output);
  }
  return kExitDone;
}

}  // namespace warpwright::cli
