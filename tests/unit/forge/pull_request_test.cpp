#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "tests/unit/forge/scripted_http.h"

namespace warpwright {
namespace {

using nlohmann::json;

constexpr const char* kList = "GET /repos/acme/kernels/pulls?";
constexpr const char* kRead = "GET /repos/acme/kernels/pulls/7";
constexpr const char* kPatch = "PATCH /repos/acme/kernels/pulls/7";
constexpr const char* kOpen = "POST /repos/acme/kernels/pulls";

json Pull(int64_t number, const std::string& state = "open") {
  return {{"number", number},
          {"state", state},
          {"title", "title"},
          {"body", "body\r\n- [ ] retry\r\n"},
          {"html_url", "https://github.com/acme/kernels/pull/" + std::to_string(number)},
          {"draft", true},
          {"merged_at", nullptr},
          {"user", {{"login", "warpwright[bot]"}, {"type", "Bot"}}},
          {"head",
           {{"ref", "warpwright/softmax"}, {"sha", std::string(40, 'a')}, {"repo", {{"full_name", "Acme/kernels"}}}}},
          {"base", {{"ref", "main"}}},
          {"labels", json::array()},
          {"requested_reviewers", json::array()},
          {"requested_teams", json::array()}};
}
forge::PullRequestRequest Wanted() {
  return {"warpwright/softmax", "main", "title", "body\n- [ ] retry", true, {}, {}};
}
Result<http::ClientResponse> Pulls(const std::vector<json>& list, std::map<std::string, std::string> headers = {}) {
  return Answer(200, json(list).dump(), std::move(headers));
}

class PullRequestTest : public testing::Test, public ClientKit {};

TEST_F(PullRequestTest, IsFoundByHeadInThisRepositoryNewestFirst) {
  json fork = Pull(9), gone = Pull(10), other = Pull(11), merged = Pull(8, "closed");
  fork["head"]["repo"]["full_name"] = "stranger/kernels";
  gone["head"]["repo"] = nullptr;
  other["head"]["ref"] = "main";
  merged["merged_at"] = "2026-11-21T10:00:00Z";
  http.On(kList,
          {Pulls({Pull(3, "closed"), fork},
                 {{"link",
                   "<https://api.github.com/repositories/1/pulls?page=2>; rel=\"next\", <https://x>; rel=\"last\""}})});
  http.On("GET /repositories/1/pulls?page=2", {Pulls({gone, other, merged, Pull(5, "closed")})});
  const auto found = Client().FindPullRequest(kRepository, "warpwright/softmax");
  ASSERT_TRUE(found) << found.error().Format();
  ASSERT_TRUE(*found);
  EXPECT_EQ((*found)->number, 8);
  EXPECT_EQ((*found)->state, forge::PullRequestState::kMerged);
  EXPECT_EQ((*found)->head_sha, std::string(40, 'a'));
  EXPECT_EQ((*found)->author, "warpwright[bot]");
  EXPECT_EQ(
      http.log[0],
      "GET "
      "/repos/acme/kernels/pulls?state=all&head=acme%3Awarpwright%2Fsoftmax&sort=created&direction=desc&per_page=100");
  const http::ClientRequest& first = http.requests[0];
  EXPECT_EQ(first.bearer, "token-of-a-test");
  EXPECT_EQ(first.headers[0], std::pair(std::string("Accept"), std::string("application/vnd.github+json")));
  EXPECT_EQ(first.headers[1], std::pair(std::string("X-GitHub-Api-Version"), std::string("2022-11-28")));
}

TEST_F(PullRequestTest, ThereMayBeNone) {
  http.On(kList, {Pulls({})});
  EXPECT_EQ(*Client().FindPullRequest(kRepository, "warpwright/softmax"), std::nullopt);
}

TEST_F(PullRequestTest, TheNextPageOfAnotherServerGetsNoToken) {
  http.On(kList, {Pulls({Pull(3)}, {{"link", "<https://evil.example/pulls?page=2>; rel=\"next\""}})});
  const auto found = Client().FindPullRequest(kRepository, "warpwright/softmax");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(http.log.size(), 1u);
}

TEST_F(PullRequestTest, IsOpenedWithLabelsAndReviewers) {
  http.On(kList, {Pulls({Pull(3, "closed")})});
  http.On(kOpen, {Answer(201, Pull(7).dump())});
  http.On("POST /repos/acme/kernels/issues/7/labels", {Answer(200, "[]")});
  http.On("POST /repos/acme/kernels/pulls/7/requested_reviewers", {Answer(201, Pull(7).dump())});
  forge::PullRequestRequest request = Wanted();
  request.labels = {"performance", "Performance"};
  request.reviewers = {"ada", "team:gpu"};
  const auto put = Client().PutPullRequest(kRepository, request);
  ASSERT_TRUE(put) << put.error().Format();
  EXPECT_EQ(put->operation, forge::Operation::kCreated);
  EXPECT_EQ(put->view.number, 7);
  EXPECT_EQ(json::parse(http.requests[1].body), (json{{"title", "title"},
                                                      {"head", "warpwright/softmax"},
                                                      {"base", "main"},
                                                      {"body", "body\n- [ ] retry"},
                                                      {"draft", true}}));
  EXPECT_EQ(http.Body("POST /repos/acme/kernels/issues/7/labels"), R"({"labels":["performance"]})");
  EXPECT_EQ(http.Body("POST /repos/acme/kernels/pulls/7/requested"),
            R"({"reviewers":["ada"],"team_reviewers":["gpu"]})");
  EXPECT_EQ(waits, (std::vector<std::chrono::milliseconds>{std::chrono::seconds(1), std::chrono::seconds(1)}))
      << "between three writes";
}

TEST_F(PullRequestTest, WhoseAnswerWasLostCountsAsCreated) {
  for (const auto& [lost, operation] :
       {std::pair(Answer(502), forge::Operation::kCreated),
        {Answer(422, R"({"errors":[{"message":"A pull request already exists for acme:x."}]})"),
         forge::Operation::kUnchanged}}) {
    ClientKit kit;
    kit.http.On(kList, {Pulls({}), Pulls({Pull(7)})});
    kit.http.On(kRead, {Answer(200, Pull(7).dump())});
    kit.http.On(kOpen, {lost});
    const auto put = kit.Client().PutPullRequest(kRepository, Wanted());
    ASSERT_TRUE(put) << put.error().Format();
    EXPECT_EQ(put->operation, operation) << lost.status;
    EXPECT_EQ(kit.http.Count(kOpen), 1u);
    EXPECT_GE(kit.time.passed, std::chrono::seconds(1)) << "looked at once, before the list can have it";
  }
}

TEST_F(PullRequestTest, OnlyWhatDiffersIsSent) {
  struct Row {
    const char* what;
    std::function<void(forge::PullRequestRequest&)> change;
    const char* patch;
  };
  const Row rows[] = {
      {"nothing but line ends", [](forge::PullRequestRequest&) {}, nullptr},
      {"title", [](forge::PullRequestRequest& r) { r.title = "new"; }, R"({"title":"new"})"},
      {"body", [](forge::PullRequestRequest& r) { r.body = "new"; }, R"({"body":"new"})"},
      {"base", [](forge::PullRequestRequest& r) { r.base = "dev"; }, R"({"base":"dev"})"},
      {"draft is people's", [](forge::PullRequestRequest& r) { r.draft = false; }, nullptr},
  };
  for (const Row& row : rows) {
    ClientKit kit;
    kit.http.On(kList, {Pulls({Pull(7)})});
    kit.http.On(kRead, {Answer(200, Pull(7).dump())});
    kit.http.On(kPatch, {Answer(200, Pull(7).dump())});
    forge::PullRequestRequest request = Wanted();
    row.change(request);
    const auto put = kit.Client().PutPullRequest(kRepository, request);
    ASSERT_TRUE(put) << row.what;
    EXPECT_EQ(put->operation, row.patch == nullptr ? forge::Operation::kUnchanged : forge::Operation::kUpdated)
        << row.what;
    EXPECT_EQ(kit.http.Body(kPatch), row.patch == nullptr ? "none" : row.patch) << row.what;
  }
}

TEST_F(PullRequestTest, ATickThatCameSinceTheBodyWasReadStays) {
  json ticked = Pull(7);
  ticked["body"] = "body\r\n- [x] retry";
  http.On(kList, {Pulls({Pull(7)})});
  http.On(kRead, {Answer(200, ticked.dump())});
  http.On(kPatch, {Answer(200, ticked.dump())});
  forge::PullRequestRequest request = Wanted();
  request.title = "new title";
  request.body = "new body\n- [ ] retry";
  request.expected_body = "body\n- [ ] retry";
  auto put = Client().PutPullRequest(kRepository, request);
  ASSERT_TRUE(put);
  EXPECT_TRUE(put->body_left);
  EXPECT_EQ(put->view.body, "body\r\n- [x] retry");
  EXPECT_EQ(http.Body(kPatch), R"({"title":"new title"})");
  request.expected_body = put->view.body;
  put = Client().PutPullRequest(kRepository, request);
  EXPECT_FALSE(put->body_left);
  EXPECT_EQ(json::parse(http.Body(kPatch))["body"], request.body);
}

TEST_F(PullRequestTest, ClosedWhileWeLookedIsNeitherReopenedNorReplaced) {
  http.On(kList, {Pulls({Pull(7)})});
  http.On(kRead, {Answer(200, Pull(7, "closed").dump())});
  forge::PullRequestRequest request = Wanted();
  request.title = "new";
  const auto put = Client().PutPullRequest(kRepository, request);
  ASSERT_TRUE(put);
  EXPECT_EQ(put->view.state, forge::PullRequestState::kClosed);
  EXPECT_EQ(put->operation, forge::Operation::kUnchanged);
  EXPECT_EQ(http.Count("P"), 0u);
}

TEST_F(PullRequestTest, TakenOffLabelsAndAnsweredReviewersAreLeftAlone) {
  http.On(kList, {Pulls({Pull(7)})});
  http.On(kRead, {Answer(200, Pull(7).dump())});
  http.On(
      "GET /repos/acme/kernels/issues/7/events",
      {Answer(
          200,
          R"([{"event":"labeled","label":{"name":"performance"}},{"event":"unlabeled","label":{"name":"Performance"}},
                           {"event":"review_requested","requested_reviewer":{"login":"ada"}},{"event":"review_requested","requested_team":{"slug":"gpu"}}])")});
  http.On("POST /repos/acme/kernels/issues/7/labels", {Answer(200, "[]")});
  forge::PullRequestRequest request = Wanted();
  request.labels = {"performance", "gpu"};
  request.reviewers = {"Ada", "team:gpu"};
  ASSERT_TRUE(Client().PutPullRequest(kRepository, request));
  EXPECT_EQ(http.Body("POST /repos/acme/kernels/issues/7/labels"), R"({"labels":["gpu"]})");
  EXPECT_EQ(http.Count("POST /repos/acme/kernels/pulls/7"), 0u);
}

TEST_F(PullRequestTest, AReviewerWhoCannotBeAskedCostsNeitherTheOthersNorThePullRequest) {
  const Result<http::ClientResponse> stranger =
      Answer(422, R"({"message":"Reviews may only be requested from collaborators."})");
  http.On(kList, {Pulls({}), Pulls({Pull(7)})});
  http.On(kRead, {Answer(200, Pull(7).dump())});
  http.On("GET /repos/acme/kernels/issues/7/events", {Answer(200, "[]")});
  http.On(kOpen, {Answer(201, Pull(7).dump())});
  http.On("POST /repos/acme/kernels/pulls/7/requested_reviewers",
          {stranger, Answer(201, "{}"), stranger, stranger, stranger});
  forge::PullRequestRequest request = Wanted();
  request.reviewers = {"ada", "stranger"};
  ASSERT_TRUE(Client().PutPullRequest(kRepository, request));
  EXPECT_EQ(http.Count("POST /repos/acme/kernels/pulls/7/requested"), 5u);
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_NE(notices[0].find("stranger"), std::string::npos) << notices[0];
  request.reviewers = {"stranger"};
  ASSERT_TRUE(Client().PutPullRequest(kRepository, request));
  EXPECT_EQ(http.Count("POST /repos/acme/kernels/pulls/7/requested"), 5u) << "asked again for what was refused";
}

TEST_F(PullRequestTest, ALabelThatIsRefusedOnceIsAskedForAgain) {
  http.On(kList, {Pulls({})});
  http.On(kOpen, {Answer(201, Pull(7).dump())});
  http.On("POST /repos/acme/kernels/issues/7/labels",
          {Answer(422, R"({"message":"Validation failed, or the endpoint has been spammed."})"), Answer(200, "[]")});
  forge::PullRequestRequest request = Wanted();
  request.labels = {"performance"};
  request.reviewers = {};
  ASSERT_TRUE(Client().PutPullRequest(kRepository, request));
  EXPECT_EQ(http.Count("POST /repos/acme/kernels/issues/7/labels"), 2u);
  EXPECT_TRUE(notices.empty()) << notices[0];
}

TEST_F(PullRequestTest, ErrorsSayWhatAndWhatToDo) {
  struct Row {
    int status;
    const char* body;
    ErrorCode code;
    const char* part;
  };
  const Row rows[] = {
      {401, R"({"message":"Bad credentials"})", ErrorCode::kEnvironment, "Bad credentials"},
      {403, R"({"message":"Resource not accessible by integration"})", ErrorCode::kEnvironment,
       "write access to contents"},
      {404, R"({"message":"Not Found"})", ErrorCode::kEnvironment, "private repository"},
      {301, R"({"message":"Moved Permanently"})", ErrorCode::kEnvironment, "renamed"},
      {410, R"({"message":"Issues are disabled"})", ErrorCode::kUnsupported, "disabled"},
      {422,
       R"({"message":"Validation Failed","errors":[{"resource":"PullRequest","code":"custom","message":"No commits between main and x"}]})",
       ErrorCode::kUnsupported, "Validation Failed: No commits between main and x"},
      {422, R"({"message":"Validation Failed","errors":[{"field":"head","code":"invalid"}]})", ErrorCode::kUnsupported,
       "head invalid"},
      {422, "[[[[", ErrorCode::kUnsupported, "no reason given"},
      {400, "{\"message\":\"a\\u001b[31m\\nb\"}", ErrorCode::kUnsupported, "a [31m b"},
  };
  for (const Row& row : rows) {
    ClientKit kit;
    kit.http.On(kList, {Pulls({})});
    kit.http.On(kOpen, {Answer(row.status, row.body, {{"x-github-request-id", "AB:12"}})});
    const auto put = kit.Client().PutPullRequest(kRepository, Wanted());
    ASSERT_FALSE(put) << row.status;
    EXPECT_EQ(put.error().code, row.code) << put.error().Format();
    EXPECT_NE(put.error().Format().find(row.part), std::string::npos) << put.error().Format();
    EXPECT_NE(put.error().Format().find("AB:12"), std::string::npos) << put.error().Format();
    EXPECT_EQ(put.error().Format().find("token-of-a-test"), std::string::npos);
    EXPECT_EQ(kit.http.Count(kOpen), 1u) << row.status;
  }
}

TEST_F(PullRequestTest, AnEndlessFailureEndsAfterAFewTries) {
  struct Row {
    Result<http::ClientResponse> answer;
    ErrorCode code;
    size_t most;
  };
  const Row rows[] = {
      {Answer(502), ErrorCode::kIo, 10},
      {tl::unexpected<Error>(Error{ErrorCode::kTimeout, "no answer", {}, 0, 0, {}}), ErrorCode::kTimeout, 10},
      {Answer(429, "{}", {{"retry-after", "2"}}), ErrorCode::kIo, 10},
      {Answer(403, "{}", {{"retry-after", "3600"}}), ErrorCode::kIo, 1},
      {tl::unexpected<Error>(Error{ErrorCode::kEnvironment, "certificate", {}, 0, 0, {}}), ErrorCode::kEnvironment, 1}};
  for (const Row& row : rows) {
    ClientKit kit;
    kit.http.On("GET ", {row.answer});
    const auto found = kit.Client().FindPullRequest(kRepository, "b");
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, row.code) << found.error().Format();
    EXPECT_EQ(kit.http.log.size(), row.most);
    EXPECT_LE(kit.time.passed, std::chrono::minutes(10));
  }
  ClientKit kit;
  kit.http.On("GET ", {Answer(403, "{}", {{"retry-after", "3600"}})});
  EXPECT_FALSE(kit.Client().FindPullRequest(kRepository, "b"));
  const auto again = kit.Client().FindPullRequest(kRepository, "b");
  EXPECT_EQ(kit.http.log.size(), 1u) << "a known limit was tried again";
  EXPECT_NE(again.error().remedy.find("3600 s"), std::string::npos) << again.error().Format();
}

TEST_F(PullRequestTest, AProgramThatEndsWaitsForNothing) {
  bool stop = false;
  options.stopping = [&] { return stop; };
  options.sleep = [&](std::chrono::milliseconds) { stop = true; };
  http.On("GET ", {Answer(502)});
  const auto found = Client().FindPullRequest(kRepository, "b");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(http.log.size(), 1u);
}

TEST_F(PullRequestTest, ARefusedTokenIsRenewedOnce) {
  std::vector<std::string> rejected;
  std::string token = "old";
  options.token = [&](const forge::RepositoryName&) -> Result<std::string> { return token; };
  options.token_rejected = [&](const forge::RepositoryName&, const std::string& text) {
    rejected.push_back(text);
    token = "new";
  };
  http.On(kRead, {Answer(401), Answer(200, Pull(7).dump()), Answer(401)});
  EXPECT_TRUE(Client().ReadPullRequest(kRepository, 7));
  EXPECT_EQ(http.requests[1].bearer, "new");
  const auto second = Client().ReadPullRequest(kRepository, 7);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kEnvironment);
  EXPECT_EQ(rejected, (std::vector<std::string>{"old", "new"}));
  EXPECT_EQ(http.log.size(), 3u) << "the same token was sent twice";
}

TEST_F(PullRequestTest, AnUnchangedAnswerIsTakenFromTheCache) {
  const auto folder = std::move(*base::TemporaryDirectory::Create("ww-client"));
  options.cache = folder.path();
  http.On(kRead, {Answer(200, Pull(7).dump(), {{"etag", "W/\"5\""}}), Answer(304, "")});
  ASSERT_TRUE(Client().ReadPullRequest(kRepository, 7));
  client.reset();  // another process
  std::vector<forge::GithubCall> calls;
  options.observe = [&](const forge::GithubCall& call) { calls.push_back(call); };
  const auto again = Client().ReadPullRequest(kRepository, 7);
  ASSERT_TRUE(again) << again.error().Format();
  EXPECT_EQ(again->title, "title");
  EXPECT_EQ(http.requests[1].headers.back(), std::pair(std::string("If-None-Match"), std::string("W/\"5\"")));
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_TRUE(calls[0].from_cache);
}

TEST_F(PullRequestTest, WhatDoesNotDecodeIsCorrupt) {
  for (const char* body : {"", "{", "[]", "null", "{\"number\":0}", "{\"number\":\"7\"}", "{\"number\":7}",
                           "{\"number\":7,\"state\":\"half\"}"}) {
    ClientKit kit;
    kit.http.On(kRead, {Answer(200, body)});
    const auto read = kit.Client().ReadPullRequest(kRepository, 7);
    ASSERT_FALSE(read) << body;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt) << body;
  }
}

TEST(GithubClientCreate, RefusesAddressesThatMakeNoSense) {
  FakeTime time;
  ScriptedHttp http;
  forge::GithubOptions options;
  EXPECT_FALSE(forge::GithubClient::Create(options, http, time)) << "no token";
  options.token = [](const forge::RepositoryName&) -> Result<std::string> { return "t"; };
  for (const char* api :
       {"", "api.github.com", "ftp://x", "https://", "https://u:p@host", "https://host/?q", "file:///etc"}) {
    options.api = api;
    EXPECT_FALSE(forge::GithubClient::Create(options, http, time)) << api;
  }
  options.api = "https://ghe.example.com/api/v3/";
  auto client = forge::GithubClient::Create(options, http, time);
  ASSERT_TRUE(client);
  (void)(*client)->ReadPullRequest(kRepository, 7);
  EXPECT_EQ(http.requests.at(0).url, "https://ghe.example.com/api/v3/repos/acme/kernels/pulls/7");
}

}  // namespace
}  // namespace warpwright
