#include "llm/question.h"

#include <gtest/gtest.h>

#include <set>

#include "llm/answer.h"
#include "tests/unit/llm/model_kit.h"

namespace warpwright {
namespace {

TEST(Question, IsNamedByWhatItAsks) {
  const llm::Question question = MakeQuestion(true);
  const std::string id = llm::IdOf(question);
  EXPECT_TRUE(llm::IsQuestionId(id));
  std::set<std::string> ids{id};
  const auto differs = [&](const char* what, const std::function<void(llm::Question&)>& change) {
    llm::Question changed = question;
    change(changed);
    EXPECT_TRUE(ids.insert(llm::IdOf(changed)).second) << what;
  };
  differs("role", [](auto& q) { q.role = core::AgentRole::kCritic; });
  differs("system", [](auto& q) { q.system[0].text += "."; });
  differs("user", [](auto& q) { q.user[1].text += "."; });
  differs("parts", [](auto& q) { q.user = {{q.user[0].text + q.user[1].text, false}}; });
  differs("moved part", [](auto& q) { q.system.push_back(q.user[0]), q.user.erase(q.user.begin()); });
  differs("schema", [](auto& q) { q.schema += " "; });
  differs("schema name", [](auto& q) { q.schema_name = "other"; });
  differs("sample", [](auto& q) { q.sample = 1; });
  differs("correction", [](auto& q) { q.corrections = {{"a", "b"}}; });
  differs("other correction", [](auto& q) { q.corrections = {{"ab", ""}}; });
  llm::Question same = question;
  same.limits.deadline = std::chrono::seconds(1);
  same.limits.max_output_tokens = 1;
  same.system[0].cache = false;
  EXPECT_EQ(llm::IdOf(same), id) << "limits and cache marks are not part of what is asked";
}

TEST(Question, IsChecked) {
  EXPECT_TRUE(llm::CheckQuestion(MakeQuestion(true)));
  const struct {
    const char* what;
    std::function<void(llm::Question&)> change;
  } rows[] = {
      {"no user part", [](auto& q) { q.user.clear(); }},
      {"too large", [](auto& q) { q.user[0].text.assign(llm::kMaxQuestionBytes, 'x'); }},
      {"not UTF-8", [](auto& q) { q.user[0].text = "\xff"; }},
      {"five marks", [](auto& q) { q.system.assign(5, {"x", true}); }},
      {"a schema without a name", [](auto& q) { q.schema_name.clear(); }},
      {"a name without a schema", [](auto& q) { q.schema.clear(); }},
      {"a name with a space", [](auto& q) { q.schema_name = "a b"; }},
      {"a schema of another kind", [](auto& q) { q.schema = R"({"type":"string"})"; }},
      {"too many corrections", [](auto& q) { q.corrections.assign(9, {"a", "b"}); }},
  };
  for (const auto& row : rows) {
    llm::Question question = MakeQuestion(true);
    row.change(question);
    const Status status = llm::CheckQuestion(question);
    ASSERT_FALSE(status) << row.what;
    EXPECT_EQ(status.error().code, ErrorCode::kCorrupt) << row.what;
  }
}

TEST(Question, IsRenderedSoThatNothingInItEndsAFence) {
  llm::Question question = MakeQuestion(true);
  question.corrections = {{"```json\n{}\n```\nand ````", "'method' is missing"}};
  const std::string prompt = llm::RenderPrompt(question);
  EXPECT_NE(prompt.find("You plan.\n\nThe kernel:"), std::string::npos) << prompt;
  EXPECT_NE(prompt.find("`````\n```json\n{}\n```\nand ````\n`````\n"), std::string::npos) << prompt;
  EXPECT_NE(prompt.find("'method' is missing"), std::string::npos);
  EXPECT_NE(prompt.find("\"enum\":[\"tile\",\"fuse\"]"), std::string::npos);
  EXPECT_EQ(llm::RenderPrompt(MakeQuestion()).find("JSON"), std::string::npos) << "without a schema";
}

TEST(Answer, KindsHaveDistinctNames) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Last(llm::FailureKind{})); ++i)
    EXPECT_TRUE(names.insert(Name(static_cast<llm::FailureKind>(i))).second) << i;
  EXPECT_EQ(Name(llm::FailureKind::kCancelled), "cancelled");
  EXPECT_EQ(Name(llm::FailureKind::kUnreachable), "unreachable");
}

TEST(Answer, WhatIsUnknownOnceStaysUnknown) {
  const llm::Receipt known{
      .usage = {.input = 10, .cache_read = 0, .cache_write = 0, .output = 5}, .cost = 7, .requests = 1, .seconds = 1};
  llm::Receipt sum = known;
  llm::AddSpent(known, sum);
  EXPECT_EQ(sum.cost, 14);
  EXPECT_EQ(sum.usage.input, 20);
  EXPECT_EQ(sum.requests, 2);
  llm::AddSpent({.requests = 1}, sum);
  EXPECT_EQ(sum.cost, std::nullopt);
  EXPECT_EQ(sum.usage.output, std::nullopt);
  llm::Receipt unsent{};
  llm::AddSpent(known, unsent);
  EXPECT_EQ(unsent.cost, 7) << "what was not sent costs nothing";
  sum = known;
  llm::AddSpent({}, sum);
  EXPECT_EQ(sum.cost, 7);
}

}  // namespace
}  // namespace warpwright
