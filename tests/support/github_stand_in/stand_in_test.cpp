// The stand-in itself: what it must refuse, since other tests rely on it.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/file.h"
#include "tests/support/github_stand_in/git_backend.h"
#include "tests/support/github_stand_in/github_stand_in.h"
#include "tests/support/github_stand_in/hub.h"

namespace warpwright {
namespace {

using nlohmann::json;

constexpr char kRepo[] = "/repos/acme/kernels";

class StandInTest : public testing::Test {
 protected:
  void SetUp() override { Begin({}); }
  void Begin(StandInOptions options) {
    hub.reset();
    options.repositories = root.path() / "hub";
    options.rules = std::string(WW_SOURCE_DIR) + "/tests/support/github_stand_in/rules.json";
    hub = std::move(*GithubStandIn::Start(options));
    ASSERT_TRUE(hub->AddRepository("acme/kernels"));
    hub->AddToken("a-person", "octocat");
    hub->AddToken("bot", "warpwright[bot]", true);
    hub->AddPerson("octocat", "acme/kernels", "write");
    hub->AddPerson("stranger");
    const auto clone = root.path() / "clone";
    if (std::filesystem::exists(clone)) return;
    std::filesystem::create_directories(clone);
    AskGit(clone, {"init", "-q", "-b", "main"});
    AskGit(clone, {"config", "user.name", "T"});
    AskGit(clone, {"config", "user.email", "t@example.org"});
    Commit("one");
    ASSERT_TRUE(Push("main"));
    AskGit(clone, {"checkout", "-q", "-b", "warpwright/k"});
    Commit("two");
    ASSERT_TRUE(Push("warpwright/k"));
  }
  void Commit(const std::string& text) {
    ASSERT_TRUE(base::WriteFileAtomically(root.path() / "clone" / text, std::string(200'000, 'x') + text));
    AskGit(root.path() / "clone", {"add", "-A"});
    AskGit(root.path() / "clone", {"commit", "-q", "-m", text});
  }
  bool Push(const std::string& branch, const std::string& token = "a-person") {
    std::string url = hub->CloneUrl("acme/kernels");
    url.insert(7, "x-access-token:" + token + "@");
    AskGit(root.path() / "clone", {"push", "-q", url, "HEAD:refs/heads/" + branch});
    return ReadRefs(hub->GitFolder("acme/kernels"))["refs/heads/" + branch] == Head();
  }
  std::string Head() { return AskGit(root.path() / "clone", {"rev-parse", "HEAD"}); }

  struct Reply {
    int status = 0;
    json body;
    httplib::Headers headers;
  };
  Reply Send(const std::string& method, const std::string& path, const json& body = nullptr,
             const std::string& token = "bot", const std::string& etag = {}) {
    httplib::Client client(hub->url());
    client.set_read_timeout(10);
    httplib::Request request;
    request.method = method;
    request.path = "/api/v3" + path;
    request.headers = {{"Authorization", "Bearer " + token},
                       {"Accept", "application/vnd.github+json"},
                       {"User-Agent", "test"},
                       {"X-GitHub-Api-Version", "2022-11-28"}};
    if (!etag.empty()) request.headers.emplace("If-None-Match", etag);
    if (!body.is_null()) {
      request.body = body.dump();
      request.headers.emplace("Content-Type", "application/json");
    }
    const auto answer = client.send(request);
    return answer ? Reply{answer->status, json::parse(answer->body, nullptr, false), answer->headers} : Reply{};
  }
  static std::string Header(const Reply& reply, const std::string& name) {
    const auto found = reply.headers.find(name);
    return found == reply.headers.end() ? "" : found->second;
  }
  json Pull() const { return {{"title", "t"}, {"head", "warpwright/k"}, {"base", "main"}, {"body", "b"}}; }

  base::TemporaryDirectory root = std::move(*base::TemporaryDirectory::Create("ww-stand-in"));
  std::unique_ptr<GithubStandIn> hub;
};

TEST_F(StandInTest, OnePullRequestForABranch) {
  const Reply made = Send("POST", std::string(kRepo) + "/pulls", Pull());
  ASSERT_EQ(made.status, 201) << made.body.dump();
  EXPECT_EQ(made.body.at("head").at("sha"), Head());
  const Reply again = Send("POST", std::string(kRepo) + "/pulls", Pull());
  EXPECT_EQ(again.status, 422);
  EXPECT_EQ(again.body.at("errors")[0].at("message"), "A pull request already exists for acme:warpwright/k.");
  json unknown = Pull();
  unknown["head"] = "nowhere";
  EXPECT_EQ(Send("POST", std::string(kRepo) + "/pulls", unknown).status, 422);
  EXPECT_EQ(Send("GET", std::string(kRepo) + "/pulls?state=all&head=acme:warpwright/k").body.size(), 1u);
  EXPECT_EQ(Send("GET", std::string(kRepo) + "/pulls?head=acme:other").body.size(), 0u);
  EXPECT_TRUE(hub->Violations().empty()) << hub->Violations().front();
  hub->SetPullRequestState("acme/kernels", 1, "closed", "octocat");
  EXPECT_EQ(Send("POST", std::string(kRepo) + "/pulls", Pull()).body.at("number"), 2);
}

TEST_F(StandInTest, WhatTheDescriptionDoesNotKnowIsAViolation) {
  const struct {
    const char* method;
    std::string path;
    json body;
    const char* what;
  } cases[] = {
      {"POST", "/pulls", {{"title", "t"}, {"head", "h"}, {"base", "main"}, {"bodi", "b"}}, "body.bodi is not known"},
      {"POST", "/pulls", {{"title", "t"}, {"base", "main"}}, "body lacks 'head'"},
      {"PATCH", "/pulls/1", {{"state", "merged"}}, "body.state is \"merged\""},
      {"GET", "/pulls?stat=all", nullptr, "query parameter 'stat' is not known"},
      {"GET", "/issues?per_page=101", nullptr, "per_page is not between 1 and 100"},
      {"POST",
       "/check-runs",
       {{"name", "n"}, {"head_sha", "x"}, {"conclusion", "good"}},
       "body.conclusion is \"good\""},
      {"POST", "/issues/comments/1/reactions", {{"content", "wave"}}, "body.content is \"wave\""},
      {"POST", "/statuses/abc", {{"state", "neutral"}}, "body.state is \"neutral\""},
  };
  for (const auto& c : cases) {
    const size_t before = hub->Violations().size();
    EXPECT_EQ(Send(c.method, kRepo + c.path, c.body).status, 422) << c.what;
    ASSERT_GT(hub->Violations().size(), before) << c.what;
    EXPECT_NE(hub->Violations().back().find(c.what), std::string::npos) << hub->Violations().back();
  }
  EXPECT_EQ(Send("DELETE", std::string(kRepo) + "/pulls/1").status, 404);
  EXPECT_NE(hub->Violations().back().find("does not know"), std::string::npos);
}

TEST_F(StandInTest, LimitsOfGithubHold) {
  json pull = Pull();
  std::string body;
  for (int i = 0; i < 65'537; ++i) body += "é";
  pull["body"] = body;
  EXPECT_EQ(Send("POST", std::string(kRepo) + "/pulls", pull).status, 422);
  pull["body"] = body.substr(2);
  EXPECT_EQ(Send("POST", std::string(kRepo) + "/pulls", pull).status, 201);

  json check = {{"name", "n"},
                {"head_sha", Head()},
                {"status", "completed"},
                {"conclusion", "success"},
                {"output", {{"title", "t"}, {"summary", "s"}, {"annotations", json::array()}}}};
  const json note = {
      {"path", "a.cu"}, {"start_line", 1}, {"end_line", 1}, {"annotation_level", "notice"}, {"message", "m"}};
  for (int i = 0; i < 50; ++i) check["output"]["annotations"].push_back(note);
  EXPECT_EQ(Send("POST", std::string(kRepo) + "/check-runs", check, "a-person").status, 403) << "only Apps may";
  const Reply made = Send("POST", std::string(kRepo) + "/check-runs", check);
  ASSERT_EQ(made.status, 201);
  EXPECT_EQ(made.body.at("output").at("annotations_count"), 50);
  check["output"]["annotations"].push_back(note);
  EXPECT_EQ(Send("POST", std::string(kRepo) + "/check-runs", check).status, 422);
  check = {{"output", {{"title", "t"}, {"summary", "s"}, {"annotations", json::array({note})}}}};
  EXPECT_EQ(Send("PATCH", fmt::format("{}/check-runs/{}", kRepo, made.body.at("id").get<int64_t>()), check)
                .body.at("output")
                .at("annotations_count"),
            51);
  check = {{"name", "n"}, {"head_sha", std::string(40, 'a')}};
  EXPECT_EQ(Send("POST", std::string(kRepo) + "/check-runs", check).status, 422) << "no such commit";
}

TEST_F(StandInTest, UnchangedAnswersAreFreeAndPagesAreLinked) {
  const Reply first = Send("GET", std::string(kRepo) + "/pulls");
  ASSERT_EQ(first.status, 200);
  const std::string remaining = Header(
      Send("GET", std::string(kRepo) + "/pulls", nullptr, "bot", Header(first, "ETag")), "x-ratelimit-remaining");
  EXPECT_EQ(remaining, Header(first, "x-ratelimit-remaining"));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Send("POST", std::string(kRepo) + "/issues", {{"title", "t"}}).status, 201);
  const Reply page = Send("GET", std::string(kRepo) + "/issues?state=all&per_page=2&page=2");
  EXPECT_EQ(page.body.size(), 2u);
  EXPECT_NE(Header(page, "Link").find("page=3>; rel=\"next\""), std::string::npos) << Header(page, "Link");
  EXPECT_EQ(Header(Send("GET", std::string(kRepo) + "/issues?state=all&per_page=2&page=3"), "Link").find("next"),
            std::string::npos);
}

TEST_F(StandInTest, ReactionsAndPermissions) {
  EXPECT_EQ(Send("POST", std::string(kRepo) + "/issues", {{"title", "t"}}).status, 201);
  const int64_t comment = hub->Comment("acme/kernels", 1, "stranger", "hello");
  const std::string path = fmt::format("{}/issues/comments/{}/reactions", kRepo, comment);
  EXPECT_EQ(Send("POST", path, {{"content", "eyes"}}).status, 201);
  EXPECT_EQ(Send("POST", path, {{"content", "eyes"}}).status, 200);
  EXPECT_EQ(hub->Dump("acme/kernels").at("reactions").at(std::to_string(comment)).size(), 1u);
  EXPECT_EQ(Send("GET", std::string(kRepo) + "/collaborators/octocat/permission").body.at("permission"), "write");
  EXPECT_EQ(Send("GET", std::string(kRepo) + "/collaborators/stranger/permission").body.at("permission"), "read");
  EXPECT_EQ(Send("GET", std::string(kRepo) + "/collaborators/nobody/permission").status, 404);
  EXPECT_EQ(Send("GET", "/user", nullptr, "a-person").body.at("login"), "octocat");
  EXPECT_EQ(Send("GET", "/user", nullptr, "wrong").status, 401);
}

TEST_F(StandInTest, GitNeedsAToken) {
  EXPECT_FALSE(Push("other", "wrong"));
  EXPECT_TRUE(Push("other", "bot"));
  ASSERT_FALSE(hub->Pushes().empty());
  EXPECT_EQ(hub->Pushes().back().ref, "refs/heads/other");
  EXPECT_EQ(hub->Pushes().back().login, "warpwright[bot]");
}

std::string Base64Url(const std::string& text) {
  std::string out((text.size() + 2) / 3 * 4 + 1, '\0');
  out.resize(static_cast<size_t>(EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                                 reinterpret_cast<const unsigned char*>(text.data()),
                                                 static_cast<int>(text.size()))));
  for (char& c : out) c = c == '+' ? '-' : c == '/' ? '_' : c;
  while (out.ends_with('=')) out.pop_back();
  return out;
}

TEST(StandInJwt, OnlyWhatGithubTakes) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_RSA_gen(2048), EVP_PKEY_free);
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
  PEM_write_bio_PUBKEY(bio.get(), key.get());
  char* data = nullptr;
  const auto size = static_cast<size_t>(BIO_get_mem_data(bio.get(), &data));
  const stand_in::App app{"Iv1", "warpwright", std::string(data, size)};
  const auto sign = [&](const std::string& algorithm, const json& claims) {
    const std::string text =
        Base64Url(json{{"alg", algorithm}, {"typ", "JWT"}}.dump()) + "." + Base64Url(claims.dump());
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get());
    std::string signature(256, '\0');
    size_t length = signature.size();
    EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &length,
                   reinterpret_cast<const unsigned char*>(text.data()), text.size());
    return text + "." + Base64Url(signature.substr(0, length));
  };
  const int64_t now = 1'800'000'000;
  const auto problem = [&](const std::string& jwt) {
    return stand_in::JwtProblem(app, jwt, stand_in::Time(std::chrono::seconds(now)));
  };
  EXPECT_EQ(problem(sign("RS256", {{"iat", now - 60}, {"exp", now + 540}, {"iss", "Iv1"}})), std::nullopt);
  EXPECT_NE(problem(sign("none", {{"iat", now - 60}, {"exp", now + 540}, {"iss", "Iv1"}})), std::nullopt);
  EXPECT_NE(problem(sign("RS256", {{"iat", now + 10}, {"exp", now + 540}, {"iss", "Iv1"}})), std::nullopt);
  EXPECT_NE(problem(sign("RS256", {{"iat", now - 60}, {"exp", now + 601}, {"iss", "Iv1"}})), std::nullopt);
  EXPECT_NE(problem(sign("RS256", {{"iat", now - 60}, {"exp", now - 1}, {"iss", "Iv1"}})), std::nullopt);
  EXPECT_NE(problem(sign("RS256", {{"iat", now - 60}, {"exp", now + 540}, {"iss", "other"}})), std::nullopt);
  std::string forged = sign("RS256", {{"iat", now - 60}, {"exp", now + 540}, {"iss", "Iv1"}});
  forged[forged.size() - 10] = forged[forged.size() - 10] == 'A' ? 'B' : 'A';
  EXPECT_NE(problem(forged), std::nullopt);
}

