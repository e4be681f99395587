// SQLite as values: handles that close themselves, errors as Error, and migrations. Used by the trajectory and by the daemon's store.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace warpwright {

class SqliteRows {  // a prepared statement
 public:
  SqliteRows& Bind(std::string_view text);  // the next parameter
  SqliteRows& Bind(int64_t value);
  SqliteRows& BindReal(double value);
  Result<bool> Next();  // false: no more rows
  Status Run();         // to the end; for statements without rows
  std::string Text(int column) const;
  int64_t Integer(int column) const;
  double Real(int column) const;
  bool IsNull(int column) const;

 private:
  friend class Sqlite;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int next_parameter_ = 1;
  int bind_error_ = 0;
};

struct SqliteOptions {
  const char* what = "the trajectory";  // for messages
  bool survives_power_cut = true;       // false: a commit survives the process, not the machine (synchronous=NORMAL)
};

class Sqlite {
 public:
  // Creates the file and its folders where they are missing. What is not a database, a damaged one, and one of another
  // program (by application id) are kCorrupt errors with a remedy.
  static Result<Sqlite> Open(const std::filesystem::path& path, int32_t application_id, SqliteOptions options = {});

  Status Execute(const char* sql);  // several statements, no parameters
  Result<SqliteRows> Prepare(std::string_view sql);
  int64_t last_insert_id() const;
  int64_t changed_rows() const;  // by the last statement
  Result<int64_t> SchemaVersion();
  Status CopyTo(const std::filesystem::path& path);  // a whole database, consistent; replaces a file that is there

  // Brings the schema to version migrations.size(): step i leads from version i to i + 1, each in a transaction of its
  // own. A database of a newer version is an Error.
  Status Migrate(std::span<const char* const> migrations);

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  Status CheckIdentity(int32_t application_id);
  Status UseWal();
  Error MakeError(int code, std::string_view what) const;
  std::unique_ptr<sqlite3, Close> db_;
  std::string path_;
  SqliteOptions options_;
};

// BEGIN IMMEDIATE; rolled back by the destructor unless committed.
class SqliteTransaction {
 public:
  static Result<SqliteTransaction> Begin(Sqlite& db);
  SqliteTransaction(SqliteTransaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  SqliteTransaction& operator=(SqliteTransaction&&) = delete;
  ~SqliteTransaction();
  Status Commit();

 private:
  explicit SqliteTransaction(Sqlite& db) : db_(&db) {}
  Sqlite* db_;
};

}  // namespace warpwright
