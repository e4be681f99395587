// Repositories, branches, and how branch moves become jobs.
#include <fmt/format.h>

#include <algorithm>

#include "service/store_state.h"

namespace warpwright::service {
namespace {

constexpr int64_t kFirstRetryMs = 5'000, kLastRetryMs = 900'000;

int64_t RetryAfter(int attempts) { return std::min(kLastRetryMs, kFirstRetryMs << std::min(attempts, 10)); }

constexpr char kEventColumns[] =
    "id, repository, ref, from_commit, to_commit, kernel, priority, again, answer_issue, answer_comment, created, "
    "attempts, error";

Event ReadEvent(const SQLite::Statement& rows) {
  Event e;
  e.id = rows.getColumn(0).getInt64();
  e.repository = rows.getColumn(1).getString();
  e.ref = rows.getColumn(2).getString();
  e.from = rows.getColumn(3).getString();
  e.to = rows.getColumn(4).getString();
  e.kernel = rows.getColumn(5).getString();
  e.priority = static_cast<JobPriority>(rows.getColumn(6).getInt64());
  e.again = rows.getColumn(7).getInt64() != 0;
  e.answer_issue = rows.getColumn(8).getInt64();
  e.answer_comment = rows.getColumn(9).getInt64();
  e.created = rows.getColumn(10).getInt64();
  e.attempts = rows.getColumn(11).getInt();
  e.error = rows.getColumn(12).getString();
  return e;
}

}  // namespace

Status Store::Watch(const std::string& repository, const std::string& url) {
  return state_->Write([&] {
    state_->Do(
        "INSERT INTO repositories(name, url) VALUES(?, ?) ON CONFLICT DO UPDATE SET url = excluded.url, watched = 1",
        repository, url);
  });
}

Status Store::Forget(const std::string& repository) {
  State& s = *state_;
  return s.Write([&]() -> Status {
    s.Do("UPDATE repositories SET watched = 0 WHERE name = ?", repository);
    s.Do("DELETE FROM events WHERE repository = ?", repository);
    s.Do("DELETE FROM tips WHERE repository = ?", repository);  // a repository added again starts over
    WW_ASSIGN(const auto jobs,
              s.LoadJobs("WHERE repository = ? AND state IN ('queued', 'failed', 'waiting', 'finished')", repository));
    JobChange change;
    change.note = "the repository is no longer in the configuration";
    for (const Job& job : jobs) WW_TRY(s.Move(job, JobState::kCancelled, change));
    return {};
  });
}

void Store::State::InsertEvent(const Event& event) {
  // An existing event keeps its `from`: that part of the range was not processed either.
  Do("INSERT INTO events(repository, ref, from_commit, to_commit, kernel, priority, again, answer_issue, "
     "answer_comment, created) "
     "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(repository, ref, kernel, priority, again) DO UPDATE SET "
     "to_commit = excluded.to_commit, "
     "not_before = 0, attempts = 0",
     event.repository, event.ref, event.from, event.to, event.kernel, event.priority, event.again, event.answer_issue,
     event.answer_comment, Now());
}

Result<int> Store::RecordTips(const std::string& repository, const std::map<std::string, std::string>& tips) {
  State& s = *state_;
  // Usually nothing moved; then nothing is written.
  WW_ASSIGN(const bool moved, s.Read([&] {
    const int64_t failed =
        s.Number("SELECT count(*) FROM repositories WHERE name = ? AND (last_error <> '' OR last_seen < ?)", repository,
                 s.Now() - 60'000);
    return failed > 0 || s.LoadTips(repository) != tips;
  }));
  if (!moved) return 0;
  return s.Write([&] {
    int events = 0;
    s.Do("UPDATE repositories SET last_seen = ?, last_error = '' WHERE name = ?", s.Now(), repository);
    s.Do("UPDATE tips SET gone = 1 WHERE repository = ?", repository);
    for (const auto& [ref, commit] : tips) {
      std::string before;
      if (SQLite::Statement rows =
              s.Ask("SELECT commit_id FROM tips WHERE repository = ? AND ref = ?", repository, ref);
          rows.executeStep())
        before = rows.getColumn(0).getString();
      s.Do("INSERT INTO tips VALUES(?, ?, ?, 0) ON CONFLICT DO UPDATE SET commit_id = excluded.commit_id, gone = 0",
           repository, ref, commit);
      if (before.empty() || before == commit) continue;
      Event event;
      event.repository = repository;
      event.ref = ref;
      event.from = before;
      event.to = commit;
      s.InsertEvent(event);
      ++events;
    }
    s.Do("DELETE FROM events WHERE repository = ? AND from_commit = to_commit", repository);  // moved there and back
    if (events > 0) s.Add("ref_moves_total", repository, events);
    return events;
  });
}

Status Store::RecordPollFailure(const std::string& repository, const std::string& error) {
  return state_->Write([&] {
    state_->Add("look_failures_total", repository, 1);
    state_->Do("UPDATE repositories SET last_error = ? WHERE name = ?", Bounded(error, kMaxNoteBytes), repository);
  });
}

std::map<std::string, std::string> Store::State::LoadTips(const std::string& repository) {
  std::map<std::string, std::string> tips;
  SQLite::Statement rows = Ask("SELECT ref, commit_id FROM tips WHERE repository = ? AND gone = 0", repository);
  while (rows.executeStep()) tips[rows.getColumn(0).getString()] = rows.getColumn(1).getString();
  return tips;
}

Result<std::map<std::string, std::string>> Store::Tips(const std::string& repository) {
  return state_->Read([&] { return state_->LoadTips(repository); });
}

Status Store::AddEvent(const Event& event) {
  return state_->Write([&] { state_->InsertEvent(event); });
}

Result<std::optional<Event>> Store::NextEvent() {
  State& s = *state_;
  return s.Read([&]() -> std::optional<Event> {
    if (s.WaitingJobs() >= s.limits.queue) return std::nullopt;
    SQLite::Statement rows = s.Ask(
        fmt::format("SELECT {} FROM events WHERE not_before <= ? ORDER BY priority DESC, id LIMIT 1", kEventColumns),
        s.Now());
    if (!rows.executeStep()) return std::nullopt;
    return ReadEvent(rows);
  });
}

namespace {

bool WasDone(const Job& job) { return job.state == JobState::kDone && job.result.outcome != core::TaskOutcome::kError; }

}  // namespace

Result<Detected> Store::FinishEvent(const Event& event, const std::vector<NewJob>& jobs) {
  State& s = *state_;
  return s.Write([&]() -> Result<Detected> {
    Detected detected;
    for (const NewJob& job : jobs) {
      WW_ASSIGN(const bool fits, s.MakeJob(event, job, detected));
      if (!fits) detected.all = false;
    }
    s.Add("entries_total", "queued", detected.queued);
    s.Add("entries_total", "repeated", detected.repeated);
    s.Add("entries_total", "ignored", detected.ignored);
    s.TouchDashboard(event.repository);
    if (!detected.all) {
      s.Do("UPDATE events SET error = 'the queue is full' WHERE id = ?", event.id);
      return detected;
    }
    s.Do("DELETE FROM events WHERE id = ? AND to_commit = ?", event.id, event.to);
    if (!event.from.empty()) s.Do("UPDATE events SET from_commit = ? WHERE id = ?", event.to, event.id);
    return detected;
  });
}

// Decides by what is known of the entry: nothing is done twice, and superseded work is not done at all.
Result<bool> Store::State::MakeJob(const Event& event, const NewJob& job, Detected& detected) {
  const bool asked = event.priority == JobPriority::kCommand;
  std::string ignored;
  if (SQLite::Statement rows =
          Ask("SELECT reason FROM ignored WHERE repository = ? AND kernel = ? AND (file_hash = '' OR file_hash = ?)",
              event.repository, job.kernel, job.file_hash);
      !asked && rows.executeStep()) {
    ignored = rows.getColumn(0).getString();
    if (ignored.empty()) ignored = "ignored by a user";
  }
  if (!ignored.empty()) return MakeIgnoredJob(event, job, ignored, detected);
  Do("DELETE FROM ignored WHERE repository = ? AND kernel = ?", event.repository, job.kernel);
  WW_ASSIGN(const auto before, LoadJobs("WHERE repository = ? AND kernel = ? AND kind = ? AND state NOT IN "
                                        "('superseded', 'cancelled') ORDER BY id DESC LIMIT 200",
                                        event.repository, job.kernel, job.kind));
  bool published_since = false;  // another version of the entry: then the branch no longer has the result for this one
  for (const Job& other : before) {
    if (other.what.key != job.key) {
      published_since |= other.state == JobState::kDone && other.result.outcome == core::TaskOutcome::kImproved;
      continue;
    }
    if (other.result.outcome == core::TaskOutcome::kIgnored) continue;  // it was skipped
    const bool active = !IsFinal(other.state);
    if (!active && (event.again || !WasDone(other) || published_since)) continue;
    if (active && event.again && other.state != JobState::kQueued && other.state != JobState::kRunning) continue;
    if (other.state == JobState::kQueued)
      Do("UPDATE jobs SET commit_id = ?, ref = ?, priority = max(priority, ?), again = max(again, ?), file_hash = ? "
         "WHERE id = ?",
         event.to, event.ref, event.priority, event.again, job.file_hash, other.id);
    if (active && event.answer_issue != 0)
      Do("UPDATE jobs SET answer_issue = ?, answer_comment = ? WHERE id = ?", event.answer_issue, event.answer_comment,
         other.id);
    ++detected.repeated;
    return true;
  }
  WW_TRY(Supersede(before, event, detected));
  WW_ASSIGN(const auto carries, LoadJobs("WHERE repository = ? AND kernel = ? AND kind = ? AND state NOT IN ('done', "
                                         "'superseded', 'cancelled') LIMIT 200",
                                         event.repository, job.kernel, JobKind::kCarry));
  WW_TRY(Supersede(carries, event, detected));
  if (WaitingJobs() >= limits.queue) return false;
  InsertJob(event, job, JobState::kQueued);
  ++detected.queued;
  return true;
}

Result<bool> Store::QueueCarry(const Event& event, const NewJob& job, int64_t published) {
  State& s = *state_;
  return s.Write([&]() -> Result<bool> {
    const int64_t busy_or_done = s.Number(
        "SELECT count(*) FROM jobs WHERE repository = ? AND kernel = ? AND (state NOT IN ('done', 'superseded', "
        "'cancelled') OR (kind = ? AND content_key = ? AND state = 'done'))",
        event.repository, job.kernel, job.kind, job.key);
    const int64_t later = s.Number(
        "SELECT count(*) FROM jobs WHERE repository = ? AND kernel = ? AND kind = 'optimize' AND id > ? AND state = "
        "'done' AND content_key <> (SELECT content_key FROM jobs WHERE repository = ? AND kernel = ? AND kind = "
        "'optimize' AND id <= ? ORDER BY id DESC LIMIT 1)",
        event.repository, job.kernel, published, event.repository, job.kernel, published);
    // Of a commit that nobody has looked into yet, it is not known whether the entry itself is another one.
    const int64_t unseen =
        s.Number("SELECT count(*) FROM events WHERE repository = ? AND ref = ?", event.repository, event.ref);
    if (busy_or_done > 0 || later > 0 || unseen > 0 || s.WaitingJobs() >= s.limits.queue) return false;
    s.InsertJob(event, job, JobState::kQueued);
    s.TouchDashboard(event.repository);
    return true;
  });
}

// No work, but a check on the commit that states why.
Result<bool> Store::State::MakeIgnoredJob(const Event& event, const NewJob& job, const std::string& reason,
                                          Detected& detected) {
  WW_ASSIGN(const auto before, LoadJobs("WHERE repository = ? AND kernel = ? AND kind = ? AND state NOT IN ('done', "
                                        "'superseded', 'cancelled') LIMIT 200",
                                        event.repository, job.kernel, job.kind));
  for (const Job& other : before)
    if (other.commit == event.to && other.result.outcome == core::TaskOutcome::kIgnored)
      return true;  // already reported
  WW_TRY(Supersede(before, event, detected));
  InsertJob(event, job, JobState::kFinished);
  Do("UPDATE jobs SET result_outcome = ?, result_message = ?, finished = queued WHERE id = ?",
     core::TaskOutcome::kIgnored, reason, db.getLastInsertRowid());
  ++detected.ignored;
  return true;
}

Status Store::State::Supersede(const std::vector<Job>& jobs, const Event& event, Detected& detected) {
  JobChange change;
  change.note = "the kernel changed again: " + event.to.substr(0, 12);
  for (const Job& job : jobs) {
    if (!MayFollow(job.state, JobState::kSuperseded)) continue;
    const auto moved = Move(job, JobState::kSuperseded, change);
    if (!moved) return Fail(moved.error());
    ++detected.superseded;
  }
  return {};
}

void Store::State::InsertJob(const Event& event, const NewJob& job, JobState state) {
  Do("INSERT INTO jobs(repository, ref, commit_id, kind, kernel, file, entry, content_key, file_hash, priority, state, "
     "again, answer_issue, answer_comment, queued) "
     "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
     event.repository, event.ref, event.to, job.kind, job.kernel, job.file, job.entry, job.key, job.file_hash,
     event.priority, state, event.again, event.answer_issue, event.answer_comment, Now());
}

Status Store::EventFailed(int64_t event, const std::string& error, int tries) {
  State& s = *state_;
  return s.Write([&] {
    const int64_t attempts = s.Number("SELECT attempts FROM events WHERE id = ?", event);
    if (attempts + 1 >= tries) {
      s.Add("events_dropped_total", "detection failed", 1);
      s.Do("DELETE FROM events WHERE id = ?", event);
      return;
    }
    s.Do("UPDATE events SET attempts = attempts + 1, error = ?, not_before = ? WHERE id = ?",
         Bounded(error, kMaxNoteBytes), s.Now() + RetryAfter(static_cast<int>(attempts)), event);
  });
}

}  // namespace warpwright::service
