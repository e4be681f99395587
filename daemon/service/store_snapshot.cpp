// The complete state as values, for the status page, /metrics and the dashboards.
#include <fmt/format.h>

#include <array>

#include "service/store_state.h"

namespace warpwright::service {
namespace {

constexpr int kEndedJobs = 200, kUnfinishedJobs = 2'000;

JobSnapshot ShowJob(const Job& job) {
  JobSnapshot shown;
  shown.id = job.id;
  shown.repository = job.repository;
  shown.kernel = job.what.kernel;
  shown.kind = job.what.kind;
  shown.phase = PhaseOf(job.state);
  shown.outcome = IsFinal(job.state) ? job.outcome : job.result.outcome;
  shown.message = !job.note.empty() ? job.note : job.result.message;
  shown.device = job.device;
  shown.commit = job.commit;
  shown.branch = job.result.branch;
  shown.pull_request_url = job.pull_request_url;
  shown.queued = FormatUnixMs(job.queued);
  shown.started = FormatUnixMs(job.started);
  shown.finished = FormatUnixMs(job.finished);
  shown.gain = job.result.gain;
  shown.gain_low = job.result.gain_low;
  shown.gain_high = job.result.gain_high;
  shown.modelled = job.result.modelled;
  shown.rounds = job.result.rounds;
  shown.evaluations = job.result.evaluations;
  shown.attempts = job.attempts;
  shown.seconds = job.result.seconds;
  shown.trajectory_task = job.result.trajectory_task;
  return shown;
}

}  // namespace

Status Store::State::ShowJobs(DaemonSnapshot& snapshot) {
  WW_ASSIGN(auto jobs, LoadJobs("WHERE state NOT IN ('done', 'superseded', 'cancelled') ORDER BY id DESC LIMIT ?",
                                kUnfinishedJobs));
  WW_ASSIGN(auto ended,
            LoadJobs("WHERE state IN ('done', 'superseded', 'cancelled') ORDER BY id DESC LIMIT ?", kEndedJobs));
  jobs.insert(jobs.end(), std::make_move_iterator(ended.begin()), std::make_move_iterator(ended.end()));
  for (const Job& job : jobs) {
    snapshot.jobs.push_back(ShowJob(job));
    const auto live = progress.find(job.id);
    if (live == progress.end()) continue;
    snapshot.jobs.back().progress = live->second.line;
    if (live->second.task != 0) snapshot.jobs.back().trajectory_task = live->second.task;
  }
  return {};
}

void Store::State::ShowRepositories(DaemonSnapshot& snapshot) {
  SQLite::Statement rows =
      Ask("SELECT name, url, last_seen, last_error FROM repositories WHERE watched = 1 ORDER BY name");
  while (rows.executeStep()) {
    RepositorySnapshot shown;
    shown.name = rows.getColumn(0).getString();
    shown.url = rows.getColumn(1).getString();
    shown.last_seen = FormatUnixMs(rows.getColumn(2).getInt64());
    shown.last_error = rows.getColumn(3).getString();
    const Usage usage = CountRequests(shown.name, "");
    shown.open_pull_requests = usage.open;
    shown.opened_today = usage.opened_today;
    if (const auto known = request_limits.find(shown.name); known != request_limits.end()) {
      shown.max_open = known->second.max_open;
      shown.max_per_day = known->second.max_per_day;
    }
    for (const auto& [ref, commit] : LoadTips(shown.name))
      shown.tips[ref.starts_with("refs/heads/") ? ref.substr(11) : ref] = commit;
    shown.spend = Spent(shown.name);
    SQLite::Statement kernels = Ask("SELECT kernel FROM ignored WHERE repository = ? ORDER BY kernel", shown.name);
    while (kernels.executeStep()) shown.ignored.push_back(kernels.getColumn(0).getString());
    snapshot.repositories.push_back(std::move(shown));
  }
}

void Store::State::ShowFigures(DaemonSnapshot& snapshot) {
  SQLite::Statement figures = Ask("SELECT name, label, amount FROM counters WHERE name <> 'probe'");
  while (figures.executeStep())
    snapshot.counters[figures.getColumn(0).getString()][figures.getColumn(1).getString()] =
        figures.getColumn(2).getDouble();
  const auto gauge = [&](const char* name, const char* sql) {
    snapshot.gauges[name] = static_cast<double>(Number(sql));
  };
  gauge("queue_depth", "SELECT count(*) FROM jobs WHERE state IN ('queued', 'failed')");
  gauge("jobs_running", "SELECT count(*) FROM jobs WHERE state = 'running'");
  gauge("jobs_publishing", "SELECT count(*) FROM jobs WHERE state IN ('finished', 'pushed', 'proposed', 'reported')");
  gauge("jobs_waiting", "SELECT count(*) FROM jobs WHERE state = 'waiting'");
  gauge("events_waiting", "SELECT count(*) FROM events");
  snapshot.gauges["deliveries_waiting"] = static_cast<double>(waiting_deliveries);
  const int64_t last = Number("SELECT max(finished) FROM jobs WHERE state = 'done' AND outcome <> 'error'");
  if (last > 0) snapshot.gauges["last_success_timestamp_seconds"] = static_cast<double>(last) / 1000;
  snapshot.spend = Spent("");
}

std::map<std::string, double> Store::State::Spent(const std::string& repository) {
  constexpr std::array<std::pair<const char*, const char*>, 5> kColumns = {{{"gpu_minutes", "gpu_minutes"},
                                                                            {"model_dollars", "model_dollars"},
                                                                            {"model_questions", "model_questions"},
                                                                            {"model_unknown_costs", "model_unknown"},
                                                                            {"model_gains", "model_gains"}}};
  std::map<std::string, double> spent;
  for (const auto& [name, column] : kColumns) {
    SQLite::Statement sums = Ask(fmt::format("SELECT coalesce(sum({0}), 0), coalesce(sum(CASE WHEN day = ? THEN {0} "
                                             "END), 0) FROM spend WHERE ? IN ('', repository)",
                                             column),
                                 Today(), repository);
    sums.executeStep();
    spent[fmt::format("{}_total", name)] = sums.getColumn(0).getDouble();
    spent[fmt::format("{}_today", name)] = sums.getColumn(1).getDouble();
  }
  return spent;
}

DaemonSnapshot Store::Snapshot() {
  State& s = *state_;
  const std::lock_guard guard(s.mutex);
  DaemonSnapshot snapshot;
  snapshot.now = base::FormatUtc(s.clock.Now());
  for (const Status& shown : {memory::Guarded(s.db, [&] { return s.ShowJobs(snapshot); }),
                              memory::Guarded(s.db, [&] { s.ShowRepositories(snapshot); }),
                              memory::Guarded(s.db, [&] { s.ShowFigures(snapshot); })})
    if (!shown) snapshot.not_ready.push_back("the state cannot be read: " + shown.error().message);
  return snapshot;
}

}  // namespace warpwright::service
