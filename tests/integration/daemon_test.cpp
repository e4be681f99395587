// The daemon end to end, without a network: the real programs, git over smart HTTP, and a stand-in for GitHub that
// checks every request. A kernel changes; the tests check what users see.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/compiled_cache.h"
#include "tests/support/github_stand_in/daemon_kit.h"
#include "tests/support/github_stand_in/git_backend.h"
#include "tests/support/github_stand_in/kill_run.h"

namespace warpwright {
namespace {

using nlohmann::json;

constexpr char kBranch[] = "warpwright/row_sum";

DaemonKitOptions Options() {
  return {.programs = std::string(WW_BINARY_DIR) + "/daemon/cli", .source = WW_SOURCE_DIR, .cache = CompiledCache()};
}

class DaemonTest : public testing::Test {
 protected:
  DaemonTest() : kit(Options()), hub(kit.hub()) {}

  json Dump() { return hub.Dump(DaemonKit::kRepository); }
  json Pull(int64_t number) {
    const json dump = Dump();  // outlives the loop
    for (const json& pull : dump.at("pulls"))
      if (pull.at("number") == number) return pull;
    return nullptr;
  }
  size_t Pulls() { return Dump().at("pulls").size(); }
  // The check of that commit; null if there is none yet.
  json CheckOf(const std::string& commit, const std::string& name = "warpwright / row_sum") {
    const json dump = Dump();
    for (const json& check : dump.at("checks"))
      if (check.at("head_sha") == commit && check.at("name") == name && check.at("status") == "completed") return check;
    return nullptr;
  }
  std::string Branch(const std::string& branch) {
    return ReadRefs(hub.GitFolder(DaemonKit::kRepository))["refs/heads/" + branch];
  }
  std::string AskHub(std::vector<std::string> arguments) {
    return AskGit(hub.GitFolder(DaemonKit::kRepository), std::move(arguments));
  }
  void Reported(const std::string& commit) {
    ASSERT_TRUE(kit.Wait([&] { return !CheckOf(commit).is_null(); })) << "no check of " << commit << "\n" << Tail();
    ASSERT_TRUE(kit.Wait([&] { return kit.Idle(); })) << Tail();
  }
  std::string Tail() {
    const std::string log = kit.log();
    return log.substr(log.size() > 6000 ? log.size() - 6000 : 0);
  }

  void FirstChange();
  void SecondChangeUpdatesInPlace();
  void CommandsAreForThoseWhoMay();
  void AConflictIsCarriedOver();
  void ForgedWebhooksAreRefused();
  void ClosedMeansNo();
  void AnotherVersionIsProposedAgain();
  void ForeignCommitsAreLeftAlone();
  void NobodyWasAnnoyed();

