#include "worker/cache_trim.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;

class CacheTrimTest : public testing::Test {
 protected:
  void Make(const std::string& name, std::chrono::hours age) {
    ASSERT_TRUE(base::WriteFileAtomically(folder.path() / name / "recorder", "x"));
    fs::last_write_time(folder.path() / name, fs::file_time_type::clock::now() - age);
  }
  bool Has(const std::string& name) const { return fs::exists(folder.path() / name); }
  base::TemporaryDirectory folder = std::move(*base::TemporaryDirectory::Create("ww-trim"));
};

TEST_F(CacheTrimTest, TheNewestAndTheYoungStay) {
  using std::chrono::hours;
  Make("recorder-a", hours(50));
  Make("recorder-b", hours(40));
  Make("recorder-c", hours(30));
  Make("recorder-d", hours(1));
  Make("shim-old", hours(500));
  Make("shim-new", hours(100));
  Make("making-1", hours(48));
  Make("making-2", hours(0));
  Make("modules", hours(1000));
  worker::TrimCache(folder.path(), {2, 1, hours(24)});
  EXPECT_FALSE(Has("recorder-a"));
  EXPECT_FALSE(Has("recorder-b"));
  EXPECT_TRUE(Has("recorder-c"));
  EXPECT_TRUE(Has("recorder-d"));
  EXPECT_FALSE(Has("shim-old"));
  EXPECT_TRUE(Has("shim-new"));
  EXPECT_FALSE(Has("making-1"));
  EXPECT_TRUE(Has("making-2"));
  EXPECT_TRUE(Has("modules"));
  worker::TrimCache(folder.path(), {0, 0, hours(24)});
  EXPECT_TRUE(Has("recorder-d")) << "another worker may be using it";
}

TEST(CacheTrim, AnAbsentCacheIsNoError) { worker::TrimCache("/no/such/cache"); }

}  // namespace
}  // namespace warpwright
