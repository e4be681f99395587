// What becomes of an open pull request when its base moves on, or warpwright stops working on it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "report/pull_request.h"
#include "report/pull_request_status.h"
#include "tests/support/golden.h"
#include "tests/unit/service/world.h"

namespace warpwright {
namespace {

using Strings = std::vector<std::string>;

std::string PullRequestPayload(const std::string& action) {
  const nlohmann::json repository = {{"full_name", World::kName}};
  return nlohmann::json{{"action", action},
                        {"pull_request",
                         {{"number", 1},
                          {"head", {{"ref", "warpwright/softmax"}, {"repo", repository}}},
                          {"base", {{"ref", "main"}, {"repo", repository}}}}},
                        {"repository", repository},
                        {"sender", {{"login", "maintainer"}, {"type", "User"}}}}
      .dump();
}

// A pull request for softmax is open.
struct StandingBench {
  StandingBench() {
    world.runner.comments_count = false;
    world.Push("softmax", "// softmax 2\n");
    world.Drive();
    first = world.RemoteTip("warpwright/softmax");
  }
  void PushMyOwnIdea() {
    world.remote.Git({"checkout", "-q", "warpwright/softmax"});
    world.remote.Write("softmax.cu", "// mine\n");
    world.remote.Commit("my own idea");
    world.remote.Git({"checkout", "-q", "main"});
  }
  void DriveThroughRetries() {
    for (int tries = 0; tries < 4; ++tries) {
      world.Drive();
      world.clock.Advance(std::chrono::minutes(10));
    }
  }
  // A line beside the one that the result adds.
  std::string PushComment(const std::string& text) { return world.Push("softmax", "// softmax 2\n/// " + text + "\n"); }
  bool Merges() {
    const auto mirror = repo::Repository::Open(world.folder.path() / "state/repos/kernels/mirror.git");
    return *mirror->MergesCleanly(world.RemoteTip("main"), world.RemoteTip("warpwright/softmax"));
  }
  // The one comment about the state.
  std::string Status() const {
    std::string found;
    for (const auto& comment : world.forge.comments)
      if (comment.request.marker == report::kStatusMarker) {
        EXPECT_EQ(found, "") << "one comment";
        found = comment.request.body;
      }
    return found;
  }
  void ExpectOutdated(const std::string& why) {
    const forge::PullRequestView& view = world.forge.PullRequest(1);
    EXPECT_EQ(view.title, "perf(softmax): out of date");
    EXPECT_TRUE(report::IsMarkedOutdated(view.body)) << view.body;
    EXPECT_LT(view.body.find("Out of date"), view.body.find("1.50x faster")) << view.body;
    EXPECT_LT(view.body.find("<details>"), view.body.find("1.50x faster"));
    EXPECT_NE(view.body.find(why), std::string::npos) << view.body;
    EXPECT_TRUE(report::ParseBody(view.body));
    EXPECT_NE(Status().find(why), std::string::npos) << Status();
  }

