// Nightly runs over a history folder: a slowdown is reported once, and one entry's failure does not affect the others.
#include "app/nightly.h"

#include "tests/unit/app/app_bench.h"

namespace warpwright {
namespace {

class NightTest : public AppTest {
 protected:
  app::RepositoryNight Night(app::NightRequest request = {}) {
    request.time = "2026-11-2" + std::to_string(++nights_) + "T02:00:00Z";
    request.version = "1.0";
    app::Workspace workspace = Open();
    const app::NightServices services{
        .worker = {device_, [] {}},
        .toolchain = toolchain(),
        .history = [this](const core::Manifest&) -> Result<std::unique_ptr<nights::HistoryStore>> {
          return std::make_unique<nights::DirectoryHistory>(history());
        },
        .driver_release = [] { return std::string(); }};
    auto night = app::RunNight(workspace, request, services);
    EXPECT_TRUE(night) << night.error().Format();
    return night.value_or(app::RepositoryNight());
  }
  std::filesystem::path history() const { return folder_.path() / "history"; }
  int nights_ = 0;
};

TEST_F(NightTest, WhatBecameSlowerIsReportedOnceWithItsCommit) {
  CommitKernels({"a", "b"});
  device_.kernels.Add("slow", TwiceOf, 800);
  app::RepositoryNight night = Night();
  EXPECT_EQ(night.key.device, "sim:h200");
  EXPECT_EQ(night.key.protocol, "model-1 1.0");
  ASSERT_EQ(night.entries.size(), 2u);
  EXPECT_EQ(night.entries[0].outcome.verdict.state, nights::NightState::kFirst);
  EXPECT_TRUE(night.Reported().empty());
  EXPECT_TRUE(std::filesystem::exists(history() / "a.jsonl"));

  repository_.Write("a.cu", "// slow a\n");
  const std::string first_bad = repository_.Commit("make it simple");
  repository_.Write("README.md", "text\n");
  repository_.Commit("no code");
  night = Night({.pages = folder_.path() / "pages"});
  ASSERT_EQ(night.Reported().size(), 1u);
  EXPECT_EQ(night.Reported()[0].kernel, "a");
  EXPECT_EQ(night.Reported()[0].commit, first_bad);
  EXPECT_EQ(night.Reported()[0].subject, "make it simple");
  EXPECT_EQ(night.Errors(), 0u);
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "pages/index.html"));

  EXPECT_TRUE(Night().Reported().empty()) << "it is known by now";
}

TEST_F(NightTest, AnEntryThatFailsDoesNotTakeTheOthersAlong) {
  CommitKernels({"a", "b"});
  device_.failing = "a";
  const app::RepositoryNight night = Night();
  ASSERT_EQ(night.entries.size(), 2u);
  EXPECT_EQ(night.Errors(), 1u);
  EXPECT_NE(night.entries[0].error.find("the GPU is lost"), std::string::npos);
  EXPECT_EQ(night.entries[1].outcome.verdict.state, nights::NightState::kFirst);
  EXPECT_FALSE(std::filesystem::exists(history() / "a.jsonl"));
}

TEST_F(NightTest, SwitchedOffNothingIsAsked) {
  repository_.Write(".warpwright.yml", ManifestWith({"a"}) + "nightly: {enabled: false}\n");
  repository_.Write("a.cu", "// original\n");
  repository_.Commit("off");
  const app::RepositoryNight night = Night();
  EXPECT_TRUE(night.entries.empty());
  EXPECT_EQ(toolchain_asked_, 0);
}

TEST_F(NightTest, MergesExperience) {
  CommitKernels({"a"});
  ASSERT_TRUE(base::WriteFileAtomically(folder_.path() / "other.jsonl", "not a line\n"));
  const app::RepositoryNight night = Night({.merge = {folder_.path() / "other.jsonl"}});
  EXPECT_EQ(night.experiences, 0u);
  EXPECT_EQ(night.merge_warnings.size(), 1u);
}

}  // namespace
}  // namespace warpwright
