// What SQLiteCpp leaves open: how our databases are opened, recognised and migrated, and how its exceptions become
// Errors. The trajectory and the daemon's store write their statements directly with SQLiteCpp, inside Guarded or
// InTransaction: none of its exceptions escapes them.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <type_traits>

#include "base/result.h"

namespace warpwright::memory {

struct DatabaseOptions {
  const char* what = "the trajectory";  // for messages
  bool survives_power_cut = true;       // false: a commit survives the process, not the machine (synchronous=NORMAL)
};

// Creates the file and its folders if they are missing. A file that is not a database, a damaged one, and one of
// another program (by application id) are kCorrupt errors with a remedy.
Result<SQLite::Database> OpenDatabase(const std::filesystem::path& path, int32_t application_id,
                                      const DatabaseOptions& options = {});

// Brings the schema to version migrations.size(): step i leads from version i to i + 1, each in its own transaction. A
// database of a newer version is an Error.
Status Migrate(SQLite::Database& db, std::span<const char* const> migrations, const DatabaseOptions& options = {});
Result<int64_t> SchemaVersion(SQLite::Database& db);
// Copies the whole database, consistently; replaces an existing file.
Status CopyDatabase(SQLite::Database& db, const std::filesystem::path& path);

// kCorrupt with a remedy if the file is damaged, else kIo; the message is SQLite's.
Error DatabaseError(const std::string& path, const SQLite::Exception& exception, const std::string& what = "database");

// For T, Status or Result<T>: the Status or Result.
template <typename T>
struct ResultOf {
  using Type = Result<T>;
};
template <typename T>
struct ResultOf<Result<T>> {
  using Type = Result<T>;
};

// What `act` returns, or what SQLiteCpp threw in it, as an Error.
template <typename Act>
typename ResultOf<std::invoke_result_t<Act>>::Type Guarded(const SQLite::Database& db, Act&& act) {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Act>>) {
      act();
      return {};
    } else {
      return act();
    }
  } catch (const SQLite::Exception& exception) {
    return Fail(DatabaseError(db.getFilename(), exception));
  }
}

// The same in a transaction that holds the write lock from its beginning. Nothing is stored if the result is an Error.
template <typename Act>
typename ResultOf<std::invoke_result_t<Act>>::Type InTransaction(SQLite::Database& db, Act&& act) {
  return Guarded(db, [&] {
    SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
    auto done = Guarded(db, act);
    if (done) transaction.commit();
    return done;
  });
}

// A statement with the values of its parameters, in order.
template <typename... Values>
SQLite::Statement Prepare(const SQLite::Database& db, const std::string& sql, const Values&... values) {
  SQLite::Statement statement(db, sql);
  SQLite::bind(statement, values...);
  return statement;
}

}  // namespace warpwright::memory
