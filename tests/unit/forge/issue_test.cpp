// Checks, statuses, the dashboard, comments, reactions, permissions.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/forge/model_github.h"

namespace warpwright {
namespace {

using nlohmann::json;

class IssueTest : public testing::Test, public ClientKit {
 protected:
  void UseModel() {
    http.reply = [this](const http::ClientRequest& request) { return model.Serve(request); };
  }
  ModelGithub model;
};

forge::CheckRequest SomeCheck() {
  return {.name = "warpwright / softmax",
          .sha = std::string(40, 'b'),
          .external_id = "job-17",
          .title = "no improvement found",
          .summary = "summary"};
}

TEST_F(IssueTest, ACheckIsChangedInPlace) {
  UseModel();
  forge::CheckRequest check = SomeCheck();
  check.conclusion = forge::Conclusion::kFailure;
  check.text = "what failed";
  const auto first = Client().PutCheck(kRepository, check);
  check = SomeCheck();
  check.annotations = {{"k.cu", 5, 3, "t", "m"}, {"k.cu", 0, 0, "", "n"}};
  const auto last = Client().PutCheck(kRepository, check);
  ASSERT_TRUE(first && last);
  EXPECT_EQ(*first, *last);
  ASSERT_EQ(model.checks.size(), 1u);
  EXPECT_EQ(model.checks[0]["conclusion"], "neutral");
  EXPECT_EQ(model.checks[0]["output"]["text"], "") << "the text of another conclusion stayed";
  EXPECT_EQ(model.checks[0]["head_sha"], std::string(40, 'b'));
  EXPECT_EQ(model.checks[0]["annotations"][0], (json{{"path", "k.cu"},
                                                     {"start_line", 5},
                                                     {"end_line", 5},
                                                     {"annotation_level", "notice"},
                                                     {"title", "t"},
                                                     {"message", "m"}}));
  EXPECT_EQ(model.checks[0]["annotations"][1]["start_line"], 1);
  check.external_id = "job-18";
  EXPECT_NE(*Client().PutCheck(kRepository, check), *first) << "another job's check was overwritten";
}

TEST_F(IssueTest, AnnotationsGoFiftyAtATime) {
  UseModel();
  forge::CheckRequest check = SomeCheck();
  for (int i = 0; i < 101; ++i) check.annotations.push_back({"k.cu", i + 1, i + 1, "", "m"});
  ASSERT_TRUE(Client().PutCheck(kRepository, check));
  std::vector<size_t> sizes;
  for (const http::ClientRequest& request : http.requests)
    if (request.method != "GET") sizes.push_back(json::parse(request.body)["output"]["annotations"].size());
  EXPECT_EQ(sizes, (std::vector<size_t>{50, 50, 1}));
}

TEST_F(IssueTest, ChecksThatCouldNotBeFoundAgainAreNotSent) {
  const std::function<void(forge::CheckRequest&)> changes[] = {[](forge::CheckRequest& c) { c.name = ""; },
                                                               [](forge::CheckRequest& c) { c.external_id = ""; },
                                                               [](forge::CheckRequest& c) { c.sha = ""; }};
  for (const auto& change : changes) {
    forge::CheckRequest check = SomeCheck();
    change(check);
    const auto put = Client().PutCheck(kRepository, check);
    ASSERT_FALSE(put);
    EXPECT_EQ(put.error().code, ErrorCode::kUnsupported);
  }
  EXPECT_TRUE(http.log.empty());
}

TEST_F(IssueTest, LongTextsOfACheckAreCut) {
  UseModel();
  forge::CheckRequest check = SomeCheck();
  check.summary.clear();
  for (int i = 0; i < 70'000; ++i) check.summary += "\xc3\xa4";
  ASSERT_TRUE(Client().PutCheck(kRepository, check));
  EXPECT_EQ(model.checks[0]["output"]["summary"].get<std::string>().size(), 2 * 65'534u + 3);
  const size_t before = http.log.size();
  ASSERT_TRUE(Client().PutCheck(kRepository, check));
  EXPECT_EQ(http.log.size(), before + 1) << "the cut text does not count as present";
}

TEST_F(IssueTest, ATokenThatMayNotWriteChecksWritesStatusesAndSaysSoOnce) {
  UseModel();
  model.checks_allowed = false;
  const struct {
    forge::Conclusion conclusion;
    const char* state;
  } rows[] = {{forge::Conclusion::kSuccess, "success"},
              {forge::Conclusion::kNeutral, "success"},
              {forge::Conclusion::kFailure, "failure"}};
  for (const auto& row : rows) {
    forge::CheckRequest check = SomeCheck();
    check.conclusion = row.conclusion;
    check.title = std::string(Name(row.conclusion)) + std::string(200, 'x');
    const auto id = Client().PutCheck(kRepository, check);
    ASSERT_TRUE(id) << id.error().Format();
    EXPECT_EQ(model.statuses.back()["state"], row.state);
    EXPECT_EQ(model.statuses.back()["context"], "warpwright / softmax");
    EXPECT_EQ(model.statuses.back()["description"].get<std::string>().size(), 139u + 3u)
        << "139 characters and an ellipsis of three bytes";
    EXPECT_EQ(*Client().PutCheck(kRepository, check), *id) << "written twice";
  }
  EXPECT_EQ(model.statuses.size(), std::size(rows));
  EXPECT_EQ(http.Count("POST /repos/acme/kernels/check-runs"), 1u);
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_NE(notices[0].find("GitHub App"), std::string::npos);
}

TEST_F(IssueTest, ARateLimitAtAChecksDoorIsNoMissingPermission) {
  UseModel();
  model.fault = [](size_t index) { return index == 1 ? ModelGithub::Fault::kRateLimit : ModelGithub::Fault::kNone; };
  ASSERT_TRUE(Client().PutCheck(kRepository, SomeCheck()));
  EXPECT_EQ(model.checks.size(), 1u);
  EXPECT_TRUE(model.statuses.empty());
}

json SomeIssue(int64_t number, const std::string& login, const std::string& state, const std::string& body) {
  return {{"number", number},
          {"title", "warpwright"},
          {"state", state},
          {"body", body},
          {"user", {{"login", login}, {"type", "User"}}}};
}

TEST_F(IssueTest, TheDashboardIsOursWhoeverElseWritesItsMarker) {
  UseModel();
  json pull = SomeIssue(40, "warpwright[bot]", "open", "<!-- b -->");
  pull["pull_request"] = {{"url", "x"}};
  model.issues = {SomeIssue(31, "stranger", "open", "<!-- b -->"), pull,
                  SomeIssue(32, "Warpwright[bot]", "closed", "<!-- b -->"),
                  SomeIssue(33, "warpwright[bot]", "open", "<!-- b --> old"),
                  SomeIssue(34, "warpwright[bot]", "open", "<!-- c -->")};
  EXPECT_EQ(*Client().PutDashboard(kRepository, {"warpwright", "<!-- b -->\nnew", "<!-- b -->"}), 33);
  EXPECT_EQ(model.issues[3]["body"], "<!-- b -->\nnew");
  EXPECT_EQ(http.Body("PATCH"), R"({"body":"<!-- b -->\nnew"})");
  model.issues.erase(3);
  EXPECT_EQ(*Client().PutDashboard(kRepository, {"warpwright", "<!-- b -->\nnewer", "<!-- b -->"}), 32)
      << "who closed it wants no second one";
  EXPECT_EQ(model.issues[2]["state"], "closed");
}

TEST_F(IssueTest, WithoutANameOnlyABotsIssueIsOurs) {
  options.login = {};
  UseModel();  // answers 404 to /user
  model.issues = json::array({SomeIssue(31, "stranger", "open", "<!-- b -->")});
  model.me = "github-actions[bot]";
  const auto made = Client().PutDashboard(kRepository, {"warpwright", "<!-- b -->", "<!-- b -->"});
  ASSERT_TRUE(made) << made.error().Format();
  EXPECT_NE(*made, 31);
  EXPECT_EQ(*Client().PutDashboard(kRepository, {"warpwright", "<!-- b -->", "<!-- b -->"}), *made);
  EXPECT_EQ(http.Count("GET /user"), 1u);
  EXPECT_EQ(json::parse(http.Body("POST"))["labels"], json::array({"warpwright"}));
}

TEST_F(IssueTest, CommentsAreEditedByMarkerAndOnlyOurs) {
  UseModel();
  model.comments = json::array({json{
      {"id", 900}, {"body", "<!-- c --> mine, says a stranger"}, {"user", {{"login", "stranger"}, {"type", "User"}}}}});
  const auto first = Client().PutComment(kRepository, {5, "<!-- c --> a", "<!-- c -->"});
  ASSERT_TRUE(first) << first.error().Format();
  EXPECT_NE(*first, 900);
  EXPECT_EQ(*Client().PutComment(kRepository, {5, "<!-- c --> b", "<!-- c -->"}), *first);
  EXPECT_EQ(model.comments.size(), 2u);
  EXPECT_EQ(model.comments[1]["body"], "<!-- c --> b");
  const auto plain = Client().PutComment(kRepository, {5, "no marker", ""});
  EXPECT_EQ(*Client().PutComment(kRepository, {5, "no marker\r\n", ""}), *plain);
  EXPECT_FALSE(Client().PutComment(kRepository, {5, "text", "<!-- not in it -->"}));
  EXPECT_FALSE(Client().PutComment(kRepository, {5, std::string(70'000, 'x'), ""}));
}

TEST_F(IssueTest, PermissionsAreReadStrictly) {
  const struct {
    int status;
    const char* body;
    std::optional<forge::Permission> permission;
  } rows[] = {
      {200, R"({"permission":"admin","role_name":"admin"})", forge::Permission::kAdmin},
      {200, R"({"permission":"write","role_name":"maintain"})", forge::Permission::kMaintain},
      {200, R"({"permission":"read","role_name":"triage"})", forge::Permission::kTriage},
      {200, R"({"permission":"write","role_name":"release captain"})", forge::Permission::kWrite},
      {200, R"({"permission":"none","role_name":""})", forge::Permission::kNone},
      {200, R"({"permission":"owner"})", std::nullopt},
      {200, R"({})", std::nullopt},
      {404, R"({"message":"Not Found"})", forge::Permission::kNone},
      {403, R"({"message":"Must have push access"})", std::nullopt},
  };
  for (const auto& row : rows) {
    ClientKit kit;
    kit.http.On("GET /repos/acme/kernels/collaborators/", {Answer(row.status, row.body)});
    const auto permission = kit.Client().PermissionOf(kRepository, "../a b[bot]");
    EXPECT_EQ(permission ? std::optional(*permission) : std::nullopt, row.permission) << row.body;
    EXPECT_EQ(kit.http.log[0], "GET /repos/acme/kernels/collaborators/..%2Fa%20b%5Bbot%5D/permission");
  }
  EXPECT_EQ(*Client().PermissionOf(kRepository, ""), forge::Permission::kNone);
  (void)Client().PermissionOf(kRepository, "..");
  EXPECT_EQ(http.log[0], "GET /repos/acme/kernels/collaborators/%2E./permission");
}

TEST_F(IssueTest, ReactionsAreAskedForUntilTheyAreThere) {
  const std::string path = "POST /repos/acme/kernels/issues/comments/9/reactions";
  http.On(path, {Answer(502), Answer(200), Answer(404)});
  EXPECT_TRUE(Client().React(kRepository, 9, "eyes"));
  EXPECT_EQ(http.Body(path), R"({"content":"eyes"})");
  EXPECT_FALSE(Client().React(kRepository, 9, "eyes"));
  EXPECT_FALSE(Client().React(kRepository, 9, "thumbs"));
  EXPECT_EQ(http.log.size(), 3u);
}

TEST_F(IssueTest, KnowsTheAuthorOfItsCommits) {
  http.On("GET /user", {Answer(200, R"({"login":"warpwright[bot]","id":1})")});
  http.On("GET /users/warpwright%5Bbot%5D", {Answer(200, R"({"login":"warpwright[bot]","id":77})")});
  const auto author = Client().OwnAuthor(kRepository);
  ASSERT_TRUE(author) << author.error().Format();
  EXPECT_EQ(author->name, "warpwright[bot]");
  EXPECT_EQ(author->email, "77+warpwright[bot]@users.noreply.github.com");
}

}  // namespace
}  // namespace warpwright
