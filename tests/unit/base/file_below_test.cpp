#include "base/file_below.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;

class FileBelow : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(root_ / "src");
    ASSERT_TRUE(base::WriteFileAtomically(root_ / "src/k.cu", "kernel"));
    ASSERT_TRUE(base::WriteFileAtomically(folder_.path() / "secret", "secret"));
  }
  const base::TemporaryDirectory folder_ = std::move(*base::TemporaryDirectory::Create("below"));
  const fs::path root_ = folder_.path() / "tree";
};

TEST_F(FileBelow, ReadsWhatIsOfTheTreeAlone) {
  fs::create_symlink("k.cu", root_ / "src/same.cu");
  fs::create_symlink("../../secret", root_ / "src/out.cu");
  fs::create_directory_symlink("..", root_ / "up");
  fs::create_symlink("/dev/null", root_ / "device.cu");
  ASSERT_EQ(::mkfifo((root_ / "pipe.cu").c_str(), 0600), 0);
  const struct {
    const char* file;
    const char* part;  // of the error; empty: it is read
  } rows[] = {{"src/k.cu", ""},
              {"src/same.cu", ""},
              {"src/out.cu", "leads out of it"},
              {"up/secret", "leads out of it"},
              {"../secret", "not named as a file"},
              {"device.cu", "leads out of it"},
              {"pipe.cu", "not a regular file"},
              {"src", "not a regular file"},
              {"none.cu", "No such file"}};
  for (const auto& row : rows) {
    const auto text = base::ReadFileBelow(root_, row.file);
    EXPECT_EQ(text.has_value(), *row.part == '\0') << row.file;
    if (text) EXPECT_EQ(*text, "kernel");
    else EXPECT_NE(text.error().message.find(row.part), std::string::npos) << text.error().message;
  }
  EXPECT_FALSE(base::ReadFileBelow(root_, "src/k.cu", 5));
}

TEST_F(FileBelow, WritesThroughNoLink) {
  fs::create_directories(folder_.path() / "elsewhere");
  fs::create_directory_symlink("../elsewhere", root_ / ".warpwright");
  fs::create_symlink("k.cu", root_ / "src/same.cu");
  EXPECT_FALSE(base::WriteFileBelow(root_, ".warpwright/references/x.json", "x"));
  EXPECT_TRUE(fs::is_empty(folder_.path() / "elsewhere"));
  EXPECT_FALSE(base::WriteFileBelow(root_, "src/same.cu", "x"));
  EXPECT_FALSE(base::WriteFileBelow(root_, "../secret", "x"));
  EXPECT_EQ(base::ReadFile(folder_.path() / "secret").value(), "secret");
  ASSERT_TRUE(base::WriteFileBelow(root_, "new/x.json", "x"));
  EXPECT_EQ(base::ReadFile(root_ / "new/x.json").value(), "x");
}

}  // namespace
}  // namespace warpwright
