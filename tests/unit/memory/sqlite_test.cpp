#include "memory/sqlite.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "base/file.h"

namespace warpwright {
namespace {

constexpr int32_t kId = 77;

class SqliteFile : public testing::Test {
 protected:
  base::TemporaryDirectory folder_ = *base::TemporaryDirectory::Create("sqlite");
  std::filesystem::path path_ = folder_.path() / "deep" / "t.db";
};

TEST_F(SqliteFile, MigratesForwardKeepingData) {
  const char* const first[] = {"CREATE TABLE t(a TEXT); INSERT INTO t VALUES ('old')"};
  const char* const both[] = {first[0], "ALTER TABLE t ADD COLUMN b INTEGER NOT NULL DEFAULT 5"};
  {
    auto db = memory::OpenDatabase(path_, kId);
    ASSERT_TRUE(db) << db.error().Format();
    ASSERT_TRUE(memory::Migrate(*db, first));
    ASSERT_TRUE(memory::Migrate(*db, first)) << "again changes nothing";
  }
  {
    auto db = memory::OpenDatabase(path_, kId);
    ASSERT_TRUE(memory::Migrate(*db, both));
    SQLite::Statement rows = memory::Prepare(*db, "SELECT a, b FROM t");
    ASSERT_TRUE(rows.executeStep());
    EXPECT_EQ(rows.getColumn(0).getString(), "old");
    EXPECT_EQ(rows.getColumn(1).getInt64(), 5);
    EXPECT_FALSE(rows.executeStep());
  }
  auto db = memory::OpenDatabase(path_, kId);
  const auto newer = memory::Migrate(*db, first);
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(newer.error().message, "the trajectory has schema 2; this version knows up to 1");
  EXPECT_FALSE(newer.error().remedy.empty());
}

TEST_F(SqliteFile, AFailedMigrationLeavesTheOldSchema) {
  const char* const broken[] = {"CREATE TABLE t(a TEXT); CREATE TABLE t(a TEXT)"};
  auto db = memory::OpenDatabase(path_, kId);
  ASSERT_TRUE(db);
  EXPECT_FALSE(memory::Migrate(*db, broken));
  const char* const good[] = {"CREATE TABLE t(a TEXT)"};
  EXPECT_TRUE(memory::Migrate(*db, good)) << "the first statement of the broken step was rolled back";
}

TEST_F(SqliteFile, ForeignAndDamagedFilesAreRefusedWithARemedy) {
  memory::OpenDatabase(path_, 12)->exec("CREATE TABLE x(y)");
  const auto foreign = memory::OpenDatabase(path_, kId);
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(foreign.error().message.find("another program"), std::string::npos);

  const auto text = folder_.path() / "text.db";
  ASSERT_TRUE(base::WriteFileAtomically(text, std::string(5000, 'x')));
  const auto garbage = memory::OpenDatabase(text, kId);
  ASSERT_FALSE(garbage);
  EXPECT_EQ(garbage.error().code, ErrorCode::kCorrupt) << garbage.error().Format();
  EXPECT_FALSE(garbage.error().remedy.empty());
  EXPECT_EQ(garbage.error().file, text.string());

  const auto folder = memory::OpenDatabase(folder_.path(), kId);
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, ErrorCode::kIo);
  EXPECT_EQ(folder.error().message, "cannot open the trajectory: unable to open database file");
}

TEST_F(SqliteFile, TransactionsKeepNothingOfWhatFails) {
  auto db = memory::OpenDatabase(path_, kId);
  db->exec("CREATE TABLE t(a UNIQUE)");
  EXPECT_TRUE(memory::InTransaction(*db, [&] { db->exec("INSERT INTO t VALUES (1)"); }));
  EXPECT_EQ(*memory::InTransaction(*db, [&] { return memory::Prepare(*db, "INSERT INTO t VALUES (?)", 2).exec(); }), 1);

  const auto refused = memory::InTransaction(*db, [&]() -> Result<int> {
    db->exec("INSERT INTO t VALUES (3)");
    return Fail(ErrorCode::kUsage, "no");
  });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUsage);

  const auto thrown =
      memory::InTransaction(*db, [&] { db->exec("INSERT INTO t VALUES (4); INSERT INTO t VALUES (1)"); });
  ASSERT_FALSE(thrown);
  EXPECT_EQ(thrown.error().code, ErrorCode::kIo);
  EXPECT_EQ(thrown.error().message, "database: UNIQUE constraint failed: t.a");
  EXPECT_EQ(thrown.error().file, path_.string());
  EXPECT_EQ(db->execAndGet("SELECT count(*) FROM t").getInt(), 2);
}

TEST_F(SqliteFile, WhatSqliteSaysBecomesAnError) {
  auto db = memory::OpenDatabase(path_, kId);
  db->exec("CREATE TABLE t(a)");
  struct Row {
    const char* what;
    std::function<void()> act;
    ErrorCode code;
    const char* message;
  };
  auto other = memory::OpenDatabase(path_, kId);
  other->setBusyTimeout(0);
  const std::string large(100'000, 'x');
  for (const Row& row : {
           Row{"busy",
               [&] {
                 SQLite::Transaction held(*db, SQLite::TransactionBehavior::IMMEDIATE);
                 SQLite::Transaction second(*other, SQLite::TransactionBehavior::IMMEDIATE);
               },
               ErrorCode::kIo, "database: database is locked"},
           Row{"full",
               [&] {
                 other->exec("PRAGMA max_page_count=1");
                 memory::Prepare(*other, "INSERT INTO t VALUES (?)", large).exec();
               },
               ErrorCode::kIo, "database: database or disk is full"},
           Row{"too large", [&] { other->exec("INSERT INTO t VALUES (zeroblob(100000000))"); }, ErrorCode::kIo,
               "database: string or blob too big"},
           Row{"no such table", [&] { (void)memory::Prepare(*other, "SELECT * FROM u"); }, ErrorCode::kIo,
               "database: no such table: u"},
       }) {
    const Status status = memory::Guarded(*other, row.act);
    ASSERT_FALSE(status) << row.what;
    EXPECT_EQ(status.error().code, row.code) << row.what;
    EXPECT_EQ(status.error().message, row.message) << row.what;
  }
}

TEST_F(SqliteFile, DamageThatShowsLateIsCorruptWithARemedy) {
  auto db = memory::OpenDatabase(path_, kId);
  db->exec(
      "CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(50000)); PRAGMA wal_checkpoint(TRUNCATE); PRAGMA "
      "cache_size=0");
  std::filesystem::resize_file(path_, 8192);
  const auto sum =
      memory::Guarded(*db, [&] { return db->execAndGet("SELECT length(CAST(a AS TEXT)) FROM t").getInt(); });
  ASSERT_FALSE(sum);
  EXPECT_EQ(sum.error().code, ErrorCode::kCorrupt) << sum.error().Format();
  EXPECT_FALSE(sum.error().remedy.empty());
}

TEST_F(SqliteFile, TwoMayOpenAndMigrateAtOnce) {
  const char* const steps[] = {"CREATE TABLE t(a)", "CREATE TABLE u(a)"};
  bool ok[4] = {};
  std::vector<std::thread> threads;
  std::filesystem::create_directories(path_.parent_path());
  for (bool& result : ok)
    threads.emplace_back([&] {
      auto db = memory::OpenDatabase(path_, kId);
      result = db && memory::Migrate(*db, steps);
    });
  for (auto& thread : threads) thread.join();
  for (const bool result : ok) EXPECT_TRUE(result);
}

}  // namespace
}  // namespace warpwright
