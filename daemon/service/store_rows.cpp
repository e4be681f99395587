// Rows as values.
#include <fmt/format.h>

#include "base/fields.h"
#include "base/utf8.h"
#include "service/store_state.h"

namespace warpwright::service {

UnixMs Store::State::Now() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock.Now().time_since_epoch()).count();
}
std::string Store::State::Today() const { return base::FormatUtc(clock.Now()).substr(0, 10); }

std::string FormatUnixMs(UnixMs time) {
  if (time == 0) return {};
  return base::FormatUtc(std::chrono::system_clock::time_point(
      std::chrono::duration_cast<std::chrono::system_clock::duration>(std::chrono::milliseconds(time))));
}

std::string Bounded(std::string_view text, size_t bytes) { return std::string(base::CutAtCharacter(text, bytes)); }

namespace {

bool ReadOutcome(const std::string& stored, std::optional<core::TaskOutcome>& outcome) {
  outcome = base::ParseName<core::TaskOutcome>(stored);
  return outcome || stored.empty();
}

}  // namespace

const char Store::State::kJobColumns[] =
    "id, repository, ref, commit_id, kind, kernel, file, entry, content_key, file_hash, priority, state, again, "
    "attempts, publish_attempts, not_before, "
    "device, note, outcome, result_outcome, result_message, branch, branch_commit, gain, gain_low, gain_high, "
    "modelled, rounds, evaluations, seconds, task, "
    "pull_request, pull_request_url, answer_issue, answer_comment, queued, started, finished";

Result<std::vector<Job>> Store::State::ReadJobs(SQLite::Statement rows) {
  std::vector<Job> jobs;
  while (rows.executeStep()) {
    int column = 0;
    const auto text = [&] { return rows.getColumn(column++).getString(); };
    const auto number = [&] { return rows.getColumn(column++).getInt64(); };
    const auto real = [&] { return rows.getColumn(column++).getDouble(); };
    Job job;
    job.id = number();
    job.repository = text();
    job.ref = text();
    job.commit = text();
    const auto kind = base::ParseName<JobKind>(text());
    job.what.kernel = text();
    job.what.file = text();
    job.what.entry = text();
    job.what.key = text();
    job.what.file_hash = text();
    job.priority = static_cast<JobPriority>(number());
    const auto state = base::ParseName<JobState>(text());
    if (!kind || !state) return Fail(ErrorCode::kCorrupt, fmt::format("job {} has an unknown kind or state", job.id));
    job.what.kind = *kind;
    job.state = *state;
    job.again = number() != 0;
    job.attempts = static_cast<int>(number());
    job.publish_attempts = static_cast<int>(number());
    job.not_before = number();
    job.device = text();
    job.note = text();
    if (!ReadOutcome(text(), job.outcome) || !ReadOutcome(text(), job.result.outcome))
      return Fail(ErrorCode::kCorrupt, fmt::format("job {} has an outcome that is unknown", job.id));
    job.result.message = text();
    job.result.branch = text();
    job.result.branch_commit = text();
    job.result.gain = real();
    job.result.gain_low = real();
    job.result.gain_high = real();
    job.result.modelled = number() != 0;
    job.result.rounds = static_cast<int>(number());
    job.result.evaluations = static_cast<int>(number());
    job.result.seconds = real();
    job.result.trajectory_task = number();
    job.pull_request = number();
    job.pull_request_url = text();
    job.answer_issue = number();
    job.answer_comment = number();
    job.queued = number();
    job.started = number();
    job.finished = number();
    jobs.push_back(std::move(job));
  }
  return jobs;
}

Result<Job> Store::State::LoadJob(int64_t id) {
  WW_ASSIGN(auto jobs, LoadJobs("WHERE id = ?", id));
  if (jobs.empty()) return Fail(ErrorCode::kUsage, fmt::format("job {} does not exist", id));
  return std::move(jobs.front());
}

void Store::State::Add(const std::string& counter, const std::string& label, double amount) {
  Do("INSERT INTO counters VALUES(?, ?, ?) ON CONFLICT DO UPDATE SET amount = amount + excluded.amount", counter,
     Bounded(label, 200), amount);
}

void Store::State::TouchDashboard(const std::string& repository) {
  Do("UPDATE repositories SET dashboard_mark = dashboard_mark + 1 WHERE name = ?", repository);
}

}  // namespace warpwright::service
