// Which entries of a revision are worth a job, and when two jobs do the same work.
#include "app/plan.h"

#include "tests/unit/app/app_bench.h"

namespace warpwright {
namespace {

class PlanTest : public AppTest {
 protected:
  app::ChangePlan Plan(app::PlanRequest request = {}) {
    request.device = "cuda";
    if (request.version.empty()) request.version = "1.0";
    const auto skills = [&]() -> Result<skills::SkillLibrary> {
      skills::SkillLibrary library;
      library.digest = skills_;
      return library;
    };
    auto plan = app::PlanChanges(Open(), request, {device_, toolchain(), skills});
    EXPECT_TRUE(plan) << plan.error().Format();
    return plan.value_or(app::ChangePlan());
  }
  std::string skills_ = "skills";
};

TEST_F(PlanTest, WithoutABaseEveryEntryIsWork) {
  const std::string commit = CommitKernels({"a", "b"});
  for (const char* none : {"", "0000000000000000000000000000000000000000"}) {
    const app::ChangePlan plan = Plan({.changed_since = none});
    EXPECT_EQ(plan.revision, commit);
    EXPECT_EQ(plan.base, "");
    EXPECT_EQ(plan.toolchain, "NVRTC 13.0");
    EXPECT_EQ(plan.ChangedKernels(), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(plan.entries.front().change.reason, "every entry was requested");
    EXPECT_NE(plan.entries[0].key, plan.entries[1].key);
  }
  EXPECT_EQ(device_.executions, 0) << "nothing is run";
}

TEST_F(PlanTest, OnlyWhatMeansSomethingElseChanged) {
  const std::string base = CommitKernels({"a", "b"});
  repository_.Write("b.cu", "// original b, faster\n");
  repository_.Commit("b");
  const app::ChangePlan plan = Plan({.changed_since = "HEAD~1"});
  EXPECT_EQ(plan.base, base);
  EXPECT_EQ(plan.ChangedKernels(), std::vector<std::string>{"b"});
  EXPECT_EQ(plan.entries[0].change.reason, "the same files");
  EXPECT_EQ(plan.entries[1].change.reason, "its code changed");
  EXPECT_EQ(plan.entries[0].key, "");
  EXPECT_NE(plan.entries[1].key, "");
  EXPECT_EQ(device_.inspected, (std::vector<std::string>{"b.cu", "b.cu"})) << "only what may have changed";
}

TEST_F(PlanTest, WhereNothingChangedNobodyIsAsked) {
  CommitKernels({"a"});
  repository_.Write("README.md", "text\n");
  repository_.Commit("no source");
  const app::ChangePlan plan = Plan({.changed_since = "HEAD~1"});
  EXPECT_TRUE(plan.ChangedKernels().empty());
  EXPECT_EQ(plan.toolchain, "");
  EXPECT_EQ(toolchain_asked_, 0);
  EXPECT_TRUE(device_.inspected.empty());
}

TEST_F(PlanTest, TheKeyIsOfEverythingThatDecides) {
  CommitKernels({"a"});
  const std::string key = Plan().entries[0].key;
  EXPECT_EQ(Plan().entries[0].key, key);
  EXPECT_NE(Plan({.version = "1.1"}).entries[0].key, key);
  skills_ = "other skills";
  EXPECT_NE(Plan().entries[0].key, key);
  skills_ = "skills";
  toolchain_ = Fail(ErrorCode::kEnvironment, "no toolkit");
  const app::ChangePlan without = Plan();
  EXPECT_EQ(without.toolchain, "");
  EXPECT_NE(without.entries[0].key, key);
  EXPECT_NE(without.entries[0].key, "");
}

TEST_F(PlanTest, AnUnknownRevisionIsAnError) {
  CommitKernels({"a"});
  const app::PlanServices services{device_, toolchain(), [] { return Result<skills::SkillLibrary>(); }};
  EXPECT_FALSE(app::PlanChanges(Open(), {.revision = "nowhere"}, services));
  EXPECT_FALSE(app::PlanChanges(Open(), {.changed_since = "nowhere"}, services));
}

}  // namespace
}  // namespace warpwright
