#include "forge/webhook.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/file.h"

namespace warpwright {
namespace {

using nlohmann::json;

std::string Payload(const std::string& name) {
  return *base::ReadFile(std::string(WW_SOURCE_DIR) + "/tests/unit/forge/payloads/" + name + ".json");
}
// The event of that payload, which is its file name up to the dot.
Result<forge::WebhookEvent> Parse(const std::string& name) {
  return forge::ParseWebhook(name.substr(0, name.find('.')), Payload(name));
}
template <typename T>
T As(const std::string& name) {
  const auto event = Parse(name);
  EXPECT_TRUE(event) << name << ": " << event.error().Format();
  if (!event || !std::holds_alternative<T>(*event)) {
    ADD_FAILURE() << name << " is another event";
    return {};
  }
  return std::get<T>(*event);
}

const std::string kA(40, 'a'), kB(40, 'b');

// The test vector in GitHub's documentation ("Validating webhook deliveries").
TEST(Signature, IsAsGithubDocumentsIt) {
  const std::string secret = "It's a Secret to Everybody", body = "Hello, World!";
  const std::string good = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
  EXPECT_TRUE(forge::SignatureMatches(secret, body, good));
  for (size_t i = 0; i < good.size(); ++i) {
    std::string flipped = good;
    flipped[i] ^= 1;
    EXPECT_FALSE(forge::SignatureMatches(secret, body, flipped)) << i;
  }
  for (size_t i = 0; i < body.size(); ++i) {
    std::string flipped = body;
    flipped[i] ^= 1;
    EXPECT_FALSE(forge::SignatureMatches(secret, flipped, good)) << i;
  }
  EXPECT_FALSE(forge::SignatureMatches(secret + " ", body, good));
  EXPECT_FALSE(forge::SignatureMatches(secret, body, ""));
  EXPECT_FALSE(forge::SignatureMatches(secret, body, good.substr(0, 70)));
  EXPECT_FALSE(forge::SignatureMatches(secret, body, good + "0"));
  EXPECT_FALSE(forge::SignatureMatches(secret, body, "sha1=" + good.substr(7)));
}

TEST(Signature, AnEmptySecretNeverMatches) {
  // HMAC-SHA256 of an empty text with an empty key.
  EXPECT_FALSE(
      forge::SignatureMatches("", "", "sha256=b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"));
}

TEST(Webhook, PushesSayWhichBranchMovedFromWhereToWhere) {
  const auto push = As<forge::PushEvent>("push");
  EXPECT_EQ(push.repository.Full(), "acme/kernels");
  EXPECT_EQ(push.ref, "refs/heads/main");
  EXPECT_EQ(push.before, kA);
  EXPECT_EQ(push.after, kB);
  EXPECT_EQ(As<forge::PushEvent>("push.deleted").after, "");
  EXPECT_EQ(As<forge::PushEvent>("create").ref, "refs/heads/feature/x");
  As<forge::IgnoredEvent>("push.tag");
}

TEST(Webhook, PullRequestsSayWhetherTheyComeFromAFork) {
  const auto edited = As<forge::PullRequestEvent>("pull_request.edited");
  EXPECT_EQ(edited.number, 7);
  EXPECT_EQ(edited.action, "edited");
  EXPECT_EQ(edited.head, "warpwright/softmax");
  EXPECT_EQ(edited.sender, "ada");
  EXPECT_FALSE(edited.fork);
  EXPECT_TRUE(As<forge::PullRequestEvent>("pull_request.closed_fork").fork);
  EXPECT_TRUE(As<forge::PullRequestEvent>("pull_request.closed_deleted_fork").fork);
  As<forge::IgnoredEvent>("pull_request.opened");
}

TEST(Webhook, OnlyNewCommentsOfPeopleAreHeard) {
  const auto comment = As<forge::CommentEvent>("issue_comment");
  EXPECT_EQ(comment.issue, 7);
  EXPECT_EQ(comment.comment, 90);
  EXPECT_TRUE(comment.on_pull_request);
  EXPECT_EQ(comment.sender, "ada");
  EXPECT_EQ((*forge::ParseSlashCommand(comment.body))->kernel, "softmax");
  EXPECT_EQ(As<forge::IgnoredEvent>("issue_comment.edited").reason, "a comment that was edited");
  EXPECT_EQ(As<forge::IgnoredEvent>("issue_comment.bot").reason, "a bot's comment");
  const std::function<void(json&)> bots[] = {
      [](json& p) { p["comment"]["user"]["login"] = p["sender"]["login"] = "x[bot]"; },
      [](json& p) { p["comment"]["performed_via_github_app"] = {{"slug", "x"}}; },
      [](json& p) { p["sender"]["type"] = "Bot"; }, [](json& p) { p["sender"]["login"] = "grace"; }};
  for (const auto& change : bots) {
    json payload = json::parse(Payload("issue_comment"));
    change(payload);
    const auto event = forge::ParseWebhook("issue_comment", payload.dump());
    ASSERT_TRUE(event);
    EXPECT_TRUE(std::holds_alternative<forge::IgnoredEvent>(*event)) << payload.dump();
  }
}

TEST(Webhook, ChecksThatAreAskedForAgain) {
  const auto check = As<forge::CheckRerequested>("check_run.rerequested");
  EXPECT_EQ(check.name, "warpwright / softmax");
  EXPECT_EQ(check.sha, kA);
  EXPECT_EQ(check.external_id, "job-17");
  As<forge::Ping>("ping");
}

TEST(Webhook, WhatIsNotUsedIsIgnoredByNameWhateverItHolds) {
  const auto event = forge::ParseWebhook("star\n", "{{{{");
  ASSERT_TRUE(event);
  EXPECT_NE(std::get<forge::IgnoredEvent>(*event).reason.find("'star"), std::string::npos);
}

TEST(Webhook, EveryFieldThatIsNeededIsMissed) {
  const struct {
    const char* name;
    std::vector<const char*> pointers;
  } rows[] = {
      {"push", {"/ref", "/before", "/after", "/repository", "/repository/full_name"}},
      {"create", {"/ref", "/repository/full_name"}},
      {"pull_request.edited",
       {"/action", "/pull_request", "/pull_request/number", "/pull_request/head/ref", "/repository/full_name"}},
      {"issue_comment",
       {"/action", "/issue/number", "/comment/id", "/comment/user/login", "/comment/user", "/repository/full_name"}},
      {"check_run.rerequested", {"/check_run/name", "/check_run/head_sha", "/repository"}},
  };
  for (const auto& row : rows)
    for (const char* pointer : row.pointers)
      for (const json& bad : {json(), json(-1), json(json::array({1})), json("\n"), json(18446744073709551615u)}) {
        json payload = json::parse(Payload(row.name));
        payload[json::json_pointer(pointer)] = bad;
        const std::string name = row.name;
        const auto event = forge::ParseWebhook(name.substr(0, name.find('.')), payload.dump());
        const bool text_is_fine =
            bad.is_string() && (std::string(pointer) == "/action" || std::string(pointer) == "/comment/user/login" ||
                                std::string(pointer) == "/check_run/name");
        if (text_is_fine) continue;
        ASSERT_FALSE(event) << row.name << pointer << bad;
        EXPECT_EQ(event.error().code, ErrorCode::kCorrupt);
      }
}

TEST(Webhook, HostileBytesAreCorrupt) {
  std::string deep(100'000, '['), wide = "[";
  for (int i = 0; i < 1'100'000; ++i) wide += "1,";
  for (const std::string& body :
       {std::string(), std::string("null"), std::string("[]"), std::string("{"), deep, "{\"a\":" + deep, wide + "1]",
        std::string("payload=%7B%7D"), std::string("\xff\xfe"), std::string("{\"ref\":\"\\ud800\"}"),
        std::string(forge::kMaxWebhookBytes + 1, ' ')}) {
    const auto event = forge::ParseWebhook("push", body);
    ASSERT_FALSE(event) << body.substr(0, 40);
    EXPECT_EQ(event.error().code, ErrorCode::kCorrupt) << body.substr(0, 40);
  }
  std::string invalid = Payload("push");
  invalid.replace(invalid.find("softmax"), 7, "\xff\xc0\xed\xa0\x80\xf5\x80");
  EXPECT_TRUE(forge::ParseWebhook("push", invalid)) << "bytes that are no UTF-8 are replaced";
}

// Every payload of npm's @octokit/webhooks-examples, if WW_WEBHOOK_EXAMPLES names the unpacked package
// (script/check-conformance).
TEST(WebhookExamples, AreAllAcceptedOrIgnoredWithAReason) {
  const char* folder = std::getenv("WW_WEBHOOK_EXAMPLES");
  if (folder == nullptr) GTEST_SKIP() << "WW_WEBHOOK_EXAMPLES is not set";
  size_t seen = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().filename() != "index.json") continue;
    for (const json& kind : json::parse(*base::ReadFile(entry.path())))
      for (const json& example : kind["examples"]) {
        const auto event = forge::ParseWebhook(kind["name"].get<std::string>(), example.dump());
        EXPECT_TRUE(event) << entry.path() << " " << kind["name"] << ": " << event.error().Format();
        ++seen;
      }
  }
  EXPECT_GT(seen, 100u);
}

TEST(SlashCommand, IsTheFirstLineOnly) {
  const struct {
    const char* text;
    forge::SlashVerb verb;
    const char* kernel;
  } rows[] = {{"/warpwright optimize", forge::SlashVerb::kOptimize, ""},
              {"/warpwright optimize softmax", forge::SlashVerb::kOptimize, "softmax"},
              {"/warpwright  retry\tlayer_norm.v2-a  \r\nand more", forge::SlashVerb::kRetry, "layer_norm.v2-a"},
              {"/warpwright explain\n/warpwright stop", forge::SlashVerb::kExplain, ""},
              {"/warpwright ignore", forge::SlashVerb::kIgnore, ""},
              {"/warpwright stop\n", forge::SlashVerb::kStop, ""}};
  for (const auto& row : rows) {
    const auto command = forge::ParseSlashCommand(row.text);
    ASSERT_TRUE(command && *command) << row.text;
    EXPECT_EQ((*command)->verb, row.verb) << row.text;
    EXPECT_EQ((*command)->kernel, row.kernel) << row.text;
  }
  EXPECT_EQ(forge::Name(forge::SlashVerb::kStop), "stop");
  EXPECT_EQ(forge::Name(forge::SlashVerb::kOptimize), "optimize");
}

TEST(SlashCommand, OtherCommentsAreNotForUs) {
  for (const char* text :
       {"", "thanks", "please run /warpwright optimize", " /warpwright optimize", "\n/warpwright optimize",
        "> /warpwright optimize", "`/warpwright optimize`", "/warpwrights optimize", "/Warpwright optimize",
        "/warpwright-optimize", "    /warpwright optimize"}) {
    const auto command = forge::ParseSlashCommand(text);
    ASSERT_TRUE(command) << text;
    EXPECT_EQ(*command, std::nullopt) << text;
  }
}

TEST(SlashCommand, MistakesAreNamedWithTheNearestVerbAndNothingThatActs) {
  const struct {
    const char* text;
    const char* part;
  } rows[] = {{"/warpwright", "optimize|retry|explain|ignore|stop"},
              {"/warpwright optimise", "did you mean 'optimize'?"},
              {"/warpwright Retry", "did you mean 'retry'?"},
              {"/warpwright @everyone", "'?everyone'"},
              {"/warpwright <img/src=x> y", "'?img?src?x?'"},
              {"/warpwright retry ../../etc", "cannot be a kernel's name"},
              {"/warpwright retry a;rm", "'a?rm'"},
              {"/warpwright retry aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
               "cannot be"},
              {"/warpwright retry a b", "at most one kernel"}};
  for (const auto& row : rows) {
    const auto command = forge::ParseSlashCommand(row.text);
    ASSERT_FALSE(command) << row.text;
    EXPECT_EQ(command.error().code, ErrorCode::kUsage);
    EXPECT_NE(command.error().Format().find(row.part), std::string::npos) << command.error().Format();
  }
}

}  // namespace
}  // namespace warpwright
