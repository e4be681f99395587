#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/service/world.h"

namespace warpwright {
namespace {

using Strings = std::vector<std::string>;

TEST(Pipeline, AChangeBecomesABranchAPullRequestAndACheck) {
  World world;
  EXPECT_TRUE(world.runner.runs.empty()) << "what is there already at the first look is left alone";
  const std::string commit = world.Push("softmax", "// softmax 2\n");
  world.Drive();
  EXPECT_EQ(world.runner.runs, (Strings{"softmax " + commit.substr(0, 6)}));
  const std::string tip = world.RemoteTip("warpwright/softmax");
  ASSERT_FALSE(tip.empty());
  EXPECT_EQ(world.remote.Git({"rev-parse", tip + "~1"}), commit + "\n");
  ASSERT_EQ(world.forge.pull_requests.size(), 1u);
  EXPECT_EQ(world.forge.pull_requests[0].head, "warpwright/softmax");
  EXPECT_EQ(world.forge.pull_requests[0].base, "main");
  EXPECT_FALSE(world.forge.requests[0].draft);
  ASSERT_EQ(world.forge.checks.size(), 1u);
  EXPECT_EQ(world.forge.checks[0].request.name, "warpwright / softmax");
  EXPECT_EQ(world.forge.checks[0].request.sha, commit);
  EXPECT_EQ(world.forge.checks[0].request.conclusion, forge::Conclusion::kSuccess);
  EXPECT_EQ(world.Job("softmax").phase, service::JobPhase::kDone);
  EXPECT_EQ(world.Job("softmax").outcome, core::TaskOutcome::kImproved);
  EXPECT_FALSE(world.Job("softmax").pull_request_url.empty());
  EXPECT_EQ(world.forge.dashboards.size(), 1u);
}

TEST(Pipeline, ItsOwnBranchesAndUnchangedKernelsMakeNoWork) {
  World world;
  world.Push("softmax", "// softmax 2\n");
  world.Drive();
  world.remote.Write("README.md", "text");
  world.remote.Commit("no kernel");
  world.Drive();
  EXPECT_EQ(world.runner.runs.size(), 1u);
}

TEST(Pipeline, TheNextVersionUpdatesThePullRequestInPlace) {
  World world;
  world.Push("softmax", "// softmax 2\n");
  world.Drive();
  const std::string first = world.RemoteTip("warpwright/softmax");
  const std::string commit = world.Push("softmax", "// softmax 3\n");
  world.Drive();
  EXPECT_NE(world.RemoteTip("warpwright/softmax"), first);
  EXPECT_EQ(world.remote.Git({"rev-parse", "warpwright/softmax~1"}), commit + "\n") << "one commit on the new base";
  EXPECT_EQ(world.forge.pull_requests.size(), 1u);
  EXPECT_EQ(world.Logged("update pull request").size(), 1u);
}

TEST(Pipeline, AForeignCommitOnTheBranchIsLeftAlone) {
  World world;
  world.Push("softmax", "// softmax 2\n");
  world.Drive();
  world.remote.Git({"checkout", "-q", "warpwright/softmax"});
  world.remote.Write("softmax.cu", "// mine\n");
  const std::string mine = world.remote.Commit("my own idea");
  world.remote.Git({"checkout", "-q", "main"});
  world.Push("softmax", "// softmax 3\n");
  world.Drive();
  EXPECT_EQ(world.RemoteTip("warpwright/softmax"), mine);
  EXPECT_EQ(world.Job("softmax").outcome, core::TaskOutcome::kIgnored);
  EXPECT_NE(world.Job("softmax").message.find("which warpwright did not write"), std::string::npos)
      << world.Job("softmax").message;
  EXPECT_EQ(world.forge.checks.back().request.conclusion, forge::Conclusion::kNeutral);
  EXPECT_EQ(world.forge.pull_requests.size(), 1u);
}

TEST(Pipeline, AClosedPullRequestMeansNoUntilTheFileChanges) {
  World world;
  world.Push("softmax", "// softmax 2\n");
  world.Drive();
  world.forge.Close(1);
  const std::atomic<bool> never{false};
  ASSERT_TRUE(world.pipeline->Reconcile(never));
  EXPECT_EQ(world.store->Snapshot().repositories[0].ignored, Strings{"softmax"});
  world.Push("softmax", "// softmax 3\n");
  world.Push("softmax", "// softmax 2\n");  // back to the version that was closed
  world.Drive();
  EXPECT_EQ(world.forge.pull_requests.size(), 1u);
  world.Push("softmax", "// softmax 4\n");
  world.Drive();
  EXPECT_EQ(world.forge.pull_requests.size(), 2u);
  EXPECT_EQ(world.forge.pull_requests[1].state, forge::PullRequestState::kOpen);
}

TEST(Pipeline, AClosedPullRequestIsNoticedAlsoWhenItIsPublishedAgain) {
  World world;
  world.Push("softmax", "// softmax 2\n");
  world.Drive();
  world.forge.Close(1);  // no webhook arrived, and a job for the same file follows: for example, the header changed
  service::Event event;
  event.repository = World::kName;
  event.ref = "refs/heads/main";
  event.to = world.RemoteTip("main");
  event.kernel = "softmax";
  event.priority = service::JobPriority::kNightly;
  event.again = true;
  ASSERT_TRUE(world.store->AddEvent(event));
  world.Drive();
  EXPECT_EQ(world.forge.pull_requests.size(), 1u);
  EXPECT_EQ(world.Job("softmax").outcome, core::TaskOutcome::kIgnored);
}

TEST(Pipeline, WhatPeopleClosedGetsACheckThatSaysSoAndNoWork) {
  World world;
  world.Push("softmax", "// softmax 2\n");
  world.Drive();
  world.forge.Close(1);
  const std::atomic<bool> never{false};
  ASSERT_TRUE(world.pipeline->Reconcile(never));
  world.runner.file_only_key = false;
  world.remote.Write("common.h", "// a header of softmax\n");
  const std::string commit = world.remote.Commit("change a header");
  world.Drive();
  EXPECT_EQ(world.runner.runs.size(), 1u);
  ASSERT_GE(world.forge.checks.size(), 2u);
  const forge::CheckRequest& check = world.forge.checks.back().request;
  EXPECT_EQ(check.sha, commit);
  EXPECT_EQ(check.conclusion, forge::Conclusion::kNeutral);
  EXPECT_NE(check.summary.find("closed without merging"), std::string::npos) << check.summary;
  EXPECT_EQ(world.Job("softmax").outcome, core::TaskOutcome::kIgnored);
  world.Comment(1, "maintainer", "/warpwright optimize softmax");
  world.Drive();
  EXPECT_EQ(world.runner.runs.size(), 2u) << "asked for, it is done";
}

TEST(Pipeline, AMergedPullRequestIsFollowedByANewOne) {
  World world;
  world.Push("softmax", "// softmax 2\n");
  world.Drive();
  world.forge.Close(1, true);
  world.Push("softmax", "// softmax 3\n");
  world.Drive();
  EXPECT_EQ(world.forge.pull_requests.size(), 2u);
}

// Jobs are dropped after a time, and a kernel has one row of its publication.
TEST(Pipeline, MergedGainsStayOnTheDashboard) {
  for (const bool seen : {true, false}) {
    World world;
    const std::atomic<bool> never{false};
    for (const auto& [number, version] : {std::pair(1, "// softmax 2\n"), std::pair(2, "// softmax 3\n")}) {
      world.Push("softmax", version);
      world.Drive();
      world.forge.Close(number, true);
      if (seen || number == 2) {
        ASSERT_TRUE(world.pipeline->Reconcile(never));
      }
      world.Drive();
    }
    world.clock.Advance(std::chrono::hours(24 * 91));
    ASSERT_TRUE(world.store->ApplyRetention());
    world.Push("gelu", "// gelu 2\n");
    world.Drive();
    ASSERT_EQ(world.store->Snapshot().jobs.size(), 1u) << "the others are forgotten";
    const std::string body = world.forge.dashboards.at(World::kName).body;
    const size_t merged = body.find("### Merged (2)"), first = body.find("| 1.50x |", merged);
    ASSERT_NE(merged, std::string::npos) << body;
    ASSERT_NE(first, std::string::npos) << body;
    EXPECT_NE(body.find("| 1.50x |", first + 1), std::string::npos) << body;
    EXPECT_NE(body.find("/pull/1", merged), std::string::npos) << body;
    EXPECT_NE(body.find("/pull/2", merged), std::string::npos) << body;
    EXPECT_NE(body.find("### Open pull requests (1)"), std::string::npos) << body;
    EXPECT_NE(body.find("**. 1 of "), std::string::npos) << "as many as are listed: " << body;
  }
}

TEST(Pipeline, WithoutAGainThereIsACheckAndNothingElse) {
  World world;
  world.runner.outcomes["softmax"] = core::TaskOutcome::kUnchanged;
  world.Push("softmax", "// softmax 2\n");
  world.Drive();
  EXPECT_TRUE(world.forge.pull_requests.empty());
  EXPECT_TRUE(world.RemoteTip("warpwright/softmax").empty());
  ASSERT_EQ(world.forge.checks.size(), 1u);
  EXPECT_EQ(world.forge.checks[0].request.conclusion, forge::Conclusion::kNeutral);
  EXPECT_EQ(world.Job("softmax").outcome, core::TaskOutcome::kUnchanged);
}

TEST(Pipeline, AModelledGainOpensADraftOnly) {
  World world;
  world.modelled = true;
  world.Push("softmax", "// softmax 2\n");
  world.Drive();
  EXPECT_TRUE(world.forge.requests.at(0).draft);
}

TEST(Pipeline, BeyondTheLimitsResultsWaitAndGoOnWhenThereIsRoom) {
  World world;
  world.policy.max_open = 1;
  world.Push("softmax", "// softmax 2\n");
  world.Push("gelu", "// gelu 2\n");
  world.Drive();
  EXPECT_EQ(world.forge.pull_requests.size(), 1u);
  const std::string held = world.forge.pull_requests[0].head == "warpwright/softmax" ? "gelu" : "softmax";
  EXPECT_EQ(world.Job(held).phase, service::JobPhase::kWaiting);
  EXPECT_NE(world.Job(held).message.find("1 of 1"), std::string::npos);
  EXPECT_TRUE(world.RemoteTip("warpwright/" + held).empty()) << "nothing is pushed before";
  EXPECT_NE(world.forge.dashboards.begin()->second.body.find(held), std::string::npos) << "but it is visible";
  // Everyone sees it on the commit, said once however often it is tried.
  const auto check = [&] {
    for (const auto& one : world.forge.checks)
      if (one.request.name == "warpwright / " + held) return one.request;
    return forge::CheckRequest();
  };
  EXPECT_TRUE(check().summary.starts_with("Waiting: 1 of 1 pull requests are open.")) << check().summary;
  EXPECT_EQ(check().conclusion, forge::Conclusion::kNeutral);
  int put = 0;
  world.forge.before = [&](const std::string& verb) {
    put += verb == "put check" ? 1 : 0;
    return Status();
  };
  for (int minute = 0; minute < 3; ++minute) {
    world.clock.Advance(std::chrono::minutes(2));
    world.Drive();
  }
  EXPECT_EQ(put, 0);
  world.forge.Close(1, true);
  const std::atomic<bool> never{false};
  ASSERT_TRUE(world.pipeline->Reconcile(never));
  world.clock.Advance(std::chrono::minutes(2));
  world.Drive();
  EXPECT_EQ(check().summary.find("Waiting"), std::string::npos) << check().summary;
  EXPECT_EQ(check().conclusion, forge::Conclusion::kSuccess);
  EXPECT_EQ(world.Job(held).phase, service::JobPhase::kDone);
  EXPECT_EQ(world.forge.pull_requests.size(), 2u);
}

TEST(Pipeline, TheDailyLimitEndsWithTheDay) {
  World world;
  world.policy.max_per_day = 1;
  world.Push("softmax", "// softmax 2\n");
  world.Push("gelu", "// gelu 2\n");
  world.Drive();
  EXPECT_EQ(world.forge.pull_requests.size(), 1u);
  world.clock.Advance(std::chrono::hours(24));
  world.Drive();
  EXPECT_EQ(world.forge.pull_requests.size(), 2u);
}

TEST(Pipeline, TheOperatorsCeilingWins) {
  config::Ceilings limits;
  limits.max_open = 1;
  World world(limits);
  world.Push("softmax", "// softmax 2\n");
  world.Push("gelu", "// gelu 2\n");
  world.Drive();
  EXPECT_EQ(world.forge.pull_requests.size(), 1u);
}

TEST(Pipeline, OurErrorsAreTriedAgainAndThenReported) {
  World world;
  world.runner.outcomes["softmax"] = core::TaskOutcome::kError;
  world.Push("softmax", "// softmax 2\n");
  world.Drive();
  world.clock.Advance(std::chrono::minutes(10));
  world.Drive();
  world.clock.Advance(std::chrono::minutes(10));
  world.Drive();
  EXPECT_EQ(world.runner.runs.size(), 3u);
  EXPECT_EQ(world.Job("softmax").outcome, core::TaskOutcome::kError);
  ASSERT_EQ(world.forge.checks.size(), 1u);
  EXPECT_TRUE(world.forge.pull_requests.empty());
}

// A question of its task waits for somebody outside: neither a result nor a failure.
TEST(Pipeline, AJobWhoseModelHasNotAnsweredIsLookedAtAgain) {
  World world;
  world.runner.outcomes["softmax"] = core::TaskOutcome::kUnfinished;
  world.Push("softmax", "// softmax 2\n");
  world.Drive();
  EXPECT_EQ(world.runner.runs.size(), 1u);
  EXPECT_EQ(world.Job("softmax").phase, service::JobPhase::kQueued);
  EXPECT_EQ(world.Job("softmax").attempts, 0);
  EXPECT_TRUE(world.forge.checks.empty());
  world.runner.outcomes.clear();
  world.clock.Advance(std::chrono::minutes(11));
  world.Drive();
  EXPECT_EQ(world.runner.runs.size(), 2u);
  EXPECT_EQ(world.Job("softmax").outcome, core::TaskOutcome::kImproved);
}

TEST(Pipeline, ADeviceOnWhichEverythingFailsRestsAndCostsNoJob) {
  World world;
  for (const char* kernel : {"softmax", "gelu", "scan"}) {
    world.runner.outcomes[kernel] = core::TaskOutcome::kError;
    world.Push(kernel, "// another\n");
  }
  for (int i = 0; i < 96; ++i) {  // 16 hours
    world.Drive();
    world.clock.Advance(std::chrono::minutes(10));
  }
  EXPECT_LT(world.runner.runs.size(), 50u) << "a try every half hour, and a few at first";
  EXPECT_GT(world.runner.runs.size(), 20u);
  EXPECT_TRUE(world.forge.checks.empty()) << "no kernel is said to have failed";
  world.runner.outcomes.clear();
  world.clock.Advance(std::chrono::minutes(40));
  for (int i = 0; i < 5; ++i) {
    world.Drive();
    world.clock.Advance(std::chrono::hours(1));
  }
  for (const char* kernel : {"softmax", "gelu", "scan"})
    EXPECT_EQ(world.Job(kernel).outcome, core::TaskOutcome::kImproved) << kernel;
  EXPECT_TRUE(world.pipeline->Resting().empty());
}

TEST(Pipeline, TwoKernelsThatAlwaysFailDoNotHoldUpTheOthers) {
  World world;
  world.runner.outcomes = {{"softmax", core::TaskOutcome::kError}, {"gelu", core::TaskOutcome::kError}};
  for (const char* kernel : {"softmax", "gelu"}) world.Push(kernel, "// another\n");
  for (int i = 0; i < 3; ++i) {
    world.Drive();
    world.clock.Advance(std::chrono::minutes(3));
  }
  world.Push("scan", "// another\n");
  for (int i = 0; i < 24; ++i) {  // 4 hours
    world.Drive();
    world.clock.Advance(std::chrono::minutes(10));
  }
  EXPECT_EQ(world.Job("scan").outcome, core::TaskOutcome::kImproved);
  for (int i = 0; i < 30; ++i) {  // nor are they retried indefinitely
    world.Drive();
    world.clock.Advance(std::chrono::hours(1));
  }
  for (const char* kernel : {"softmax", "gelu"})
    EXPECT_EQ(world.Job(kernel).outcome, core::TaskOutcome::kError) << kernel;
}

TEST(DeviceCircuitBreaker, GrowsToHalfAnHourAndEndsWithTheFirstThatWorks) {
  FakeClock clock;
  service::DeviceCircuitBreaker rest(clock);
  for (int i = 0; i < 10; ++i)
    EXPECT_FALSE(rest.RecordFailure("cuda:0", "acme softmax")) << "one kernel that fails is its own problem";
  EXPECT_FALSE(rest.IsOpen("cuda:0"));
  EXPECT_TRUE(rest.RecordFailure("cuda:1", "acme a") == false && rest.RecordFailure("cuda:1", "acme b") == false);
  for (const int minutes : {1, 2, 4, 8, 16, 30, 30}) {
    EXPECT_TRUE(rest.RecordFailure("cuda:1", "acme a"));
    EXPECT_TRUE(rest.IsOpen("cuda:1"));
    ASSERT_EQ(rest.OpenCircuits().size(), 1u);
    EXPECT_EQ(rest.OpenCircuits()[0].substr(0, rest.OpenCircuits()[0].find(" after")),
              fmt::format("cuda:1 is paused for {} min", minutes));
    clock.Advance(std::chrono::minutes(minutes));
    EXPECT_FALSE(rest.IsOpen("cuda:1")) << "the next is tried";
  }
  rest.RecordSuccess("cuda:1");
  EXPECT_FALSE(rest.RecordFailure("cuda:1", "acme a"));
  EXPECT_TRUE(rest.OpenCircuits().empty());
}

TEST(Pipeline, AForgeThatFailsNowAndThenGetsEverythingOnce) {
  World world;
  uint32_t random = 1;
  const auto fails = [&](const char* why) -> Status {
    random = random * 1664525 + 1013904223;
    if (random >> 16 < 65536 * 3 / 10) return Fail(ErrorCode::kTimeout, why);
    return {};
  };
  world.forge.before = [&](const std::string&) { return fails("502"); };
  world.forge.after = [&](const std::string&) { return fails("no answer"); };  // done, but the response is lost
  world.Push("softmax", "// softmax 2\n");
  world.Push("gelu", "// gelu 2\n");
  world.runner.outcomes["gelu"] = core::TaskOutcome::kUnchanged;
  for (int i = 0; i < 10; ++i) world.Drive();
  EXPECT_EQ(world.Logged("create pull request").size(), 1u);
  EXPECT_EQ(world.Logged("create check").size(), 2u);
  EXPECT_EQ(world.Job("softmax").phase, service::JobPhase::kDone);
  EXPECT_EQ(world.Job("gelu").phase, service::JobPhase::kDone);
}

TEST(Pipeline, WhatTheForgeCallsNonsenseIsGivenUp) {
  World world;
  world.forge.before = [&](const std::string& verb) -> Status {
    if (verb == "put pull request") return Fail(ErrorCode::kUnsupported, "422: base is invalid");
    return {};
  };
  world.Push("softmax", "// softmax 2\n");
  for (int i = 0; i < 5; ++i) world.Drive();
  EXPECT_EQ(world.Job("softmax").outcome, core::TaskOutcome::kError);
  EXPECT_NE(world.Job("softmax").message.find("422"), std::string::npos);
}

TEST(Pipeline, AJobThatIsOvertakenWhileItRunsIsNotPublished) {
  World world;
  world.runner.during = [&](const service::RunRequest&, const service::ChildWatch&) {
    world.runner.during = nullptr;
    world.Push("softmax", "// softmax 3\n");
    const std::atomic<bool> never{false};
    ASSERT_TRUE(world.pipeline->Poll(World::kName));
    ASSERT_TRUE(world.pipeline->DetectNextEvent(never));
  };
  world.Push("softmax", "// softmax 2\n");
  world.Drive();
  EXPECT_EQ(world.runner.runs.size(), 2u);
  EXPECT_EQ(world.Logged("create pull request").size(), 1u);
  EXPECT_TRUE(world.Logged("update pull request").empty());
  EXPECT_EQ(world.store->Snapshot().counters.at("jobs_total").at("superseded"), 1);
}

TEST(Pipeline, AnInterruptedJobGoesOnAfterwards) {
  World world;
  bool once = true;
  world.runner.during = [&](const service::RunRequest&, const service::ChildWatch&) {
    if (std::exchange(once, false)) world.pipeline->StopJobs();
  };
  world.Push("softmax", "// softmax 2\n");
  world.Drive();
  EXPECT_EQ(world.runner.runs.size(), 2u);
  EXPECT_EQ(world.Job("softmax").outcome, core::TaskOutcome::kImproved);
  EXPECT_EQ(world.Job("softmax").attempts, 0);
}

TEST(Pipeline, BranchesOnly) {
  World world;
  world.publish = config::PublishTo::kBranch;
  world.Restart();
  world.Push("softmax", "// softmax 2\n");
  world.Drive();
  EXPECT_FALSE(world.RemoteTip("warpwright/softmax").empty());
  EXPECT_TRUE(world.forge.log.empty()) << world.forge.log[0];
  EXPECT_EQ(world.Job("softmax").phase, service::JobPhase::kDone);
}

TEST(Pipeline, NightsQueueWhatBecameSlower) {
  World world;
  world.runner.night = {
      core::TaskOutcome::kRegression, "1 became slower", {{"softmax", "1.2 times slower", true}}, "", ""};
  ASSERT_TRUE(world.store->StartNight(World::kName, 1, "", ""));
  ASSERT_TRUE(world.pipeline->StartNight(1000));
  world.Drive();
  ASSERT_EQ(world.runner.runs.size(), 2u);
  EXPECT_TRUE(world.runner.runs[0].starts_with("night"));
  EXPECT_TRUE(world.runner.runs[1].starts_with("softmax"));
  EXPECT_EQ(world.forge.checks.at(0).request.name, "warpwright / nights");
  EXPECT_EQ(world.forge.checks.at(0).request.summary, "1 became slower.\n\n- softmax: 1.2 times slower\n");
  // The kernel has a row, which a night that finds nothing new leaves where it is.
  const std::string row = "| `softmax` | 1.2 times slower |";
  const auto& dashboard = world.forge.dashboards.begin()->second.body;
  EXPECT_NE(dashboard.find(row), std::string::npos) << dashboard;
  world.runner.night = {core::TaskOutcome::kChecked, "no new regression", {}, "", ""};
  ASSERT_TRUE(world.pipeline->StartNight(2000));
  world.Drive();
  EXPECT_NE(dashboard.find(row), std::string::npos) << dashboard;
}

}  // namespace
}  // namespace warpwright
