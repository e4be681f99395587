// Opening, the schema, maintenance.
#include "service/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <thread>

#include "service/store_state.h"

namespace warpwright::service {
namespace {

namespace fs = std::filesystem;

constexpr int32_t kApplicationId = 0x57574431;  // "WWD1"
constexpr memory::DatabaseOptions kOptions{"the daemon's state", false};
constexpr int kCheckpointPasses = 8;
constexpr int64_t kFewPages = 64, kLongLog = 16'384;  // 64 MiB

// Append only: step i migrates from schema i to i + 1.
constexpr std::array kMigrations = {
    R"sql(
CREATE TABLE repositories(name TEXT PRIMARY KEY, url TEXT NOT NULL, watched INTEGER NOT NULL DEFAULT 1, last_seen INTEGER NOT NULL DEFAULT 0,
  last_error TEXT NOT NULL DEFAULT '', served INTEGER NOT NULL DEFAULT 0, night INTEGER NOT NULL DEFAULT 0,
  dashboard_mark INTEGER NOT NULL DEFAULT 0, dashboard_shown INTEGER NOT NULL DEFAULT 0, dashboard_digest TEXT NOT NULL DEFAULT '') WITHOUT ROWID;
CREATE TABLE tips(repository TEXT NOT NULL, ref TEXT NOT NULL, commit_id TEXT NOT NULL, gone INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY(repository, ref)) WITHOUT ROWID;
CREATE TABLE events(id INTEGER PRIMARY KEY AUTOINCREMENT, repository TEXT NOT NULL, ref TEXT NOT NULL, from_commit TEXT NOT NULL, to_commit TEXT NOT NULL,
  kernel TEXT NOT NULL, priority INTEGER NOT NULL, again INTEGER NOT NULL, answer_issue INTEGER NOT NULL, answer_comment INTEGER NOT NULL,
  created INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, not_before INTEGER NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '');
CREATE UNIQUE INDEX events_once ON events(repository, ref, kernel, priority, again);
CREATE TABLE jobs(id INTEGER PRIMARY KEY AUTOINCREMENT, repository TEXT NOT NULL, ref TEXT NOT NULL, commit_id TEXT NOT NULL, kind TEXT NOT NULL,
  kernel TEXT NOT NULL, file TEXT NOT NULL, entry TEXT NOT NULL, content_key TEXT NOT NULL, file_hash TEXT NOT NULL, priority INTEGER NOT NULL,
  state TEXT NOT NULL, again INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, publish_attempts INTEGER NOT NULL DEFAULT 0,
  not_before INTEGER NOT NULL DEFAULT 0, device TEXT NOT NULL DEFAULT '', note TEXT NOT NULL DEFAULT '', outcome TEXT NOT NULL DEFAULT '',
  result_outcome TEXT NOT NULL DEFAULT '', result_message TEXT NOT NULL DEFAULT '', branch TEXT NOT NULL DEFAULT '', branch_commit TEXT NOT NULL DEFAULT '',
  gain REAL NOT NULL DEFAULT 0, gain_low REAL NOT NULL DEFAULT 0, gain_high REAL NOT NULL DEFAULT 0, modelled INTEGER NOT NULL DEFAULT 1,
  rounds INTEGER NOT NULL DEFAULT 0, evaluations INTEGER NOT NULL DEFAULT 0, seconds REAL NOT NULL DEFAULT 0, task INTEGER NOT NULL DEFAULT 0,
  pull_request INTEGER NOT NULL DEFAULT 0, pull_request_url TEXT NOT NULL DEFAULT '', answer_issue INTEGER NOT NULL, answer_comment INTEGER NOT NULL,
  queued INTEGER NOT NULL, started INTEGER NOT NULL DEFAULT 0, finished INTEGER NOT NULL DEFAULT 0);
CREATE INDEX jobs_by_state ON jobs(state, not_before);
CREATE INDEX jobs_by_entry ON jobs(repository, kernel, kind, id);
CREATE UNIQUE INDEX jobs_one_per_device ON jobs(device) WHERE state = 'running';
CREATE UNIQUE INDEX jobs_one_per_entry ON jobs(repository, kernel) WHERE state = 'running';
CREATE TABLE publications(repository TEXT NOT NULL, kernel TEXT NOT NULL, branch TEXT NOT NULL, commit_id TEXT NOT NULL, base_commit TEXT NOT NULL,
  file_hash TEXT NOT NULL, pull_request INTEGER NOT NULL, url TEXT NOT NULL, state TEXT NOT NULL, opened INTEGER NOT NULL, job INTEGER NOT NULL,
  PRIMARY KEY(repository, kernel)) WITHOUT ROWID;
CREATE TABLE openings(repository TEXT NOT NULL, pull_request INTEGER NOT NULL, opened INTEGER NOT NULL, PRIMARY KEY(repository, pull_request)) WITHOUT ROWID;
CREATE TABLE ignored(repository TEXT NOT NULL, kernel TEXT NOT NULL, file_hash TEXT NOT NULL, reason TEXT NOT NULL, since INTEGER NOT NULL,
  PRIMARY KEY(repository, kernel)) WITHOUT ROWID;
CREATE TABLE deliveries(id TEXT PRIMARY KEY, event TEXT NOT NULL, body TEXT NOT NULL, received INTEGER NOT NULL, state INTEGER NOT NULL DEFAULT 0,
  outcome TEXT NOT NULL DEFAULT '', attempts INTEGER NOT NULL DEFAULT 0, not_before INTEGER NOT NULL DEFAULT 0);
CREATE INDEX deliveries_waiting ON deliveries(state, received) WHERE state < 2;
CREATE INDEX deliveries_by_age ON deliveries(received);
CREATE TABLE counters(name TEXT NOT NULL, label TEXT NOT NULL, amount REAL NOT NULL, PRIMARY KEY(name, label)) WITHOUT ROWID;
CREATE TABLE spend(day TEXT NOT NULL, repository TEXT NOT NULL, gpu_minutes REAL NOT NULL, model_dollars REAL NOT NULL,
  PRIMARY KEY(day, repository)) WITHOUT ROWID;
)sql",
    // Comments up to the floor are too old to be remembered one by one, so that none of them is a command any more.
    R"sql(
CREATE TABLE commands(repository TEXT NOT NULL, comment INTEGER NOT NULL, verb TEXT NOT NULL, commit_id TEXT NOT NULL, handled INTEGER NOT NULL,
  PRIMARY KEY(repository, comment, verb)) WITHOUT ROWID;
CREATE INDEX commands_by_age ON commands(handled);
ALTER TABLE repositories ADD COLUMN comment_floor INTEGER NOT NULL DEFAULT 0;
UPDATE repositories SET comment_floor = (SELECT coalesce(max(answer_comment), 0) FROM jobs WHERE jobs.repository = repositories.name);
)sql",
    // What was proposed with which gain outlives the job, and the kernel's next pull request. merged: 0 until it is.
    R"sql(
CREATE TABLE proposals(repository TEXT NOT NULL, pull_request INTEGER NOT NULL, kernel TEXT NOT NULL, url TEXT NOT NULL, base_commit TEXT NOT NULL,
  gain REAL NOT NULL DEFAULT 0, gain_low REAL NOT NULL DEFAULT 0, gain_high REAL NOT NULL DEFAULT 0, modelled INTEGER NOT NULL DEFAULT 1,
  merged INTEGER NOT NULL DEFAULT 0, PRIMARY KEY(repository, pull_request)) WITHOUT ROWID;
INSERT INTO proposals SELECT p.repository, p.pull_request, p.kernel, p.url, p.base_commit, coalesce(j.gain, 0), coalesce(j.gain_low, 0),
  coalesce(j.gain_high, 0), coalesce(j.modelled, 1), CASE p.state WHEN 'merged' THEN p.opened ELSE 0 END
  FROM publications p LEFT JOIN jobs j ON j.id = p.job WHERE p.pull_request <> 0;
)sql",
    // Of jobs: what is counted in `spend` already.
    R"sql(