  DaemonKit kit;
  GithubStandIn& hub;
  std::string first, second;  // commits
  int64_t request = 0;        // the number of the first pull request
};

void DaemonTest::FirstChange() {
  kit.ChangeKernel(1);
  first = kit.CommitAndPush("row_sum: another edition");
  Reported(first);
  ASSERT_EQ(Pulls(), 1u) << Tail();
  request = Dump().at("pulls")[0].at("number");
  const json pull = Pull(request);
  EXPECT_EQ(pull.at("state"), "open");
  EXPECT_EQ(pull.at("head").at("ref"), kBranch);
  EXPECT_EQ(pull.at("base").at("ref"), "main");
  EXPECT_EQ(pull.at("draft"), true) << "a modelled gain is a draft at most";
  EXPECT_EQ(pull.at("user").at("login"), "warpwright[bot]");
  EXPECT_TRUE(pull.at("title").get<std::string>().starts_with("perf(row_sum): ")) << pull.at("title");
  const std::string body = pull.at("body");
  for (const char* part : {"<!--", "row_sum", "modelled", "| ", "```mermaid", "<details>", "Reproduce", "- [ ] "})
    EXPECT_NE(body.find(part), std::string::npos) << part << "\n" << body;
  EXPECT_NE(body.find(first), std::string::npos) << "the base commit";

  // One commit by warpwright on top of the pushed commit, which changes only that file.
  EXPECT_EQ(AskHub({"rev-parse", std::string(kBranch) + "^"}), first);
  EXPECT_EQ(AskHub({"diff", "--name-only", "main", kBranch}), "src/row_sum.cu");
  const std::string committer = AskHub({"log", "-1", "--format=%cn <%ce>", kBranch});
  EXPECT_TRUE(committer.starts_with("warpwright[bot] <") &&
              committer.ends_with("+warpwright[bot]@users.noreply.127.0.0.1>"))
      << committer;
  const std::string message = AskHub({"log", "-1", "--format=%B", kBranch});
  for (const char* trailer : {"Kernel-Id:", "Base-Blob:", "Run-Id:", "Optimized-by: warpwright"})
    EXPECT_NE(message.find(trailer), std::string::npos) << message;
  for (const char* other : {"warpwright/softmax", "warpwright/transpose"}) EXPECT_EQ(Branch(other), "") << other;

  const json check = CheckOf(first);
  EXPECT_EQ(check.at("conclusion"), "success");
  EXPECT_EQ(check.at("details_url"), pull.at("html_url"));
  EXPECT_EQ(Dump().at("checks").size(), 1u);

  ASSERT_TRUE(kit.Wait([&] { return !Dump().at("issues").empty(); }, std::chrono::seconds(40))) << "no dashboard\n"
                                                                                                << Tail();
  const json issue = Dump().at("issues")[0];
  EXPECT_NE(issue.at("body").get<std::string>().find("row_sum"), std::string::npos);
}

void DaemonTest::SecondChangeUpdatesInPlace() {
  const std::string before = Branch(kBranch), body = Pull(request).at("body");
  kit.ChangeKernel(2);
  second = kit.CommitAndPush("row_sum: yet another edition");
  Reported(second);
  EXPECT_EQ(Pulls(), 1u);
  EXPECT_NE(Branch(kBranch), before);
  EXPECT_EQ(AskHub({"rev-parse", std::string(kBranch) + "^"}), second) << "one commit, upon the new version";
  EXPECT_EQ(Pull(request).at("head").at("sha"), Branch(kBranch));
  EXPECT_NE(Pull(request).at("body"), body);
  EXPECT_EQ(CheckOf(second).at("conclusion"), "success");

  // A comment changes no slice: nothing happens.
  const size_t pushes = hub.Pushes().size();
  kit.Edit("src/softmax.cu", [](const std::string& text) { return "// edited\n" + text; });
  const std::string commit = kit.CommitAndPush("softmax: a comment");
  ASSERT_TRUE(kit.Wait([&] {
    const json snapshot = kit.Snapshot();
    return snapshot.is_object() && snapshot.at("repositories")[0].at("tips").dump().find(commit) != std::string::npos;
  }));
  ASSERT_TRUE(kit.Wait([&] { return kit.Idle(); }));
  EXPECT_EQ(hub.Pushes().size(), pushes + 1) << "but the person's";
}

void DaemonTest::CommandsAreForThoseWhoMay() {
  const auto say = [&](const std::string& login, const std::string& text, const std::string& id) {
    const int64_t comment = hub.Comment(DaemonKit::kRepository, request, login, text);
    EXPECT_EQ(kit.Deliver("issue_comment", kit.CommentPayload(request, comment, login, text), id), 202);
    return comment;
  };
  const auto reactions = [&](int64_t comment) {
    std::set<std::string> found;
    const json dump = Dump();
    for (const json& reaction : dump.at("reactions").value(std::to_string(comment), json::array()))
      found.insert(reaction.at("content"));
    return found;
  };
  const int64_t stranger = say("stranger", "/warpwright ignore row_sum", "d-stranger");
  ASSERT_TRUE(kit.Wait([&] { return reactions(stranger).contains("-1"); })) << Tail();
  EXPECT_EQ(Dump().at("comments").size(), 1u) << "no answer to a stranger";

  const int64_t writer = say("writer", "/warpwright explain row_sum\nthanks", "d-writer");
  ASSERT_TRUE(kit.Wait([&] { return Dump().at("comments").size() == 3; })) << Tail();
  EXPECT_TRUE(reactions(writer).contains("rocket"));
  EXPECT_EQ(Dump().at("comments")[2].at("user").at("login"), "warpwright[bot]");
  // The same delivery again, and the same comment in another delivery: one reply.
  EXPECT_EQ(
      kit.Deliver("issue_comment", kit.CommentPayload(request, writer, "writer", "/warpwright explain row_sum\nthanks"),
                  "d-writer"),
      202);
  EXPECT_EQ(
      kit.Deliver("issue_comment", kit.CommentPayload(request, writer, "writer", "/warpwright explain row_sum\nthanks"),
                  "d-writer-2"),
      202);
  const int64_t last = say("writer", "/warpwright nonsense", "d-nonsense");
  ASSERT_TRUE(kit.Wait([&] { return reactions(last).contains("-1"); })) << Tail();
  ASSERT_TRUE(kit.Wait([&] { return Dump().at("comments").size() == 5; })) << Dump().at("comments").dump(1);
  EXPECT_EQ(reactions(writer).size(), 1u);
}

// A remark directly above the kernel that the pull request changes.
void DaemonTest::AConflictIsCarriedOver() {
  const std::string before = Branch(kBranch);
  const auto merges = [&] { return AskHub({"merge-tree", "--write-tree", "--name-only", "main", kBranch}); };
  kit.Edit("src/row_sum.cu",
           [](std::string text) { return text.insert(text.find("static __global__"), "// A thread for each row.\n"); });
  const std::string commit = kit.CommitAndPush("row_sum: a remark");
  ASSERT_TRUE(kit.Wait([&] { return Branch(kBranch) != before; })) << Tail();
  Reported(commit);
  EXPECT_EQ(AskHub({"rev-parse", std::string(kBranch) + "^"}), commit);
  EXPECT_EQ(merges().find("CONFLICT"), std::string::npos);
  const std::string text = AskHub({"show", std::string(kBranch) + ":src/row_sum.cu"});
  EXPECT_NE(text.find("// A thread for each row."), std::string::npos) << text;
  EXPECT_EQ(Pulls(), 1u);
  EXPECT_NE(Pull(request).at("body").get<std::string>().find(commit), std::string::npos);
  EXPECT_TRUE(Pull(request).at("title").get<std::string>().find(" faster") != std::string::npos);
  EXPECT_EQ(CheckOf(commit).at("conclusion"), "success") << CheckOf(commit).dump(1);
  const json comments = Dump().at("comments");
  EXPECT_EQ(std::count_if(comments.begin(), comments.end(),
                          [](const json& comment) {
                            return comment.at("body").get<std::string>().find("Carried over") != std::string::npos;
                          }),
            1)
      << comments.dump(1);
}

void DaemonTest::ForgedWebhooksAreRefused() {
  const json payload = kit.CommentPayload(request, 1, "writer", "/warpwright ignore row_sum");
  EXPECT_EQ(kit.Deliver("issue_comment", payload, "f-1", "none"), 401);
  EXPECT_EQ(kit.Deliver("issue_comment", payload, "f-2", "sha256=" + std::string(64, '0')), 401);
  EXPECT_EQ(kit.Deliver("issue_comment", payload, "f-3", WebhookSignature("another secret", payload.dump())), 401);
  EXPECT_EQ(kit.Deliver("ping", {{"zen", "x"}}, "f-4"), 202);
}

void DaemonTest::ClosedMeansNo() {
  hub.SetPullRequestState(DaemonKit::kRepository, request, "closed", "writer");
  EXPECT_EQ(kit.Deliver("pull_request", kit.PullRequestPayload(request, "closed", "writer"), "d-closed"), 202);
  const std::string before = Branch(kBranch);
  kit.ChangeHeader(1);  // another slice, the same file
  const std::string commit = kit.CommitAndPush("edition");
  Reported(commit);
  EXPECT_EQ(Pulls(), 1u);
  EXPECT_EQ(Pull(request).at("state"), "closed");
  EXPECT_EQ(Branch(kBranch), before);
  EXPECT_EQ(CheckOf(commit).at("conclusion"), "neutral");
  EXPECT_NE(CheckOf(commit).at("output").at("summary").get<std::string>().find("closed without merging"),
            std::string::npos)
      << CheckOf(commit).dump(1);
}

void DaemonTest::AnotherVersionIsProposedAgain() {
  kit.ChangeKernel(3);
  const std::string commit = kit.CommitAndPush("row_sum: a third bound");
  Reported(commit);
  ASSERT_EQ(Pulls(), 2u) << Tail();
  const json pull = Dump().at("pulls")[1];
  EXPECT_EQ(pull.at("state"), "open");
  EXPECT_EQ(pull.at("head").at("sha"), Branch(kBranch));
  EXPECT_EQ(Pull(request).at("state"), "closed") << "a closed one is not reopened";
}

void DaemonTest::ForeignCommitsAreLeftAlone() {
  kit.Git({"fetch", "-q", "origin"});
  kit.Git({"checkout", "-q", "-b", "mine", std::string("origin/") + kBranch});
  kit.Edit("src/row_sum.cu", [](const std::string& text) { return "// tuned by hand\n" + text; });
  kit.Git({"commit", "-q", "-a", "-m", "by hand"});
  kit.Git({"push", "-q", "origin", std::string("HEAD:") + kBranch});
  const std::string theirs = kit.Git({"rev-parse", "HEAD"});
  kit.Git({"checkout", "-q", "main"});
  kit.ChangeKernel(4);
  const std::string commit = kit.CommitAndPush("row_sum: a fourth bound");
  Reported(commit);
  EXPECT_EQ(Branch(kBranch), theirs);
  EXPECT_EQ(Pulls(), 2u);
  EXPECT_NE(CheckOf(commit).at("output").at("summary").get<std::string>().find("which warpwright did not write"),
            std::string::npos)
      << CheckOf(commit).dump(1);
}

void DaemonTest::NobodyWasAnnoyed() {
  EXPECT_EQ(hub.Violations(), std::vector<std::string>());
  EXPECT_EQ(hub.Conduct(), std::vector<std::string>());
  std::set<std::string> checks;
  const json dump = Dump();
  for (const json& check : dump.at("checks"))
    EXPECT_TRUE(checks
                    .insert(fmt::format("{} {} {}", check.at("name").dump(), check.at("head_sha").dump(),
                                        check.at("external_id").dump()))
                    .second)
        << check.dump();
  EXPECT_EQ(Dump().at("issues").size(), 1u) << "one dashboard";
  EXPECT_EQ(Dump().at("statuses").size(), 0u);
  const std::string log = kit.log();
  for (const char* secret : {"ghs_", "It's a Secret", "BEGIN RSA"})
    EXPECT_EQ(log.find(secret), std::string::npos) << secret;
}

TEST_F(DaemonTest, TheWayOfAChange) {
  kit.Start();
  ASSERT_NO_FATAL_FAILURE(FirstChange());
  ASSERT_NO_FATAL_FAILURE(SecondChangeUpdatesInPlace());
  ASSERT_NO_FATAL_FAILURE(CommandsAreForThoseWhoMay());
  ASSERT_NO_FATAL_FAILURE(AConflictIsCarriedOver());
  ASSERT_NO_FATAL_FAILURE(ForgedWebhooksAreRefused());
  ASSERT_NO_FATAL_FAILURE(ClosedMeansNo());
  ASSERT_NO_FATAL_FAILURE(AnotherVersionIsProposedAgain());
  ASSERT_NO_FATAL_FAILURE(ForeignCommitsAreLeftAlone());
  ASSERT_NO_FATAL_FAILURE(NobodyWasAnnoyed());
  EXPECT_EQ(kit.Stop(std::chrono::seconds(30)), 0) << Tail();
  EXPECT_TRUE(kit.Leftovers().empty());
}

// 200 of them: tests/bench/kill_bench.cpp.
TEST(DaemonKills, AFewAtRandomMomentsLoseAndDoubleNothing) {
  KillOptions options;
  options.kit = Options();
  options.kills = 5;
  const json result = RunKills(options);
  EXPECT_EQ(result.at("wrong"), json::array()) << result.dump(1);
  EXPECT_EQ(result.at("kills"), 5);
}

}  // namespace
}  // namespace warpwright
