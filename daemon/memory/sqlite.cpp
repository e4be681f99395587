#include "memory/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <chrono>
#include <thread>

namespace warpwright {
namespace {

constexpr int kBusyMilliseconds = 10'000;
constexpr int kMaxValueBytes = 64 << 20;
constexpr char kRemedy[] = "move the file away; a new one is started in its place";

}  // namespace

void SqliteRows::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Sqlite::Close::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

SqliteRows& SqliteRows::Bind(std::string_view text) {
  const int code = sqlite3_bind_text64(statement_.get(), next_parameter_++, text.data() == nullptr ? "" : text.data(),
                                       text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  if (bind_error_ == SQLITE_OK) bind_error_ = code;
  return *this;
}
SqliteRows& SqliteRows::Bind(int64_t value) {
  const int code = sqlite3_bind_int64(statement_.get(), next_parameter_++, value);
  if (bind_error_ == SQLITE_OK) bind_error_ = code;
  return *this;
}
SqliteRows& SqliteRows::BindReal(double value) {
  const int code = sqlite3_bind_double(statement_.get(), next_parameter_++, value);
  if (bind_error_ == SQLITE_OK) bind_error_ = code;
  return *this;
}

Result<bool> SqliteRows::Next() {
  const int code = bind_error_ != SQLITE_OK ? bind_error_ : sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  sqlite3* db = sqlite3_db_handle(statement_.get());
  const char* path = sqlite3_db_filename(db, "main");
  const bool damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
  return Fail(Error{damaged ? ErrorCode::kCorrupt : ErrorCode::kIo, sqlite3_errmsg(db), path == nullptr ? "" : path, 0,
                    0, damaged ? kRemedy : ""});
}

Status SqliteRows::Run() {
  while (true) {
    WW_ASSIGN(const bool more, Next());
    if (!more) return {};
  }
}

std::string SqliteRows::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (text == nullptr) return {};
  return std::string(text, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column)));
}
int64_t SqliteRows::Integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double SqliteRows::Real(int column) const { return sqlite3_column_double(statement_.get(), column); }
bool SqliteRows::IsNull(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }

Error Sqlite::MakeError(int code, std::string_view what) const {
  const bool damaged = (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
  const std::string reason = db_ != nullptr ? sqlite3_errmsg(db_.get()) : sqlite3_errstr(code);
  return {damaged ? ErrorCode::kCorrupt : ErrorCode::kIo,
          fmt::format("{}: {}", what, reason),
          path_,
          0,
          0,
          damaged ? kRemedy : ""};
}

Result<Sqlite> Sqlite::Open(const std::filesystem::path& path, int32_t application_id, SqliteOptions options) {
  std::error_code ignored;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
  Sqlite db;
  db.path_ = path.string();
  db.options_ = options;
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(db.path_.c_str(), &raw,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
  db.db_.reset(raw);
  if (code != SQLITE_OK) return Fail(db.MakeError(code, fmt::format("cannot open {}", options.what)));
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, kBusyMilliseconds);
  sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  WW_TRY(db.CheckIdentity(application_id));
  WW_TRY(db.UseWal());
  // FULL: a finished step is on the disk before the next one acts, also when the machine loses power.
  WW_TRY(db.Execute(options.survives_power_cut ? "PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;" : "PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;"));
  return db;
}

// The switch to WAL does not wait for others that have the file open; it fails at once. Here it waits.
Status Sqlite::UseWal() {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kBusyMilliseconds);
  while (true) {
    const int code = sqlite3_exec(db_.get(), "PRAGMA journal_mode=WAL", nullptr, nullptr, nullptr);
    if (code == SQLITE_OK) return {};
    if ((code & 0xff) != SQLITE_BUSY || std::chrono::steady_clock::now() > deadline)
      return Fail(MakeError(code, "database"));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

// An empty file becomes ours; any other must carry our id and be whole.
Status Sqlite::CheckIdentity(int32_t application_id) {
  WW_ASSIGN(auto transaction, SqliteTransaction::Begin(*this));  // two may find the file empty at once
  WW_ASSIGN(SqliteRows id, Prepare("PRAGMA application_id"));
  WW_TRY(id.Next());
  WW_ASSIGN(SqliteRows tables, Prepare("SELECT count(*) FROM sqlite_schema"));
  WW_TRY(tables.Next());
  if (id.Integer(0) == application_id) {
    WW_ASSIGN(SqliteRows check, Prepare("PRAGMA quick_check(1)"));
    WW_TRY(check.Next());
    if (check.Text(0) != "ok")
      return Fail(Error{ErrorCode::kCorrupt, "the database is damaged: " + check.Text(0), path_, 0, 0, kRemedy});
    return {};
  }
  if (id.Integer(0) != 0 || tables.Integer(0) != 0)
    return Fail(Error{ErrorCode::kCorrupt, "this is a database of another program", path_, 0, 0,
                      fmt::format("give another path for {}", options_.what)});
  WW_TRY(Execute(fmt::format("PRAGMA application_id={}", application_id).c_str()));
  WW_TRY(id.Run());  // to the end: an open statement would hold the commit back
  WW_TRY(tables.Run());
  return transaction.Commit();
}

Status Sqlite::Execute(const char* sql) {
  const int code = sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return Fail(MakeError(code, "database"));
  return {};
}

Result<SqliteRows> Sqlite::Prepare(std::string_view sql) {
  SqliteRows rows;
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v2(db_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
  rows.statement_.reset(raw);
  if (code != SQLITE_OK) return Fail(MakeError(code, "database"));
  return rows;
}

int64_t Sqlite::last_insert_id() const { return sqlite3_last_insert_rowid(db_.get()); }
int64_t Sqlite::changed_rows() const { return sqlite3_changes64(db_.get()); }

Result<int64_t> Sqlite::SchemaVersion() {
  WW_ASSIGN(SqliteRows rows, Prepare("PRAGMA user_version"));
  WW_TRY(rows.Next());
  return rows.Integer(0);
}

Status Sqlite::CopyTo(const std::filesystem::path& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  WW_ASSIGN(SqliteRows rows, Prepare("VACUUM INTO ?"));
  return rows.Bind(path.string()).Run();
}

Status Sqlite::Migrate(std::span<const char* const> migrations) {
  while (true) {
    WW_ASSIGN(auto transaction,
              SqliteTransaction::Begin(*this));  // the version is read under the lock: two may start at once
    WW_ASSIGN(const int64_t version, SchemaVersion());
    if (version < 0 || version > static_cast<int64_t>(migrations.size()))
      return Fail(
          Error{ErrorCode::kUnsupported,
                fmt::format("{} has schema {}; this version knows up to {}", options_.what, version, migrations.size()),
                path_, 0, 0, "use the version of warpwright that wrote it, or another path"});
    if (version == static_cast<int64_t>(migrations.size())) return {};
    WW_TRY(Execute(migrations[static_cast<size_t>(version)]));
    WW_TRY(Execute(fmt::format("PRAGMA user_version={}", version + 1).c_str()));
    WW_TRY(transaction.Commit());
  }
}

Result<SqliteTransaction> SqliteTransaction::Begin(Sqlite& db) {
  WW_TRY(db.Execute("BEGIN IMMEDIATE"));
  return SqliteTransaction(db);
}
SqliteTransaction::~SqliteTransaction() {
  if (db_ != nullptr) (void)db_->Execute("ROLLBACK");
}
Status SqliteTransaction::Commit() {
  WW_TRY(db_->Execute("COMMIT"));
  db_ = nullptr;
  return {};
}

}  // namespace warpwright