ALTER TABLE spend ADD COLUMN model_questions INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spend ADD COLUMN model_unknown INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spend ADD COLUMN model_gains INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN model_dollars REAL NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN model_questions INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN model_unknown INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN model_gains INTEGER NOT NULL DEFAULT 0;
)sql",
};

constexpr UnixMs kDay = 24LL * 3600 * 1000;
constexpr UnixMs kKeepDeliveries = 3 * kDay + kDay / 24;  // GitHub redelivers for three days
constexpr UnixMs kKeepJobs = 90 * kDay;
constexpr UnixMs kKeepCommands = 30 * kDay;

// Exclusive until the process ends. The file names the holder.
Result<base::Fd> LockFolder(const fs::path& state) {
  const fs::path path = state / "daemon.lock";
  base::Fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock.valid()) return FailErrno("open " + path.string());
  // A daemon that was killed while starting a child leaves the lock with the child until the child detects it.
  int held = ::flock(lock.get(), LOCK_EX | LOCK_NB);
  for (int attempt = 0; attempt < 25 && held != 0 && errno == EWOULDBLOCK; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    held = ::flock(lock.get(), LOCK_EX | LOCK_NB);
  }
  if (held != 0) {
    if (errno != EWOULDBLOCK) return FailErrno("lock " + path.string());
    char pid[32] = {};
    const ssize_t got = ::pread(lock.get(), pid, sizeof pid - 1, 0);
    const std::string holder =
        got > 0 ? std::string(pid, static_cast<size_t>(got)).substr(0, std::string_view(pid).find('\n')) : "unknown";
    return Fail(Error{.code = ErrorCode::kEnvironment,
                      .message = "another daemon uses this state folder (process " + holder + ")",
                      .file = path.string(),
                      .remedy = "stop it first, or give this one its own state folder"});
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(lock.get(), 0) != 0 || ::pwrite(lock.get(), pid.data(), pid.size(), 0) < 0)
    return FailErrno("write " + path.string());
  return lock;
}

}  // namespace

