// SQLite as values: handles that close themselves, errors as Error, and migrations. Used by the trajectory only.
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
  Result<bool> Next();  // false: no more rows
  Status Run();         // to the end; for statements without rows
  std::string Text(int column) const;
  int64_t Integer(int column) const;
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

class Sqlite {
 public:
  // Creates the file and its folders where they are missing. What is not a database, a damaged one, and one of another
  // program (by application id) are kCorrupt errors with a remedy.
  static Result<Sqlite> Open(const std::filesystem::path& path, int32_t application_id);

  Status Execute(const char* sql);  // several statements, no parameters
  Result<SqliteRows> Prepare(std::string_view sql);
  int64_t last_insert_id() const;

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