TEST_F(StandInTest, FaultsAreDrawnFromTheSeedAndSayWhetherTheActWasDone) {
  StandInOptions options;
  options.faults.share = 0.5;
  options.faults.hang = std::chrono::milliseconds(50);
  options.faults.kinds = {Fault::kBadGateway, Fault::kTimeout, Fault::kReset};
  options.faults.seed = 7;
  Begin(options);
  int failed = 0;
  for (int i = 0; i < 30; ++i)
    failed += Send("POST", std::string(kRepo) + "/issues", {{"title", std::to_string(i)}}).status != 201;
  // A request that hangs is recorded when it stops hanging; its sender does not wait for that.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (hub->Log().size() < 30 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  int done = 0, faulty = 0;
  for (const LoggedRequest& entry : hub->Log()) {
    done += entry.done;
    faulty += entry.fault != Fault::kNone;
    EXPECT_EQ(entry.status == 0, entry.fault == Fault::kTimeout || entry.fault == Fault::kReset);
  }
  EXPECT_EQ(failed, faulty);
  EXPECT_GT(faulty, 5);
  EXPECT_EQ(static_cast<size_t>(done), hub->Dump("acme/kernels").at("issues").size());
  EXPECT_GT(done, 30 - faulty) << "some acts took place although their answers were lost";
}

}  // namespace
}  // namespace warpwright
