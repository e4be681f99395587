#include "forge/etag_cache.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;

class EtagCacheTest : public testing::Test {
 protected:
  std::unique_ptr<forge::EtagCache> Open(uint64_t bytes = 1 << 20) {
    return std::move(*forge::EtagCache::Open(folder.path() / "etags", bytes));
  }
  fs::path OnlyFile() { return fs::directory_iterator(folder.path() / "etags")->path(); }
  base::TemporaryDirectory folder = std::move(*base::TemporaryDirectory::Create("ww-etags"));
  const std::string url = "https://api.github.com/repos/acme/kernels/pulls?state=all";
  const forge::CachedAnswer answer{"W/\"1f\"", "<https://x/?page=2>; rel=\"next\"", "[1,\n2]"};
};

TEST_F(EtagCacheTest, KeepsAnswersOverARestartForTheirUrlOnly) {
  ASSERT_TRUE(Open()->Store(url, answer));
  const auto cache = Open();
  const auto found = cache->Find(url);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->etag, answer.etag);
  EXPECT_EQ(found->link, answer.link);
  EXPECT_EQ(found->body, answer.body);
  EXPECT_FALSE(cache->Find(url + "&page=2"));
  EXPECT_EQ(cache->bytes(), fs::file_size(OnlyFile()));
  EXPECT_EQ(fs::status(folder.path() / "etags").permissions(), fs::perms::owner_all);
}

TEST_F(EtagCacheTest, EveryDamagedFileIsAsIfItWereNotThere) {
  ASSERT_TRUE(Open()->Store(url, answer));
  const fs::path path = OnlyFile();
  const std::string whole = *base::ReadFile(path);
  const auto cache = Open();
  for (size_t length = 0; length < whole.size(); ++length) {
    std::ofstream(path) << whole.substr(0, length);
    EXPECT_FALSE(cache->Find(url)) << length;
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] ^= 1;
    std::ofstream(path) << flipped;
    EXPECT_FALSE(cache->Find(url)) << at;
  }
  ASSERT_TRUE(Open()->Store(url, answer));
  EXPECT_TRUE(Open()->Find(url));
}

TEST_F(EtagCacheTest, AnotherUrlsFileInItsPlaceIsNotTaken) {
  ASSERT_TRUE(Open()->Store(url, answer));
  const fs::path first = OnlyFile();
  const std::string bytes = *base::ReadFile(first);
  ASSERT_TRUE(Open()->Store("https://other", answer));
  for (const auto& entry : fs::directory_iterator(folder.path() / "etags"))
    ASSERT_TRUE(base::WriteFileAtomically(entry.path(), bytes));
  EXPECT_FALSE(Open()->Find("https://other"));
  EXPECT_TRUE(Open()->Find(url));
}

TEST_F(EtagCacheTest, StaysBelowItsLimitAndKeepsWhatIsUsed) {
  const auto cache = Open(20'000);
  forge::CachedAnswer large = answer;
  large.body = std::string(1000, 'x');
  ASSERT_TRUE(cache->Store("used", large));
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(cache->Store("url" + std::to_string(i), large));
    fs::last_write_time(folder.path() / "etags", fs::file_time_type::clock::now());
    ASSERT_TRUE(cache->Find("used")) << i;
    EXPECT_LE(cache->bytes(), 20'000u);
  }
  EXPECT_FALSE(cache->Find("url0"));
  EXPECT_TRUE(cache->Find("url39"));
  EXPECT_LE(Open(5'000)->bytes(), 5'000u);
}

TEST_F(EtagCacheTest, WhatCannotBeKeptIsNotAndHalfWrittenFilesGo) {
  const auto cache = Open();
  EXPECT_TRUE(cache->Store(url, {"", "", "body"}));
  EXPECT_TRUE(cache->Store(url, {"\"1\"\n", "", "body"}));
  EXPECT_TRUE(cache->Store(url, {"\"1\"", "", std::string(forge::EtagCache::kMaxAnswerBytes + 1, 'x')}));
  EXPECT_FALSE(cache->Find(url));
  ASSERT_TRUE(cache->Store(url, answer));
  const fs::path half = OnlyFile().string() + ".a1B2c3";
  ASSERT_TRUE(base::WriteFileAtomically(half, "half"));
  Open();
  EXPECT_FALSE(fs::exists(half));
  ASSERT_TRUE(base::WriteFileAtomically(folder.path() / "file", "x"));
  EXPECT_FALSE(forge::EtagCache::Open(folder.path() / "file", 1));
}

}  // namespace
}  // namespace warpwright