Status MigrateWithCopy(SQLite::Database& db, const fs::path& path, std::span<const char* const> migrations) {
  WW_ASSIGN(const int64_t version, memory::SchemaVersion(db));
  if (version > 0 && version < static_cast<int64_t>(migrations.size()))
    WW_TRY(memory::CopyDatabase(db, path.string() + fmt::format(".schema-{}", version)));
  return memory::Migrate(db, migrations, kOptions);
}

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::~Store() = default;

Result<std::unique_ptr<Store>> Store::Open(const fs::path& folder, const base::Clock& clock, StoreLimits limits) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return Fail(ErrorCode::kEnvironment, "create " + folder.string() + ": " + error.message(),
                "give another folder as `state` in the configuration");
  fs::permissions(folder, fs::perms::owner_all, error);  // deliveries and results are private
  WW_ASSIGN(base::Fd lock, LockFolder(folder));
  const fs::path path = folder / "daemon.sqlite";
  WW_ASSIGN(SQLite::Database db, memory::OpenDatabase(path, kApplicationId, kOptions));
  WW_TRY(MigrateWithCopy(db, path, kMigrations));
  // Checkpoint() does it, without blocking writers.
  WW_TRY(memory::Guarded(db, [&] { db.exec("PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=-4000;"); }));
  WW_ASSIGN(SQLite::Database second, memory::OpenDatabase(path, kApplicationId, kOptions));
  WW_TRY(memory::Guarded(second, [&] { second.exec("PRAGMA cache_size=-200"); }));
  auto state = std::make_unique<State>(clock, limits, std::move(db), std::move(second), std::move(lock));
  WW_TRY(state->Resume());
  return std::unique_ptr<Store>(new Store(std::move(state)));
}