  World world;
  std::string first;
};
class Standing : public testing::Test, protected StandingBench {};

TEST_F(Standing, AConflictBesideTheKernelIsCarriedOver) {
  const std::string commit = PushComment("a comment");
  EXPECT_EQ(world.runner.runs.size(), 1u);
  world.Drive();
  EXPECT_EQ(world.runner.runs.back(), "carry softmax " + commit.substr(0, 6));
  EXPECT_NE(world.RemoteTip("warpwright/softmax"), first);
  EXPECT_EQ(world.remote.Git({"rev-parse", "warpwright/softmax~1"}), commit + "\n");
  EXPECT_TRUE(Merges());
  EXPECT_EQ(world.forge.pull_requests.size(), 1u);
  EXPECT_EQ(report::ParseBody(world.forge.PullRequest(1).body)->base_commit, commit);
  EXPECT_NE(Status().find("Carried over"), std::string::npos) << Status();
  // And again: from the carried one. Its comment is edited.
  PushComment("another comment");
  world.Drive();
  EXPECT_EQ(world.runner.runs.size(), 3u);
  EXPECT_TRUE(Merges());
  EXPECT_NE(Status().find(world.RemoteTip("main").substr(0, 12)), std::string::npos) << Status();
}

// Started again between the look that saw the commit and its detection: the kernel itself may be another one there.
TEST_F(Standing, ACommitThatWaitsForItsDetectionIsNothingToCarryOnto) {
  world.Push("softmax", "// softmax 3\n");
  const auto moved = world.pipeline->Poll(World::kName);
  ASSERT_TRUE(moved && *moved);
  const std::atomic<bool> never{false};
  ASSERT_TRUE(world.pipeline->Reconcile(never));
  const auto ran = world.pipeline->RunNextJob("sim:h200");  // another thread's
  EXPECT_TRUE(ran && !*ran);
  world.Drive();
  EXPECT_EQ(world.runner.runs.size(), 2u);
  EXPECT_FALSE(world.runner.runs.back().starts_with("carry")) << world.runner.runs.back();
  EXPECT_EQ(Status(), "");
}

TEST_F(Standing, WhatMergesIsLeftAlone) {
  world.Push("softmax", "/// far\n///\n///\n///\n// softmax 2\n");
  world.remote.Write("README", "text");
  world.remote.Commit("beside it");
  world.Drive();
  EXPECT_EQ(world.runner.runs.size(), 1u);
  EXPECT_EQ(world.RemoteTip("warpwright/softmax"), first);
  EXPECT_EQ(Status(), "");
}

TEST_F(Standing, WhatCannotBeCarriedOverIsOutOfDateAndNotTriedAgain) {
  world.runner.outcomes["carry softmax"] = core::TaskOutcome::kRefused;
  PushComment("a comment");
  world.Drive();
  EXPECT_EQ(world.RemoteTip("warpwright/softmax"), first);
  ExpectOutdated("because");
  EXPECT_NE(Status().find("cannot be carried over"), std::string::npos);
  const size_t acts = world.forge.log.size();
  const std::atomic<bool> never{false};
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(world.pipeline->Reconcile(never));
    world.Drive();
  }
  EXPECT_EQ(world.runner.runs.size(), 2u);
  EXPECT_EQ(world.forge.log.size(), acts);
  world.Push("softmax", "// softmax 3\n");
  world.Drive();
  EXPECT_FALSE(report::IsMarkedOutdated(world.forge.PullRequest(1).body));
  EXPECT_NE(world.forge.PullRequest(1).title.find("1.50x"), std::string::npos);
  EXPECT_NE(Status().find("Up to date again"), std::string::npos) << Status();
}

TEST_F(Standing, AVersionThatNothingMakesFasterLeavesNoOldGain) {
  world.runner.outcomes["softmax"] = core::TaskOutcome::kUnchanged;
  world.Push("softmax", "// softmax 3\n");
  world.Drive();
  ExpectOutdated("because");
  world.Comment(1, "maintainer", "/warpwright retry softmax");
  world.Drive();
  ExpectOutdated("because");
}

// A failure of ours says nothing about the kernel.
TEST_F(Standing, WhatCouldNotBeTriedIsNotCalledSlow) {
  for (const auto& [outcome, version] : {std::pair(core::TaskOutcome::kError, "// softmax 3\n"),
                                         std::pair(core::TaskOutcome::kRefused, "// softmax 4\n")}) {
    world.runner.outcomes["softmax"] = outcome;
    world.Push("softmax", version);
    DriveThroughRetries();
    ExpectOutdated("because");
    EXPECT_NE(Status().find("Nothing could be tried"), std::string::npos) << Status();
    EXPECT_NE(Status().find(world.RemoteTip("main").substr(0, 12)), std::string::npos) << Status();
    EXPECT_EQ(Status().find("Nothing faster"), std::string::npos) << Status();
    EXPECT_NE(world.forge.PullRequest(1).body.find("could not be tried"), std::string::npos);
  }
}

TEST_F(Standing, ACarryThatFailsIsNotCalledImpossible) {
  world.runner.outcomes["carry softmax"] = core::TaskOutcome::kError;
  PushComment("a comment");
  DriveThroughRetries();
  ExpectOutdated("because");
  EXPECT_NE(Status().find("failed"), std::string::npos) << Status();
  EXPECT_EQ(Status().find("cannot be carried over"), std::string::npos) << Status();
}

TEST_F(Standing, TryingTheSameVersionAgainTakesNothingBack) {
  world.runner.outcomes["softmax"] = core::TaskOutcome::kUnchanged;
  world.Comment(1, "maintainer", "/warpwright retry softmax");
  world.Drive();
  EXPECT_EQ(world.runner.runs.size(), 2u);
  EXPECT_FALSE(report::IsMarkedOutdated(world.forge.PullRequest(1).body));
  EXPECT_EQ(Status(), "");
}

TEST_F(Standing, SomebodysCommitIsSaidOnce) {
  PushMyOwnIdea();
  for (const char* version : {"// softmax 3\n", "// softmax 4\n"}) {
    world.Push("softmax", version);
    world.Drive();
    ExpectOutdated("which warpwright did not write");
  }
}

TEST_F(Standing, SomebodysCommitIsSaidBeforeTheKernelChangesAgain) {
  const std::atomic<bool> never{false};
  ASSERT_TRUE(world.pipeline->Reconcile(never));
  EXPECT_EQ(Status(), "") << "our own commit";
  PushMyOwnIdea();
  ASSERT_TRUE(world.pipeline->Reconcile(never));
  ExpectOutdated("which warpwright did not write");
  EXPECT_NE(Status().find(world.RemoteTip("warpwright/softmax").substr(0, 12)), std::string::npos) << Status();
  EXPECT_EQ(world.runner.runs.size(), 1u);
  const size_t acts = world.forge.log.size();
  ASSERT_TRUE(world.pipeline->Reconcile(never));
  EXPECT_EQ(world.forge.log.size(), acts);
}

TEST_F(Standing, SomebodysCommitIsHeardOfAtOnce) {
  PushMyOwnIdea();
  world.Deliver("d-1", "pull_request", PullRequestPayload("synchronize"));
  world.Drive();
  ExpectOutdated("which warpwright did not write");
}

TEST_F(Standing, ClosingAndTickingAreAnswered) {
  const std::atomic<bool> never{false};
  std::string& body = world.forge.PullRequest(1).body;
  body.replace(body.find("- [ ] <!-- warpwright:ignore -->"), 5, "- [x]");
  ASSERT_TRUE(world.pipeline->Reconcile(never));
  EXPECT_NE(Status().find("Ignored"), std::string::npos) << Status();
  world.Push("softmax", "// softmax 3\n");
  world.Drive();
  EXPECT_TRUE(report::IsMarkedOutdated(world.forge.PullRequest(1).body)) << "of the version that it was found for";
  EXPECT_TRUE(report::ParseBody(world.forge.PullRequest(1).body)->ignore);
  world.forge.Close(1);
  ASSERT_TRUE(world.pipeline->Reconcile(never));
  EXPECT_NE(Status().find("Closed"), std::string::npos) << Status();
}

TEST_F(Standing, WhoAskedIsToldThatALimitHoldsTheResultBack) {
  world.policy.max_open = 1;
  world.Comment(1, "maintainer", "/warpwright optimize gelu");
  world.Drive();
  ASSERT_EQ(world.forge.comments.size(), 1u);
  EXPECT_NE(world.forge.comments[0].request.body.find("1 of 1 pull requests are open"), std::string::npos)
      << world.forge.comments[0].request.body;
}

void Reconcile(StandingBench& bench) {
  const std::atomic<bool> never{false};
  ASSERT_TRUE(bench.world.pipeline->Reconcile(never));
  bench.world.Drive();
}
void Tick(StandingBench& bench, bool ticked) {
  std::string& body = bench.world.forge.PullRequest(1).body;
  const std::string box = "] <!-- warpwright:ignore -->";
  const size_t at = body.find(box);
  ASSERT_NE(at, std::string::npos);
  body[at - 1] = ticked ? 'x' : ' ';
  Reconcile(bench);
}
void PushOutcome(StandingBench& bench, core::TaskOutcome outcome, const std::string& version) {
  bench.world.runner.outcomes["softmax"] = outcome;
  bench.world.Push("softmax", version);
  bench.DriveThroughRetries();
}
void PushCarried(StandingBench& bench, std::optional<core::TaskOutcome> outcome) {
  if (outcome) bench.world.runner.outcomes["carry softmax"] = *outcome;
  bench.PushComment("a comment");
  bench.DriveThroughRetries();
}

// Every text that warpwright puts on a pull request about its state, for a reader to read.
TEST(StandingTexts, AreGolden) {
  using enum core::TaskOutcome;
  struct Row {
    const char* name;
    void (*act)(StandingBench& bench);
  };
  const Row rows[] = {
      {"carried over", [](StandingBench& bench) { PushCarried(bench, std::nullopt); }},
      {"cannot be carried over", [](StandingBench& bench) { PushCarried(bench, kRefused); }},
      {"carrying over failed", [](StandingBench& bench) { PushCarried(bench, kError); }},
      {"nothing faster", [](StandingBench& bench) { PushOutcome(bench, kUnchanged, "// softmax 3\n"); }},
      {"could not be tried", [](StandingBench& bench) { PushOutcome(bench, kError, "// softmax 3\n"); }},
      {"up to date again",
       [](StandingBench& bench) {
         PushOutcome(bench, kUnchanged, "// softmax 3\n");
         PushOutcome(bench, kImproved, "// softmax 4\n");
       }},
      {"somebody's commit",
       [](StandingBench& bench) {
         bench.PushMyOwnIdea();
         Reconcile(bench);
       }},
      {"ignored by the box", [](StandingBench& bench) { Tick(bench, true); }},
      {"no longer ignored",
       [](StandingBench& bench) {
         Tick(bench, true);
         Tick(bench, false);
       }},
      {"ignored by a command",
       [](StandingBench& bench) {
         bench.world.Comment(1, "maintainer", "/warpwright ignore softmax");
         bench.world.Drive();
       }},
      {"closed",
       [](StandingBench& bench) {
         bench.world.forge.Close(1);
         Reconcile(bench);
       }},
      {"opened again",
       [](StandingBench& bench) {
         bench.world.forge.Close(1);
         Reconcile(bench);
         bench.world.forge.PullRequest(1).state = forge::PullRequestState::kOpen;
         bench.world.Deliver("d-1", "pull_request", PullRequestPayload("reopened"));
         bench.world.Drive();
       }},
  };
  std::string all;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    StandingBench bench;
    row.act(bench);
    const std::string said = bench.Status();
    EXPECT_NE(said, "");
    // Commits differ from run to run.
    all += fmt::format("## {}\n\n{}\n", row.name, std::regex_replace(said, std::regex("[0-9a-f]{12,40}"), "COMMIT"));
  }
  ExpectGolden("standing.md", all);
}

TEST_F(Standing, MergingOurOwnPullRequestStartsNoJob) {
  world.remote.Git({"merge", "-q", "--no-edit", "warpwright/softmax"});
  world.forge.Close(1, true);
  world.Drive();
  EXPECT_EQ(world.runner.runs.size(), 1u);
  // Also where the merge brings another line of the file along.
  world.Push("gelu", "// gelu 2\n");
  world.Drive();
  ASSERT_EQ(world.runner.runs.size(), 2u);
  world.Push("gelu", "/// far\n///\n///\n///\n// gelu 2\n// faster\n");
  world.Drive();
  EXPECT_EQ(world.runner.runs.size(), 2u);
}

}  // namespace
}  // namespace warpwright
