#include "memory/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <chrono>
#include <thread>

namespace warpwright::memory {
namespace {

constexpr int kBusyMilliseconds = 10'000;
constexpr int kMaxValueBytes = 64 << 20;
constexpr char kRemedy[] = "move the file away; a new one is started in its place";

// An empty file becomes ours; any other must carry our application id and be intact.
Status CheckIdentity(SQLite::Database& db, int32_t application_id, const DatabaseOptions& options) {
  return InTransaction(db, [&]() -> Status {  // two processes may find the file empty at the same time
    const int id = db.execAndGet("PRAGMA application_id").getInt();
    const int64_t tables = db.execAndGet("SELECT count(*) FROM sqlite_schema").getInt64();
    if (id == application_id) {
      const std::string check = db.execAndGet("PRAGMA quick_check(1)").getString();
      if (check == "ok") return {};
      return Fail(Error{.code = ErrorCode::kCorrupt,
                        .message = "the database is damaged: " + check,
                        .file = db.getFilename(),
                        .remedy = kRemedy});
    }
    if (id != 0 || tables != 0)
      return Fail(Error{.code = ErrorCode::kCorrupt,
                        .message = "this is a database of another program",
                        .file = db.getFilename(),
                        .remedy = fmt::format("give another path for {}", options.what)});
    db.exec(fmt::format("PRAGMA application_id={}", application_id));
    return {};
  });
}

// The switch to WAL does not wait for other processes that have the file open; it fails immediately. Here it waits.
void UseWal(SQLite::Database& db) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kBusyMilliseconds);
  while (true) {
    const int code = db.tryExec("PRAGMA journal_mode=WAL");
    if ((code & 0xff) != SQLITE_BUSY || std::chrono::steady_clock::now() > deadline) return db.check(code);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

Status Configure(SQLite::Database& db, int32_t application_id, const DatabaseOptions& options) {
  sqlite3* raw = db.getHandle();
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  WW_TRY(CheckIdentity(db, application_id, options));
  UseWal(db);
  // FULL: a finished step is on disk before the next one acts, even if the machine loses power.
  db.exec(options.survives_power_cut ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
  db.exec("PRAGMA foreign_keys=ON");
  return {};
}

}  // namespace

Error DatabaseError(const std::string& path, const SQLite::Exception& exception, const std::string& what) {
  const int code = exception.getErrorCode() & 0xff;  // the primary code, without its extension
  const bool damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
  return {.code = damaged ? ErrorCode::kCorrupt : ErrorCode::kIo,
          .message = fmt::format("{}: {}", what, exception.what()),
          .file = path,
          .remedy = damaged ? kRemedy : ""};
}

Result<SQLite::Database> OpenDatabase(const std::filesystem::path& path, int32_t application_id,
                                      const DatabaseOptions& options) {
  std::error_code ignored;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
  try {
    SQLite::Database db(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_FULLMUTEX,
                        kBusyMilliseconds);
    WW_TRY(Guarded(db, [&] { return Configure(db, application_id, options); }));
    return db;
  } catch (const SQLite::Exception& exception) {
    return Fail(DatabaseError(path.string(), exception, fmt::format("cannot open {}", options.what)));
  }
}

Result<int64_t> SchemaVersion(SQLite::Database& db) {
  return Guarded(db, [&] { return db.execAndGet("PRAGMA user_version").getInt64(); });
}

Status CopyDatabase(SQLite::Database& db, const std::filesystem::path& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  return Guarded(db, [&] { Prepare(db, "VACUUM INTO ?", path.string()).exec(); });
}

Status Migrate(SQLite::Database& db, std::span<const char* const> migrations, const DatabaseOptions& options) {
  const auto latest = static_cast<int64_t>(migrations.size());
  int64_t version = -1;
  while (version != latest) {
    WW_TRY(InTransaction(db, [&]() -> Status {  // read the version under the lock: two processes may start at once
      WW_ASSIGN(version, SchemaVersion(db));
      if (version < 0 || version > latest)
        return Fail(Error{.code = ErrorCode::kUnsupported,
                          .message = fmt::format("{} has schema {}; this version knows up to {}", options.what, version,
                                                 migrations.size()),
                          .file = db.getFilename(),
                          .remedy = "use the version of warpwright that wrote it, or another path"});
      if (version == latest) return {};
      db.exec(migrations[static_cast<size_t>(version)]);
      db.exec(fmt::format("PRAGMA user_version={}", version + 1));
      return {};
    }));
  }
  return {};
}

}  // namespace warpwright::memory