Status Store::State::Resume() {
  return Write([&]() -> Status {
    // No process works on these any more: children die with the daemon.
    WW_ASSIGN(const auto running, LoadJobs("WHERE state = 'running'"));
    for (const Job& job : running) {
      JobChange change;
      change.note = "continues after a restart of the daemon";
      const auto moved = Move(job, JobState::kQueued, change);
      if (!moved) return Fail(moved.error());
    }
    SQLite::Statement rows =
        Ask("SELECT count(*), coalesce(sum(length(CAST(body AS BLOB))), 0) FROM deliveries WHERE state < 2");
    rows.executeStep();
    waiting_deliveries = rows.getColumn(0).getInt64();
    waiting_delivery_bytes = rows.getColumn(1).getInt64();
    return {};
  });
}

void Store::SetLimits(const StoreLimits& limits) {
  const std::lock_guard guard(state_->mutex);
  state_->limits = limits;
}

void Store::OnCommit(std::function<void()> hook) {
  const std::lock_guard guard(state_->mutex);
  state_->on_commit = std::move(hook);
}

Status Store::ApplyRetention() {
  State& s = *state_;
  return s.Write([&] {
    const UnixMs now = s.Now();
    s.Do("DELETE FROM deliveries WHERE state = 2 AND received < ?", now - kKeepDeliveries);
    const int64_t remembered = s.Number("SELECT count(*) FROM deliveries");
    if (remembered > s.limits.remembered_deliveries)
      s.Do(
          "DELETE FROM deliveries WHERE rowid IN (SELECT rowid FROM deliveries WHERE state = 2 ORDER BY received LIMIT "
          "?)",
          remembered - s.limits.remembered_deliveries);
    s.Do(
        "DELETE FROM jobs WHERE state IN ('done', 'superseded', 'cancelled') AND (finished < ? OR id <= "
        "(SELECT coalesce(max(id), 0) FROM (SELECT id FROM jobs WHERE state IN ('done', 'superseded', 'cancelled') "
        "ORDER BY id DESC LIMIT 1 OFFSET ?)))",
        now - kKeepJobs, s.limits.kept_jobs);
    s.Do(
        "UPDATE repositories SET comment_floor = max(comment_floor, (SELECT coalesce(max(comment), 0) FROM commands c "
        "WHERE c.repository = repositories.name AND c.handled < ?))",
        now - kKeepCommands);
    s.Do("DELETE FROM commands WHERE handled < ?", now - kKeepCommands);
    s.Do("DELETE FROM openings WHERE opened < ?", now - 30 * kDay);
    s.Do("DELETE FROM spend WHERE day < date('now', '-400 days')");
  });
}

Status Store::Checkpoint() {
  State& s = *state_;
  const std::lock_guard guard(s.checkpoint_mutex);
  // Returns how many pages of the log are in the file afterwards.
  const auto move = [&]() -> int64_t {
    SQLite::Statement rows(s.checkpoint_db, "PRAGMA wal_checkpoint(PASSIVE)");
    return rows.executeStep() ? rows.getColumn(2).getInt64() : 0;
  };
  return memory::Guarded(s.checkpoint_db, [&] {
    // The log restarts only when all of it has been moved, which under a stream of deliveries never happens by itself.
    // Each pass has to move only what arrived during the previous one; the last, without writers, should have next to
    // nothing.
    int64_t moved = 0;
    for (int pass = 0; pass < kCheckpointPasses; ++pass) {
      const int64_t now = move();
      const bool little = now - moved < kFewPages;
      moved = now;
      if (little) break;
    }
    if (moved < kLongLog) return;  // writers need not wait for it yet
    const std::lock_guard writers(s.mutex);
    move();
  });
}

bool Store::Writable() {
  return state_->Write([&] { state_->Do("INSERT OR REPLACE INTO counters VALUES('probe', '', 0)"); }).has_value();
}

}  // namespace warpwright::service
