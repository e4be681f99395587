// Jobs: leases and changes of state.
#include <fmt/format.h>

#include <algorithm>

#include "service/store_state.h"

namespace warpwright::service {
namespace {

constexpr int64_t kFirstJobRetryMs = 30'000, kFirstPublishRetryMs = 1'000, kLastJobRetryMs = 900'000;

}  // namespace

Result<Job> Store::FindJob(int64_t id) {
  return state_->Read([&] { return state_->LoadJob(id); });
}

Result<std::optional<Job>> Store::LatestJob(const std::string& repository, const std::string& kernel) {
  WW_ASSIGN(auto jobs, state_->Read([&] {
    return state_->LoadJobs("WHERE repository = ? AND kernel = ? AND kind = 'optimize' ORDER BY id DESC LIMIT 1",
                            repository, kernel);
  }));
  if (jobs.empty()) return std::optional<Job>();
  return std::optional<Job>(std::move(jobs.front()));
}

Result<std::vector<Job>> Store::JobsAskedBy(const std::string& repository, int64_t comment) {
  return state_->Read([&] {
    return state_->LoadJobs("WHERE repository = ? AND answer_comment = ? ORDER BY id LIMIT 100", repository, comment);
  });
}

// The only function that writes a job's state.
Result<Job> Store::State::Move(const Job& job, JobState to, const JobChange& change) {
  if (!MayFollow(job.state, to))
    return Fail(ErrorCode::kUnsupported,
                fmt::format("job {} cannot become {}: it is {}", job.id, Name(to), Name(job.state)));
  const UnixMs now = Now();
  const bool starts = to == JobState::kRunning;
  Do("UPDATE jobs SET state = ?, not_before = ?, publish_attempts = 0 WHERE id = ?", to, change.not_before.value_or(0),
     job.id);
  if (starts) Do("UPDATE jobs SET started = ? WHERE id = ?", now, job.id);
  if (!starts)
    Do("UPDATE jobs SET device = CASE WHEN ? THEN '' ELSE device END WHERE id = ?", to == JobState::kQueued, job.id);
  if (change.failed_attempt) Do("UPDATE jobs SET attempts = attempts + 1 WHERE id = ?", job.id);
  if (change.note) Do("UPDATE jobs SET note = ? WHERE id = ?", Bounded(*change.note, kMaxNoteBytes), job.id);
  if (change.result) {
    const JobResult& r = *change.result;
    Do("UPDATE jobs SET result_outcome = ?, result_message = ?, branch = ?, branch_commit = ?, gain = ?, gain_low = ?, "
       "gain_high = ?, modelled = ?, "
       "rounds = ?, evaluations = ?, seconds = ?, task = ? WHERE id = ?",
       r.outcome, Bounded(r.message, kMaxNoteBytes), r.branch, r.branch_commit, r.gain, r.gain_low, r.gain_high,
       r.modelled, r.rounds, r.evaluations, r.seconds, r.trajectory_task, job.id);
  }
  if (job.state == JobState::kRunning)
    Add("job_seconds_total", std::string(Name(job.what.kind)), static_cast<double>(now - job.started) / 1000);
  if (to == JobState::kFinished && job.state == JobState::kRunning)
    Do("UPDATE jobs SET finished = ? WHERE id = ?", now, job.id);
  if (change.publication) {
    PutPublicationRow(*change.publication);
    Do("UPDATE jobs SET pull_request = ?, pull_request_url = ? WHERE id = ?", change.publication->pull_request,
       change.publication->url, job.id);
  }
  if (change.ignored) PutIgnored(*change.ignored);
  if (IsFinal(to)) {
    std::optional<core::TaskOutcome> outcome = change.outcome  ? change.outcome
                                               : change.result ? change.result->outcome
                                                               : job.result.outcome;
    if (to == JobState::kSuperseded) outcome = core::TaskOutcome::kSuperseded;
    if (to == JobState::kCancelled) outcome = core::TaskOutcome::kCancelled;
    Do("UPDATE jobs SET outcome = ?, finished = CASE WHEN finished = 0 THEN ? ELSE finished END WHERE id = ?", outcome,
       now, job.id);
    Add("jobs_total", outcome ? std::string(Name(*outcome)) : std::string(), 1);
  } else if (change.outcome) {
    Do("UPDATE jobs SET outcome = ? WHERE id = ?", *change.outcome, job.id);
  }
  if (job.state == JobState::kRunning) progress.erase(job.id);
  TouchDashboard(job.repository);
  return LoadJob(job.id);
}

Result<Job> Store::Advance(int64_t id, JobState to, const JobChange& change) {
  return state_->Write([&]() -> Result<Job> {
    WW_ASSIGN(const Job job, state_->LoadJob(id));
    JobChange full = change;
    if (to == JobState::kFailed && !change.not_before)
      full.not_before = state_->Now() + std::min(kLastJobRetryMs, kFirstJobRetryMs << std::min(2 * job.attempts, 10));
    return state_->Move(job, to, full);
  });
}

Result<std::optional<Job>> Store::Lease(const std::string& device) {
  State& s = *state_;
  const UnixMs now = s.Now();
  WW_ASSIGN(const int64_t due, s.Read([&] {  // usually there is nothing to do; then nothing is written
    return s.Number("SELECT count(*) FROM jobs WHERE state IN ('queued', 'failed') AND not_before <= ?", now);
  }));
  if (due == 0) return std::optional<Job>();
  return s.Write([&]() -> Result<std::optional<Job>> {
    WW_ASSIGN(const auto again, s.LoadJobs("WHERE state = 'failed' AND not_before <= ?", now));
    for (const Job& job : again) WW_TRY(s.Move(job, JobState::kQueued, {}));
    WW_ASSIGN(const auto next, s.LoadJobs("WHERE id = (SELECT j.id FROM jobs j JOIN repositories r ON r.name = "
                                          "j.repository WHERE j.state = 'queued' AND j.not_before <= ? AND NOT EXISTS "
                                          "(SELECT 1 FROM jobs k WHERE k.state = 'running' AND (k.device = ? OR "
                                          "(k.repository = j.repository AND k.kernel = j.kernel))) "
                                          "ORDER BY j.priority DESC, r.served, j.id LIMIT 1)",
                                          now, device));
    if (next.empty()) return std::optional<Job>();
    s.Do("UPDATE jobs SET device = ? WHERE id = ?", device, next.front().id);
    const int64_t last = s.Number("SELECT max(served) FROM repositories");
    s.Do("UPDATE repositories SET served = ? WHERE name = ?", last + 1, next.front().repository);
    WW_ASSIGN(Job job, s.Move(next.front(), JobState::kRunning, {}));
    return std::optional<Job>(std::move(job));
  });
}

Status Store::ClearRerunFlag(int64_t job) {
  return state_->Write([&] { state_->Do("UPDATE jobs SET again = 0 WHERE id = ?", job); });
}

Status Store::PublishFailed(int64_t id, const std::string& error) {
  State& s = *state_;
  return s.Write([&]() -> Status {
    WW_ASSIGN(const Job job, s.LoadJob(id));
    s.Add("publish_failures_total", job.repository, 1);
    s.Do("UPDATE jobs SET publish_attempts = publish_attempts + 1, note = ?, not_before = ? WHERE id = ?",
         Bounded(error, kMaxNoteBytes),
         s.Now() + std::min(kLastJobRetryMs, kFirstPublishRetryMs << std::min(job.publish_attempts, 10)), id);
    return {};
  });
}

// Waiting jobs continue if the known limits leave room.
Result<std::optional<Job>> Store::NextPublication() {
  State& s = *state_;
  const UnixMs now = s.Now();
  WW_ASSIGN(std::optional<Job> next, s.Read([&]() -> Result<std::optional<Job>> {
    WW_ASSIGN(auto due, s.LoadJobs("WHERE state IN ('finished', 'pushed', 'proposed', 'reported') AND not_before <= ? "
                                   "ORDER BY not_before, id LIMIT 1",
                                   now));
    if (!due.empty()) return std::optional<Job>(std::move(due.front()));
    WW_ASSIGN(const auto held, s.LoadJobs("WHERE state = 'waiting' AND not_before <= ? ORDER BY id", now));
    std::map<std::string, bool> room;
    for (const Job& job : held) {
      if (room.count(job.repository) == 0) {
        const Usage usage = s.CountRequests(job.repository, "");
        const auto limits = s.request_limits.find(job.repository);
        room[job.repository] = limits == s.request_limits.end() || (usage.open < limits->second.max_open &&
                                                                    usage.opened_today < limits->second.max_per_day);
      }
      if (room[job.repository]) return std::optional<Job>(job);
    }
    return std::optional<Job>();
  }));
  if (!next || next->state != JobState::kWaiting) return next;
  WW_ASSIGN(Job job, Advance(next->id, JobState::kFinished));
  return std::optional<Job>(std::move(job));
}

Result<bool> Store::IsOutdated(const Job& job) {
  return state_->Read([&] {
    return state_->Number(
               "SELECT count(*) FROM jobs WHERE repository = ? AND kernel = ? AND kind IN (?, 'optimize') AND id > ? "
               "AND state NOT IN ('cancelled', 'superseded')",
               job.repository, job.what.kernel, job.what.kind, job.id) > 0;
  });
}

Result<std::vector<int64_t>> Store::Cancel(const std::string& repository, const std::string& kernel,
                                           const std::string& why) {
  State& s = *state_;
  return s.Write([&]() -> Result<std::vector<int64_t>> {
    std::vector<int64_t> running;
    s.Do("DELETE FROM events WHERE repository = ? AND (? = '' OR kernel = ?) AND priority = ?", repository, kernel,
         kernel, JobPriority::kCommand);
    WW_ASSIGN(const auto jobs, s.LoadJobs("WHERE repository = ? AND (? = '' OR kernel = ?) AND state IN ('queued', "
                                          "'running', 'finished', 'waiting', 'failed')",
                                          repository, kernel, kernel));
    for (const Job& job : jobs) {
      if (job.state == JobState::kRunning) running.push_back(job.id);
      JobChange change;
      change.note = why;
      WW_TRY(s.Move(job, JobState::kCancelled, change));
    }
    return running;
  });
}

void Store::SetProgress(int64_t job, std::string line, int64_t task) {
  const std::lock_guard guard(state_->mutex);
  auto& progress = state_->progress[job];
  if (!line.empty()) progress.line = std::move(line);
  if (task != 0) progress.task = task;
}

}  // namespace warpwright::service
