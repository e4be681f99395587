#include "nights/history_store.h"

#include <gtest/gtest.h>

#include "tests/support/temp_repository.h"

namespace warpwright {
namespace {

nights::NightVerdict Night(const std::string& kernel, int day) {
  nights::NightVerdict night;
  night.time = "2026-01-0" + std::to_string(day) + "T00:00:00Z";
  night.kernel = kernel;
  night.key = {"GPU-1", "NVIDIA H200", "580.1", "NVRTC 13.0", "paired-1"};
  night.commit = "c";
  night.state = nights::NightState::kSame;
  return night;
}
size_t Nights(nights::HistoryStore& store, const std::string& kernel) {
  const auto history = store.Read(kernel);
  EXPECT_TRUE(history) << history.error().Format();
  return history ? history->nights.size() : 0;
}

TEST(HistoryStore, ADirectoryGrowsByLines) {
  const auto folder = base::TemporaryDirectory::Create("ww-history");
  nights::DirectoryHistory store(folder->path() / "deep/er");
  EXPECT_EQ(Nights(store, "softmax"), 0u);
  for (int day = 1; day <= 3; ++day)
    ASSERT_TRUE(
        store.Append({{"softmax", {Night("softmax", day)}}, {"gelu", {Night("gelu", day), Night("gelu", day)}}}, "t"));
  EXPECT_EQ(Nights(store, "softmax"), 3u);
  EXPECT_EQ(Nights(store, "gelu"), 3u);
  // A line that was cut off is lost, but not the next one.
  const auto file = folder->path() / "deep/er/softmax.jsonl";
  ASSERT_TRUE(base::WriteFileAtomically(file, *base::ReadFile(file) + "{\"v\":1,\"ki"));
  ASSERT_TRUE(store.Append({{"softmax", {Night("softmax", 4)}}}, "t"));
  EXPECT_EQ(Nights(store, "softmax"), 4u);
  EXPECT_EQ(store.Read("softmax")->warnings.size(), 1u);
  for (const char* name : {"../x", "a/b", ".git", ""}) EXPECT_FALSE(store.Read(name)) << name;
}

TEST(HistoryStore, ABranchGetsOneCommitANightAndNothingElseChanges) {
  TempRepository repository;
  repository.Write("a.cu", "");
  const std::string main = repository.Commit("first");
  auto opened = repo::Repository::Open(repository.path());
  ASSERT_TRUE(opened);
  nights::BranchHistory store(*opened, "warpwright-history", {});
  EXPECT_EQ(Nights(store, "softmax"), 0u);
  for (int day = 1; day <= 2; ++day) {
    const auto appended =
        store.Append({{"softmax", {Night("softmax", day)}}, {"gelu", {Night("gelu", day)}}}, "2026-01-01T00:00:00Z");
    ASSERT_TRUE(appended) << appended.error().Format();
  }
  EXPECT_EQ(Nights(store, "gelu"), 2u);
  EXPECT_EQ(repository.Git({"rev-list", "--count", "warpwright-history"}), "2\n");
  EXPECT_EQ(repository.Git({"ls-tree", "--name-only", "warpwright-history"}), "gelu.jsonl\nsoftmax.jsonl\n");
  EXPECT_EQ(repository.Git({"rev-parse", "main"}), main + "\n");
  EXPECT_EQ(repository.Git({"status", "--porcelain"}), "");
  EXPECT_EQ(repository.Git({"rev-parse", "warpwright-history"}), store.Tip() + "\n");
}

TEST(HistoryStore, WhatOthersPushedIsJoinedAndStaysBelow) {
  TempRepository repository;
  repository.Write("a.cu", "");
  repository.Commit("first");
  auto opened = repo::Repository::Open(repository.path());
  ASSERT_TRUE(opened);
  nights::BranchHistory store(*opened, "warpwright-history", {});
  ASSERT_TRUE(store.Append({{"softmax", {Night("softmax", 1)}}}, "1"));
  const std::string shared = store.Tip();
  ASSERT_TRUE(store.Append({{"softmax", {Night("softmax", 2)}}}, "2"));
  repository.Git({"update-ref", "refs/remotes/origin/warpwright-history", store.Tip()});
  const std::string theirs = store.Tip();
  repository.Git({"update-ref", "refs/heads/warpwright-history", shared});
  ASSERT_TRUE(store.Append({{"softmax", {Night("softmax", 3)}}}, "3"));
  EXPECT_EQ(Nights(store, "softmax"), 3u);
  EXPECT_EQ(repository.Git({"rev-parse", "warpwright-history^"}), theirs + "\n");
}

}  // namespace
}  // namespace warpwright
