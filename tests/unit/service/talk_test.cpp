#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/pull_request_status.h"
#include "tests/unit/service/world.h"

namespace warpwright {
namespace {

using Strings = std::vector<std::string>;
using nlohmann::json;

TEST(Talk, SomebodyWithWritePermissionMayAskForARun) {
  World world;
  world.Comment(1, "maintainer", "/warpwright optimize gelu");
  world.Drive();
  ASSERT_EQ(world.runner.runs.size(), 1u);
  EXPECT_TRUE(world.runner.runs[0].starts_with("gelu"));
  EXPECT_EQ(world.forge.reactions, std::set<std::string>{"1 rocket"});
  ASSERT_EQ(world.forge.comments.size(), 1u) << "one answer, brought up to date";
  EXPECT_NE(world.forge.comments[0].request.body.find("improved"), std::string::npos)
      << world.forge.comments[0].request.body;
}

TEST(Talk, AStrangerMayNot) {
  World world;
  world.Comment(1, "stranger", "/warpwright optimize gelu");
  world.Comment(2, "stranger", "/warpwright ignore gelu");
  world.Drive();
  EXPECT_TRUE(world.runner.runs.empty());
  EXPECT_TRUE(world.forge.comments.empty());
  EXPECT_EQ(world.forge.reactions, (std::set<std::string>{"1 -1", "2 -1"}));
  EXPECT_TRUE(world.store->Snapshot().repositories[0].ignored.empty());
}

TEST(Talk, OrdinaryCommentsAreNotAnswered) {
  World world;
  world.Comment(1, "maintainer", "What a day.\n/warpwright optimize");
  world.Drive();
  EXPECT_TRUE(world.forge.log.empty() || world.forge.reactions.empty());
  EXPECT_TRUE(world.runner.runs.empty());
}

TEST(Talk, RetryStartsOverAndOnlyOnce) {
  World world;
  world.runner.outcomes["softmax"] = core::TaskOutcome::kUnchanged;
  world.Push("softmax", "// softmax 2\n");
  world.Drive();
  world.Comment(1, "maintainer", "/warpwright retry softmax");
  world.Comment(2, "maintainer", "/warpwright optimize softmax");  // done, and the same: nothing to do
  world.Drive();
  ASSERT_EQ(world.runner.runs.size(), 2u);
  EXPECT_TRUE(world.runner.runs[1].ends_with(" again")) << world.runner.runs[1];
}

TEST(Talk, IgnoreAndStop) {
  World world;
  world.Comment(1, "maintainer", "/warpwright ignore softmax");
  world.Drive();
  world.Push("softmax", "// softmax 2\n");
  world.Drive();
  EXPECT_TRUE(world.runner.runs.empty());
  world.runner.during = [&](const service::RunRequest&, const service::ChildWatch& watch) {
    world.Comment(2, "maintainer", "/warpwright stop");
    ASSERT_TRUE(world.pipeline->TriageDeliveries());
    for (int i = 0; i < 5 && !*watch.stop; ++i) ASSERT_TRUE(world.pipeline->RunForgeStep());
    EXPECT_TRUE(*watch.stop);
  };
  world.Push("gelu", "// gelu 2\n");
  world.Drive();
  EXPECT_EQ(world.runner.runs.size(), 1u);
  EXPECT_EQ(world.Job("gelu").outcome, core::TaskOutcome::kCancelled);
  world.runner.during = nullptr;
  world.Comment(3, "maintainer", "/warpwright optimize softmax");  // requested: no longer ignored
  world.Drive();
  EXPECT_EQ(world.Job("softmax").outcome, core::TaskOutcome::kImproved);
}

// What is ignored elsewhere is said where its readers are.
TEST(Talk, IgnoringIsSaidOnTheOpenPullRequest) {
  World world;
  world.Push("softmax", "// softmax 2\n");
  world.Drive();
  ASSERT_EQ(world.forge.pull_requests.size(), 1u);
  const auto status = [&] {
    std::string found;
    for (const auto& comment : world.forge.comments)
      if (comment.request.marker == report::kStatusMarker && comment.request.issue == 1) found = comment.request.body;
    return found;
  };
  world.Comment(1, "maintainer", "/warpwright ignore gelu");
  world.Drive();
  EXPECT_EQ(status(), "") << "another kernel";
  world.Comment(2, "maintainer", "/warpwright ignore softmax");
  world.Drive();
  EXPECT_NE(status().find("Ignored"), std::string::npos) << status();
  world.Comment(3, "maintainer", "/warpwright optimize softmax");
  world.Drive();
  EXPECT_NE(status().find("No longer ignored"), std::string::npos) << status();
}

TEST(Talk, ExplainSaysWhatCameOfIt) {
  World world;
  world.runner.outcomes["softmax"] = core::TaskOutcome::kUnchanged;
  world.Push("softmax", "// softmax 2\n");
  world.Drive();
  world.Comment(1, "maintainer", "/warpwright explain softmax");
  world.Drive();
  ASSERT_EQ(world.forge.comments.size(), 1u);
  EXPECT_NE(world.forge.comments[0].request.body.find("unchanged"), std::string::npos);
}

TEST(Talk, OnAPullRequestItWorksOnTheHeadThatTheForgeNames) {
  World world;
  world.remote.Git({"checkout", "-q", "-b", "feature"});
  world.remote.Write("scan.cu", "// scan 2\n");
  const std::string head = world.remote.Commit("change scan on a branch");
  world.remote.Git({"checkout", "-q", "main"});
  forge::PullRequestView view;
  view.number = 1;
  view.head = "feature";
  view.head_sha = head;
  view.base = "main";
  world.forge.pull_requests.push_back(view);
  world.forge.requests.emplace_back();
  world.Comment(1, "maintainer", "/warpwright optimize", 1, true);
  world.Drive();
  EXPECT_EQ(world.runner.runs, Strings{"scan " + head.substr(0, 6)}) << "what the pull request changes";
  ASSERT_EQ(world.forge.pull_requests.size(), 2u);
  EXPECT_EQ(world.forge.pull_requests[1].base, "feature");
}

TEST(Talk, TheHeadOfAForkIsNeverRun) {
  World world;
  forge::PullRequestView view;
  view.number = 1;
  view.head = "main";  // of the fork
  view.head_sha = std::string(40, 'e');
  view.base = "main";
  world.forge.pull_requests.push_back(view);
  world.forge.requests.emplace_back();
  world.Comment(1, "maintainer", "/warpwright optimize", 1, true);
  world.Drive();
  EXPECT_TRUE(world.runner.runs.empty());
  EXPECT_EQ(world.forge.reactions, std::set<std::string>{"1 -1"});
  EXPECT_NE(world.forge.comments.at(0).request.body.find("forks"), std::string::npos);
}

json PullRequestPayload(const std::string& action, const std::string& sender) {
  return {{"action", action},
          {"number", 1},
          {"pull_request",
           {{"number", 1},
            {"state", "open"},
            {"head",
             {{"ref", "warpwright/softmax"}, {"sha", std::string(40, 'a')}, {"repo", {{"full_name", World::kName}}}}},
            {"base", {{"ref", "main"}, {"repo", {{"full_name", World::kName}}}}}}},
          {"repository", {{"full_name", World::kName}}},
          {"sender", {{"login", sender}, {"type", "User"}}}};
}

// Ticks a box as a user does, regardless of the rest of the line.
void Tick(std::string& body, const std::string& name) {
  for (size_t at = body.find("- [ ]"); at != std::string::npos; at = body.find("- [ ]", at + 1))
    if (body.substr(at, body.find('\n', at) - at).find(name) != std::string::npos) body[at + 3] = 'x';
}

TEST(Talk, AClosedPullRequestIsHeardOfByWebhook) {
  World world;
  world.Push("softmax", "// softmax 2\n");
  world.Drive();
  world.forge.Close(1);
  world.Deliver("d1", "pull_request", PullRequestPayload("closed", "maintainer").dump());
  world.Drive();
  EXPECT_EQ(world.store->Snapshot().repositories[0].ignored, Strings{"softmax"});
  world.forge.PullRequest(1).state = forge::PullRequestState::kOpen;
  world.Deliver("d2", "pull_request", PullRequestPayload("reopened", "maintainer").dump());
  world.Drive();
  EXPECT_TRUE(world.store->Snapshot().repositories[0].ignored.empty());
}

TEST(Talk, TickingRetryRunsAgainAndEmptiesTheBox) {
  World world;
  world.Push("softmax", "// softmax 2\n");
  world.Drive();
  Tick(world.forge.PullRequest(1).body, "retry");
  ASSERT_TRUE(report::ParseBody(world.forge.PullRequest(1).body)->retry);
  world.Deliver("d1", "pull_request", PullRequestPayload("edited", "stranger").dump());
  world.Drive();
  EXPECT_EQ(world.runner.runs.size(), 1u);
  world.Deliver("d2", "pull_request", PullRequestPayload("edited", "maintainer").dump());
  world.Deliver("d3", "pull_request", PullRequestPayload("edited", "maintainer").dump());
  world.Drive();
  EXPECT_EQ(world.runner.runs.size(), 2u);
  EXPECT_FALSE(report::ParseBody(world.forge.PullRequest(1).body)->retry);
  const std::atomic<bool> never{false};
  ASSERT_TRUE(world.pipeline->Reconcile(never));
  world.Drive();
  EXPECT_EQ(world.runner.runs.size(), 2u);
}

TEST(Talk, ATickThatNoWebhookToldOfIsFoundByReconciliation) {
  World world;
  world.Push("softmax", "// softmax 2\n");
  world.Drive();
  Tick(world.forge.PullRequest(1).body, "ignore");
  const std::atomic<bool> never{false};
  ASSERT_TRUE(world.pipeline->Reconcile(never));
  EXPECT_EQ(world.store->Snapshot().repositories[0].ignored, Strings{"softmax"});
  world.Push("softmax", "// softmax 3\n");
  world.Drive();
  EXPECT_EQ(world.runner.runs.size(), 1u);
}

TEST(Talk, ACheckThatIsAskedForAgainRunsAgain) {
  World world;
  world.runner.outcomes["softmax"] = core::TaskOutcome::kUnchanged;
  world.Push("softmax", "// softmax 2\n");
  world.Drive();
  const auto& check = world.forge.checks.at(0).request;
  const json payload = {
      {"action", "rerequested"},
      {"check_run", {{"name", check.name}, {"head_sha", check.sha}, {"external_id", check.external_id}}},
      {"repository", {{"full_name", World::kName}}},
      {"sender", {{"login", "maintainer"}, {"type", "User"}}}};
  world.Deliver("d1", "check_run", payload.dump());
  world.Drive();
  EXPECT_EQ(world.runner.runs.size(), 2u);
  world.Deliver("d2", "check_run", payload.dump());
  world.Drive();
  EXPECT_EQ(world.runner.runs.size(), 2u) << "the request sent again";
}

// Signatures carry no time: whoever has seen a delivery can send it again, under any id, at any time.
TEST(Talk, ACommandThatIsSentAgainDoesNothing) {
  World world;
  for (const char* verb : {"optimize", "retry"}) {
    const int64_t comment = std::string_view(verb) == "retry" ? 2 : 1;
    const std::string text = std::string("/warpwright ") + verb + " gelu";
    world.Comment(comment, "maintainer", text);
    world.Drive();
    const size_t runs = world.runner.runs.size(), acts = world.forge.log.size();
    EXPECT_EQ(runs, static_cast<size_t>(comment));
    for (const char* id : {"again-1", "again-2"}) {
      world.Comment(comment, "maintainer", text, 7, false, std::string(verb) + id);
      world.Drive();
    }
    EXPECT_EQ(world.forge.log.size(), acts) << "nobody is told twice";
    world.Push("scan", std::string("// scan ") + verb + "\n");  // main moves on
    world.Drive();
    world.Comment(comment, "maintainer", text, 7, false, std::string(verb) + "again-3");
    world.Drive();
    EXPECT_EQ(world.runner.runs.size(), runs + 1) << "the push's job alone";
    world.runner.runs.pop_back();
  }
  world.Comment(3, "stranger", "/warpwright optimize gelu");
  world.Drive();
  world.forge.permissions["stranger"] = forge::Permission::kWrite;
  world.Comment(3, "stranger", "/warpwright optimize gelu", 7, false, "again-4");
  world.Drive();
  EXPECT_EQ(world.runner.runs.size(), 2u) << "what was refused stays refused";
}

TEST(Talk, ACommandThatIsNoLongerRememberedIsTooOld) {
  World world;
  world.Comment(10, "maintainer", "/warpwright optimize gelu");
  world.Drive();
  world.clock.Advance(std::chrono::hours(24 * 40));
  ASSERT_TRUE(world.store->ApplyRetention());
  world.Comment(10, "maintainer", "/warpwright retry gelu", 7, false, "again-1");
  world.Comment(9, "maintainer", "/warpwright retry gelu", 7, false, "again-2");
  world.Drive();
  EXPECT_EQ(world.runner.runs.size(), 1u);
  world.Comment(11, "maintainer", "/warpwright retry gelu");
  world.Drive();
  EXPECT_EQ(world.runner.runs.size(), 2u);
}

TEST(Talk, GarbageAndForeignRepositoriesDoNothing) {
  World world;
  world.Deliver("d1", "pull_request", "{");
  world.Deliver("d2", "issue_comment", "[]");
  json payload = PullRequestPayload("closed", "maintainer");
  payload["repository"]["full_name"] = "other/place";
  world.Deliver("d3", "pull_request", payload.dump());
  world.Drive();
  EXPECT_EQ(world.store->Snapshot().gauges.at("deliveries_waiting"), 0);
}

}  // namespace
}  // namespace warpwright
