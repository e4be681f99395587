#include "llm/retry.h"

#include <gtest/gtest.h>

#include "llm/structured_model.h"
#include "tests/unit/llm/model_kit.h"

namespace warpwright {
namespace {

using std::chrono::milliseconds;
using Kind = llm::FailureKind;

llm::Answer Fault(Kind kind, std::optional<int64_t> retry_after_ms = {}) {
  return llm::Failed{.kind = kind, .message = "no", .retry_after_ms = retry_after_ms, .receipt = {.requests = 1}};
}
llm::Answer Good() { return llm::Answered{"yes", {.requests = 1}}; }

// A model behind retries, whose waits are kept and take no time.
struct RetryKit {
  std::shared_ptr<WaitedClock> clock = std::make_shared<WaitedClock>();
  std::vector<milliseconds> waits;
  bool stop = false;
  ScriptedModel* inner = nullptr;

  llm::Answer Ask(std::vector<llm::Answer> answers, milliseconds deadline = std::chrono::minutes(10),
                  milliseconds each = milliseconds(0), uint64_t seed = 1) {
    auto scripted = std::make_unique<ScriptedModel>(std::move(answers));
    inner = scripted.get();
    inner->on_ask = [this, each] { clock->passed += each; };
    model = std::make_unique<llm::RetryingModel>(
        std::move(scripted), llm::RetryRules{}, clock,
        [this](milliseconds wait) {
          waits.push_back(wait);
          clock->passed += wait;
          return !stop;
        },
        seed);
    llm::Question question = MakeQuestion();
    question.limits.deadline = deadline;
    return *model->Ask(question);
  }
  std::unique_ptr<llm::RetryingModel> model;
};

TEST(RetryingModel, AsksAgainOnlyAfterWhatPasses) {
  for (int i = 0; i <= static_cast<int>(Last(Kind{})); ++i) {
    RetryKit kit;
    const auto kind = static_cast<Kind>(i);
    const llm::Answer answer = kit.Ask({Fault(kind), Good()});
    EXPECT_EQ(kit.inner->asked.size(), llm::IsTransient(kind) ? 2u : 1u) << Name(kind);
    EXPECT_EQ(std::holds_alternative<llm::Answered>(answer), llm::IsTransient(kind)) << Name(kind);
    if (llm::IsTransient(kind)) {
      EXPECT_EQ(llm::ReceiptOf(answer)->requests, 2) << Name(kind);
    }
  }
  for (const llm::Answer& final :
       {llm::Answer(llm::Truncated{}), llm::Answer(llm::Refused{}), llm::Answer(llm::Pending{})}) {
    RetryKit kit;
    (void)kit.Ask({final, Good()});
    EXPECT_EQ(kit.inner->asked.size(), 1u);
  }
}

TEST(RetryingModel, WaitsLongerEachTimeWithJitter) {
  RetryKit kit, other;
  const llm::Answer answer = kit.Ask({Fault(Kind::kOverloaded)});
  EXPECT_EQ(kit.inner->asked.size(), 6u);
  ASSERT_EQ(kit.waits.size(), 5u);
  for (size_t i = 0; i < kit.waits.size(); ++i) {
    const milliseconds whole(1000 << i);
    EXPECT_GE(kit.waits[i], whole / 2) << i;
    EXPECT_LE(kit.waits[i], whole) << i;
  }
  (void)other.Ask({Fault(Kind::kOverloaded)}, std::chrono::minutes(10), milliseconds(0), 2);
  EXPECT_NE(kit.waits, other.waits) << "another seed, other waits";
  EXPECT_NE(std::get<llm::Failed>(answer).message.find("attempt 6"), std::string::npos);
}

TEST(RetryingModel, HonoursWhatTheProviderAsks) {
  RetryKit kit;
  (void)kit.Ask({Fault(Kind::kRateLimited, 7000), Good()});
  ASSERT_EQ(kit.waits.size(), 1u);
  EXPECT_GE(kit.waits[0], milliseconds(7000));
  EXPECT_LE(kit.waits[0], milliseconds(7100));
}

TEST(RetryingModel, EndsWithinTheDeadline) {
  RetryKit kit;
  const llm::Answer answer = kit.Ask({Fault(Kind::kRateLimited, 60'000), Good()}, milliseconds(59'000));
  EXPECT_EQ(kit.inner->asked.size(), 1u) << "a wait beyond the deadline is not begun";
  EXPECT_TRUE(kit.waits.empty());
  EXPECT_NE(std::get<llm::Failed>(answer).message.find("no time"), std::string::npos);

  RetryKit slow;
  (void)slow.Ask({Fault(Kind::kStalled)}, milliseconds(10'000), milliseconds(4000));
  EXPECT_LE(slow.clock->passed, milliseconds(12'000));
  ASSERT_GE(slow.inner->asked.size(), 2u);
  EXPECT_EQ(slow.inner->asked[0].limits.deadline, milliseconds(10'000));
  EXPECT_LT(slow.inner->asked[1].limits.deadline, milliseconds(6000)) << "an attempt has only what is left";
}

TEST(RetryingModel, EndsWithTheProgram) {
  RetryKit kit;
  kit.stop = true;
  const llm::Answer answer = kit.Ask({Fault(Kind::kOverloaded), Good()});
  EXPECT_EQ(Name(std::get<llm::Failed>(answer).kind), "cancelled");
  EXPECT_EQ(kit.inner->asked.size(), 1u);
  EXPECT_FALSE(llm::SleepUnless([] { return true; })(std::chrono::hours(1)));
  EXPECT_TRUE(llm::SleepUnless({})(milliseconds(1)));
}

TEST(StructuredModel, GivesAWrongAnswerBackWithTheFault) {
  const auto clock = std::make_shared<WaitedClock>();
  const auto ask = [&](std::vector<llm::Answer> answers, ScriptedModel** inner) {
    auto scripted = std::make_unique<ScriptedModel>(std::move(answers));
    *inner = scripted.get();
    return std::make_unique<llm::StructuredModel>(std::move(scripted), clock);
  };
  const llm::Answer good = llm::Answered{R"(```json
{"method":"tile", "factor":2, "why":""}
```)",
                                         {.requests = 1}};
  ScriptedModel* inner = nullptr;
  auto model = ask({llm::Answered{"Sure!", {.requests = 1}}, good}, &inner);
  auto answer = model->Ask(MakeQuestion(true));
  ASSERT_TRUE(answer);
  EXPECT_EQ(std::get<llm::Answered>(*answer).text, R"({"factor":2,"method":"tile","why":""})");
  EXPECT_EQ(std::get<llm::Answered>(*answer).receipt.requests, 2);
  ASSERT_EQ(inner->asked.size(), 2u);
  ASSERT_EQ(inner->asked[1].corrections.size(), 1u);
  EXPECT_EQ(inner->asked[1].corrections[0].answer, "Sure!");
  EXPECT_NE(inner->asked[1].corrections[0].fault.find("neither JSON nor a fenced block"), std::string::npos);

  model = ask({llm::Answered{"Sure!", {.requests = 1}}}, &inner);
  answer = model->Ask(MakeQuestion(true));
  EXPECT_EQ(Name(std::get<llm::Failed>(*answer).kind), "invalid_answer");
  EXPECT_EQ(std::get<llm::Failed>(*answer).text, "Sure!");
  EXPECT_EQ(inner->asked.size(), 2u) << "one correction, not more";

  model = ask({llm::Answered{"Sure!", {}}, llm::Refused{"no", {}}}, &inner);
  EXPECT_TRUE(std::holds_alternative<llm::Refused>(*model->Ask(MakeQuestion(true))));
  model = ask({llm::Answered{"Sure!", {}}}, &inner);
  EXPECT_EQ(std::get<llm::Answered>(*model->Ask(MakeQuestion())).text, "Sure!") << "free text is as it is";
}

}  // namespace
}  // namespace warpwright
