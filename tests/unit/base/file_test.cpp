#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

namespace warpwright {
namespace {

class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = base::TemporaryDirectory::Create("ww-file");
    ASSERT_TRUE(folder.has_value());
    folder_ = std::make_unique<base::TemporaryDirectory>(std::move(*folder));
  }
  std::filesystem::path Path(const std::string& name) const { return folder_->path() / name; }
  std::unique_ptr<base::TemporaryDirectory> folder_;
};

TEST_F(FileTest, WhatIsWrittenIsRead) {
  const std::string content("a\0b\n\xff", 5);
  ASSERT_TRUE(base::WriteFileAtomically(Path("new/folder/f"), content));
  EXPECT_EQ(base::ReadFile(Path("new/folder/f")).value(), content);
  ASSERT_TRUE(base::WriteFileAtomically(Path("new/folder/f"), ""));
  EXPECT_EQ(base::ReadFile(Path("new/folder/f")).value(), "");
}

TEST_F(FileTest, AFailedWriteLeavesTheOldContentAndNoTemporaryFile) {
  std::filesystem::create_directory(Path("target"));
  ASSERT_TRUE(base::WriteFileAtomically(Path("target/inside"), "x"));
  EXPECT_FALSE(base::WriteFileAtomically(Path("target"), "cannot replace a folder"));
  EXPECT_EQ(base::ReadFile(Path("target/inside")).value(), "x");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_->path()), {}), 1);
}

TEST_F(FileTest, RefusesWhatIsNoFileOrTooLarge) {
  ASSERT_TRUE(base::WriteFileAtomically(Path("f"), "12345"));
  EXPECT_TRUE(base::ReadFile(Path("f"), 5).has_value());
  EXPECT_NE(base::ReadFile(Path("f"), 4).error().message.find("more than the limit of 4"), std::string::npos);
  EXPECT_NE(base::ReadFile(folder_->path()).error().message.find("not a regular file"), std::string::npos);
  ASSERT_EQ(::mkfifo(Path("fifo").c_str(), 0600), 0);
  EXPECT_FALSE(base::ReadFile(Path("fifo")).has_value());  // and does not wait for a writer
  EXPECT_NE(base::ReadFile(Path("absent")).error().message.find("No such file"), std::string::npos);
}

TEST_F(FileTest, ConcurrentAppendsDoNotMixLines) {
  const std::string a(5000, 'a'), b(5000, 'b');
  std::thread other([&] {
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(base::AppendLine(Path("log"), b));
  });
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(base::AppendLine(Path("log"), a));
  other.join();
  const std::string content = base::ReadFile(Path("log")).value();
  ASSERT_EQ(content.size(), 100 * 5001u);
  for (size_t start = 0; start < content.size(); start += 5001) {
    const std::string line = content.substr(start, 5000);
    EXPECT_TRUE(line == a || line == b);
    EXPECT_EQ(content[start + 5000], '\n');
  }
}

TEST(TemporaryDirectory, IsRemovedWithItsContentOnce) {
  std::filesystem::path path;
  {
    auto folder = base::TemporaryDirectory::Create("ww-gone");
    ASSERT_TRUE(folder.has_value());
    path = folder->path();
    ASSERT_TRUE(base::WriteFileAtomically(path / "deep/f", "x"));
    const base::TemporaryDirectory moved = std::move(*folder);
    EXPECT_TRUE(folder->path().empty());
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace warpwright
