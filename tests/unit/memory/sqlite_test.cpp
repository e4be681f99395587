#include "memory/sqlite.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/file.h"

namespace warpwright {
namespace {

constexpr int32_t kId = 77;

class SqliteFile : public testing::Test {
 protected:
  TemporaryDirectory folder_ = *TemporaryDirectory::Create("sqlite");
  std::filesystem::path path_ = folder_.path() / "deep" / "t.db";
};

TEST_F(SqliteFile, MigratesForwardKeepingData) {
  const char* const first[] = {"CREATE TABLE t(a TEXT); INSERT INTO t VALUES ('old')"};
  const char* const both[] = {first[0], "ALTER TABLE t ADD COLUMN b INTEGER NOT NULL DEFAULT 5"};
  {
    auto db = Sqlite::Open(path_, kId);
    ASSERT_TRUE(db) << db.error().Format();
    ASSERT_TRUE(db->Migrate(first));
    ASSERT_TRUE(db->Migrate(first)) << "again changes nothing";
  }
  {
    auto db = Sqlite::Open(path_, kId);
    ASSERT_TRUE(db->Migrate(both));
    auto rows = db->Prepare("SELECT a, b FROM t");
    ASSERT_TRUE(rows);
    ASSERT_TRUE(*rows->Next());
    EXPECT_EQ(rows->Text(0), "old");
    EXPECT_EQ(rows->Integer(1), 5);
    EXPECT_FALSE(*rows->Next());
  }
  auto db = Sqlite::Open(path_, kId);
  const auto newer = db->Migrate(first);
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().code, ErrorCode::kUnsupported);
  EXPECT_FALSE(newer.error().remedy.empty());
}

TEST_F(SqliteFile, AFailedMigrationLeavesTheOldSchema) {
  const char* const broken[] = {"CREATE TABLE t(a TEXT); CREATE TABLE t(a TEXT)"};
  auto db = Sqlite::Open(path_, kId);
  ASSERT_TRUE(db);
  EXPECT_FALSE(db->Migrate(broken));
  const char* const good[] = {"CREATE TABLE t(a TEXT)"};
  EXPECT_TRUE(db->Migrate(good)) << "the first statement of the broken step was rolled back";
}

TEST_F(SqliteFile, ForeignAndDamagedFilesAreRefusedWithARemedy) {
  { ASSERT_TRUE(Sqlite::Open(path_, 12)->Execute("CREATE TABLE x(y)")); }
  const auto foreign = Sqlite::Open(path_, kId);
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(foreign.error().message.find("another program"), std::string::npos);

  const auto text = folder_.path() / "text.db";
  ASSERT_TRUE(WriteFileAtomically(text, std::string(5000, 'x')));
  const auto garbage = Sqlite::Open(text, kId);
  ASSERT_FALSE(garbage);
  EXPECT_EQ(garbage.error().code, ErrorCode::kCorrupt) << garbage.error().Format();
  EXPECT_FALSE(garbage.error().remedy.empty());
  EXPECT_EQ(garbage.error().file, text.string());

  EXPECT_FALSE(Sqlite::Open(folder_.path(), kId)) << "a folder";
}

TEST_F(SqliteFile, TransactionsRollBackUnlessCommitted) {
  auto db = Sqlite::Open(path_, kId);
  ASSERT_TRUE(db->Execute("CREATE TABLE t(a)"));
  {
    auto transaction = SqliteTransaction::Begin(*db);
    ASSERT_TRUE(transaction);
    ASSERT_TRUE(db->Execute("INSERT INTO t VALUES (1)"));
  }
  auto rows = db->Prepare("SELECT count(*) FROM t");
  ASSERT_TRUE(rows->Next());
  EXPECT_EQ(rows->Integer(0), 0);
}

TEST_F(SqliteFile, TwoMayOpenAndMigrateAtOnce) {
  const char* const steps[] = {"CREATE TABLE t(a)", "CREATE TABLE u(a)"};
  bool ok[4] = {};
  std::vector<std::thread> threads;
  std::filesystem::create_directories(path_.parent_path());
  for (bool& result : ok)
    threads.emplace_back([&] {
      auto db = Sqlite::Open(path_, kId);
      result = db && db->Migrate(steps);
    });
  for (auto& thread : threads) thread.join();
  for (const bool result : ok) EXPECT_TRUE(result);
}

}  // namespace
}  // namespace warpwright
