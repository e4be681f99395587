// Internal to the store: its state, and how its parts read and write rows. Included by store*.cpp only.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "base/fd.h"
#include "memory/sqlite.h"
#include "service/store.h"

namespace warpwright::service {

struct Store::State {
  State(const base::Clock& c, StoreLimits l, SQLite::Database d, SQLite::Database second, base::Fd held)
      : clock(c), limits(l), db(std::move(d)), checkpoint_db(std::move(second)), lock(std::move(held)) {}

  struct Progress {
    std::string line;
    int64_t task = 0;
  };
  struct PullRequestLimits {
    int max_open = 0, max_per_day = 0;
  };

  const base::Clock& clock;
  StoreLimits limits;
  std::mutex mutex;  // protects everything but checkpoint_db
  SQLite::Database db;
  std::mutex checkpoint_mutex;
  SQLite::Database checkpoint_db;
  base::Fd lock;
  std::function<void()> on_commit;
  std::map<int64_t, Progress> progress;                     // of running jobs
  std::map<std::string, PullRequestLimits> request_limits;  // by repository
  // Totals of waiting deliveries, so that accepting one needs no scan.
  int64_t waiting_deliveries = 0, waiting_delivery_bytes = 0;

  UnixMs Now() const;
  std::string Today() const;  // "2026-11-21", UTC

  // One transaction; `act` is called under the mutex and returns nothing, a value, a Status or a Result. It is rolled
  // back if `act` returns an Error or SQLite reports one.
  template <typename Act>
  auto Write(Act&& act) -> decltype(memory::InTransaction(db, act)) {
    const std::lock_guard guard(mutex);
    auto done = memory::InTransaction(db, act);
    if (done && on_commit) on_commit();
    return done;
  }
  // The same for readers.
  template <typename Act>
  auto Read(Act&& act) -> decltype(memory::Guarded(db, act)) {
    const std::lock_guard guard(mutex);
    return memory::Guarded(db, act);
  }

  // The following are called within Write or Read, which catch what SQLite throws in them.
  template <typename... Values>
  int Do(const std::string& sql, const Values&... values) {  // how many rows it changed
    return Ask(sql, values...).exec();
  }
  template <typename... Values>
  SQLite::Statement Ask(const std::string& sql, const Values&... values) {
    return memory::Prepare(db, sql, ForSql(values)...);
  }
  // The first column of the first row; 0 if there is none.
  template <typename... Values>
  int64_t Number(const std::string& sql, const Values&... values) {
    SQLite::Statement rows = Ask(sql, values...);
    return rows.executeStep() ? rows.getColumn(0).getInt64() : 0;
  }

  std::map<std::string, double> Spent(const std::string& repository);  // empty: of all
  int64_t WaitingJobs() { return Number("SELECT count(*) FROM jobs WHERE state IN ('queued', 'failed')"); }
  std::map<std::string, std::string> LoadTips(const std::string& repository);
  bool EndDelivery(const std::string& id, const std::string& outcome, int64_t bytes);
  Result<Job> LoadJob(int64_t id);
  // All jobs that `rest` (WHERE ... ORDER BY ... LIMIT ...) selects from jobs.
  template <typename... Values>
  Result<std::vector<Job>> LoadJobs(std::string_view rest, const Values&... values) {
    return ReadJobs(Ask(std::string("SELECT ") + kJobColumns + " FROM jobs " + std::string(rest), values...));
  }
  Result<Job> Move(const Job& job, JobState to, const JobChange& change);
  void InsertEvent(const Event& event);
  Result<bool> MakeJob(const Event& event, const NewJob& job, Detected& detected);  // false: the queue is full
  Result<bool> MakeIgnoredJob(const Event& event, const NewJob& job, const std::string& reason, Detected& detected);
  void InsertJob(const Event& event, const NewJob& job, JobState state);
  Status Supersede(const std::vector<Job>& jobs, const Event& event,
                   Detected& detected);  // those that may be superseded
  void PutPublicationRow(const PublicationRow& row);
  void PutProposal(const PublicationRow& row);
  void SetMerged(const std::string& repository, int64_t pull_request);
  void PutIgnored(const IgnoredKernel& kernel);
  void Add(const std::string& counter, const std::string& label, double amount);
  void TouchDashboard(const std::string& repository);
  Store::Usage CountRequests(const std::string& repository, const std::string& kernel);
  Status Resume();  // after a start
  Status ShowJobs(DaemonSnapshot& snapshot);
  void ShowRepositories(DaemonSnapshot& snapshot);
  void ShowFigures(DaemonSnapshot& snapshot);

 private:
  static const char kJobColumns[];
  static Result<std::vector<Job>> ReadJobs(SQLite::Statement rows);
  // Types that SQLite does not have.
  template <typename T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  static T ForSql(T value) {
    return value;
  }
  static std::string ForSql(std::string_view text) { return std::string(text); }
  static int ForSql(JobPriority value) { return static_cast<int>(value); }
  static std::string ForSql(JobState value) { return std::string(Name(value)); }
  static std::string ForSql(JobKind value) { return std::string(Name(value)); }
  static std::string ForSql(PublicationState value) { return std::string(Name(value)); }
  static std::string ForSql(core::TaskOutcome value) { return std::string(Name(value)); }
  static std::string ForSql(std::optional<core::TaskOutcome> value) { return value ? ForSql(*value) : std::string(); }
};

// "" for 0.
std::string FormatUnixMs(UnixMs time);
// At most `bytes`, cut at a UTF-8 character boundary.
std::string Bounded(std::string_view text, size_t bytes);
inline constexpr size_t kMaxNoteBytes = 4000;
// Migrates the schema of the database at `path`; the old file is kept as PATH.schema-N.
Status MigrateWithCopy(SQLite::Database& db, const std::filesystem::path& path,
                       std::span<const char* const> migrations);

}  // namespace warpwright::service
