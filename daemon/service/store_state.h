// Inside the store: its state, and how its parts read and write rows. Included by store*.cpp only.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/fd.h"
#include "memory/sqlite.h"
#include "service/store.h"

namespace warpwright {

struct Store::State {
  State(const Clock& c, StoreLimits l, Sqlite d, Sqlite second, Fd held)
      : clock(c), limits(l), db(std::move(d)), checkpoint_db(std::move(second)), lock(std::move(held)) {}

  struct Progress {
    std::string line;
    int64_t task = 0;
  };
  struct PullRequestLimits {
    int max_open = 0, max_per_day = 0;
  };

  const Clock& clock;
  StoreLimits limits;
  std::mutex mutex;             // of everything but checkpoint_db
  Sqlite db;
  std::mutex checkpoint_mutex;
  Sqlite checkpoint_db;
  Fd lock;
  std::function<void()> on_commit;
  std::map<int64_t, Progress> progress;                    // of running jobs
  std::map<std::string, PullRequestLimits> request_limits; // by repository
  // Sums of what waits, so that accepting a delivery needs no scan.
  int64_t waiting_deliveries = 0, waiting_delivery_bytes = 0;

  UnixMs Now() const;
  std::string Today() const;  // "2026-11-21", UTC

  // One transaction; `act` is called under the mutex and answers a Status or Result. Nothing is kept where it answers an Error.
  template <typename Act>
  auto Write(Act&& act) -> decltype(act()) {
    const std::lock_guard guard(mutex);
    WW_ASSIGN(auto transaction, SqliteTransaction::Begin(db));
    auto done = act();
    if (!done) return done;
    WW_TRY(transaction.Commit());
    if (on_commit) on_commit();
    return done;
  }

  // The following are called within Write, or under the mutex.
  template <typename... Values>
  Status Do(std::string_view sql, const Values&... values) {
    WW_ASSIGN(SqliteRows rows, Ask(sql, values...));
    return rows.Run();
  }
  template <typename... Values>
  Result<SqliteRows> Ask(std::string_view sql, const Values&... values) {
    WW_ASSIGN(SqliteRows rows, db.Prepare(sql));
    (BindOne(rows, values), ...);
    return rows;
  }
  // The first column of the first row; 0 where there is none.
  template <typename... Values>
  Result<int64_t> Number(std::string_view sql, const Values&... values) {
    WW_ASSIGN(SqliteRows rows, Ask(sql, values...));
    WW_ASSIGN(const bool found, rows.Next());
    return found ? rows.Integer(0) : 0;
  }

  Result<bool> EndDelivery(const std::string& id, const std::string& outcome, int64_t bytes);
  Result<Job> LoadJob(int64_t id);
  // All jobs that `rest` (WHERE ... ORDER BY ... LIMIT ...) selects from jobs.
  template <typename... Values>
  Result<std::vector<Job>> LoadJobs(std::string_view rest, const Values&... values) {
    WW_ASSIGN(SqliteRows rows, Ask(std::string("SELECT ") + kJobColumns + " FROM jobs " + std::string(rest), values...));
    return ReadJobs(rows);
  }
  Result<Job> Move(const Job& job, JobState to, const JobChange& change);
  Status InsertEvent(const Event& event);
  Result<bool> MakeJob(const Event& event, const NewJob& job, Detected& detected);  // false: the queue is full
  Result<bool> MakeIgnoredJob(const Event& event, const NewJob& job, const std::string& reason, Detected& detected);
  Status InsertJob(const Event& event, const NewJob& job, JobState state);
  Status Supersede(const std::vector<Job>& jobs, const Event& event, Detected& detected);  // those that may be
  Status PutPublicationRow(const PublicationRow& row);
  Status PutIgnored(const IgnoredKernel& kernel);
  Status Add(const std::string& counter, const std::string& label, double amount);
  Status TouchDashboard(const std::string& repository);
  Result<Store::Usage> CountRequests(const std::string& repository, const std::string& kernel);
  Status Resume();  // after a start
  Status ShowJobs(DaemonSnapshot& snapshot);
  Status ShowRepositories(DaemonSnapshot& snapshot);
  Status ShowFigures(DaemonSnapshot& snapshot);

 private:
  static const char kJobColumns[];
  static Result<std::vector<Job>> ReadJobs(SqliteRows& rows);
  static void BindOne(SqliteRows& rows, const std::string& text) { rows.Bind(text); }
  static void BindOne(SqliteRows& rows, std::string_view text) { rows.Bind(text); }
  static void BindOne(SqliteRows& rows, const char* text) { rows.Bind(std::string_view(text)); }
  static void BindOne(SqliteRows& rows, int64_t value) { rows.Bind(value); }
  static void BindOne(SqliteRows& rows, int value) { rows.Bind(static_cast<int64_t>(value)); }
  static void BindOne(SqliteRows& rows, bool value) { rows.Bind(static_cast<int64_t>(value)); }
  static void BindOne(SqliteRows& rows, double value) { rows.BindReal(value); }
  static void BindOne(SqliteRows& rows, JobPriority value) { rows.Bind(static_cast<int64_t>(value)); }
  static void BindOne(SqliteRows& rows, JobState value) { rows.Bind(Name(value)); }
  static void BindOne(SqliteRows& rows, JobKind value) { rows.Bind(Name(value)); }
};

// "" for 0.
std::string FormatUnixMs(UnixMs time);
// At most `bytes`, cut at a character of UTF-8.
std::string Bounded(std::string_view text, size_t bytes);
inline constexpr size_t kMaxNoteBytes = 4000;
// Brings the schema of the database at `path` up to date; what it was stays beside it as PATH.schema-N.
Status MigrateWithCopy(Sqlite& db, const std::filesystem::path& path, std::span<const char* const> migrations);

}  // namespace warpwright
