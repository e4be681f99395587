// The three protocols against the stand-in, with every fault that a provider is known for.
#include "llm/http_model.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/redaction.h"
#include "llm/model_stack.h"
#include "llm/spending.h"
#include "tests/support/memory_folder.h"
#include "tests/support/model_stand_in/model_stand_in.h"
#include "tests/support/model_stand_in/scenarios.h"
#include "tests/unit/llm/model_kit.h"

namespace warpwright {
namespace {

using nlohmann::json;
using Kind = llm::FailureKind;

constexpr config::ModelTransport kTransports[] = {
    config::ModelTransport::kAnthropic, config::ModelTransport::kOpenAiChat, config::ModelTransport::kOpenAiResponses};

// All at once: most of their time is waiting.
void WithEachTransport(const std::function<void(config::ModelTransport)>& test) {
  std::vector<std::jthread> threads;
  for (const auto transport : kTransports) threads.emplace_back([&test, transport] { test(transport); });
}

ModelStandIn& Server() {
  static ModelStandIn server;
  return server;
}

config::ModelSettings Settings(config::ModelTransport transport, const std::string& model) {
  config::ModelSettings settings;
  settings.name = "test";
  settings.transport = transport;
  settings.model = model;
  settings.base_url = Server().Url(transport == config::ModelTransport::kAnthropic ? "" : "/v1");
  settings.price = config::TokenPrice{.input = 3000, .output = 15'000, .cache_read = 300, .cache_write = 3750};
  return settings;
}

llm::Answer AskOnce(const config::ModelSettings& settings, const llm::Question& question,
                    const std::function<bool()>& stopping = {}, const std::string& key = ModelStandIn::kKey) {
  auto client = http::CurlClient::Create({.max_answer_bytes = llm::kMaxStreamBytes, .stopping = stopping});
  llm::HttpModel model({.settings = settings,
                        .key = key,
                        .client = std::move(*client),
                        .clock = std::make_shared<WaitedClock>(),
                        .stopping = stopping});
  auto answer = model.Ask(question);
  EXPECT_TRUE(answer) << answer.error().Format();
  return answer ? std::move(*answer) : llm::Answer(llm::Pending{"an error", ""});
}

TEST(HttpModel, AnswersWithTextAndWhatItTook) {
  for (const auto transport : kTransports) {
    const llm::Answer answer = AskOnce(Settings(transport, "plain"), MakeQuestion());
    const auto* answered = std::get_if<llm::Answered>(&answer);
    ASSERT_NE(answered, nullptr) << Name(transport) << ": " << llm::Summary(answer);
    EXPECT_EQ(answered->text, "A kernel of β,\n“tiled”.") << Name(transport);
    EXPECT_EQ(answered->receipt.model, "plain");
    EXPECT_EQ(answered->receipt.usage.input, 120);
    EXPECT_EQ(answered->receipt.usage.cache_read, 1000);
    EXPECT_EQ(answered->receipt.usage.cache_write, transport == config::ModelTransport::kAnthropic ? 40 : 0);
    EXPECT_EQ(answered->receipt.usage.output, 57);
    EXPECT_EQ(answered->receipt.requests, 1);
    EXPECT_TRUE(answered->receipt.request_id.starts_with("req_")) << answered->receipt.request_id;
  }
}

TEST(HttpModel, AsksForStructureByTheProvidersMeans) {
  for (const auto transport : kTransports) {
    const llm::Answer answer = AskOnce(Settings(transport, "structured"), MakeQuestion(true));
    const auto* answered = std::get_if<llm::Answered>(&answer);
    ASSERT_NE(answered, nullptr) << Name(transport) << ": " << llm::Summary(answer);
    EXPECT_EQ(json::parse(answered->text), json::parse(R"({"method":"tile","factor":4,"why":"β fits"})"));
  }
}

// Byte by byte what is sent: changes of it are changes of what providers' caches hold.
TEST(HttpModel, SendsTheQuestion) {
  llm::Question question = MakeQuestion(true);
  question.user.push_back({"", true});
  question.corrections = {{" ", "Again."}};
  config::ModelSettings settings = Settings(config::ModelTransport::kAnthropic, "m");
  json body = json::parse(llm::AnthropicMessages().EncodeBody(settings, question));
  EXPECT_EQ(body["max_tokens"], 100);
  EXPECT_EQ(body["stream"], true);
  EXPECT_EQ(body["system"],
            json::parse(R"([{"type":"text","text":"You plan.","cache_control":{"type":"ephemeral"}}])"));
  EXPECT_EQ(body["messages"][0]["content"].size(), 2u) << "an empty part is not sent";
  EXPECT_EQ(body["messages"][0]["content"][1]["cache_control"]["type"], "ephemeral") << "its mark moves";
  EXPECT_EQ(body["messages"][1]["role"], "assistant");
  EXPECT_EQ(body["messages"][1]["content"], "(nothing)");
  EXPECT_EQ(body["messages"][2], json::parse(R"({"role":"user","content":"Again."})"));
  EXPECT_EQ(body["tool_choice"], json::parse(R"({"type":"tool","name":"plan"})"));
  EXPECT_EQ(body["tools"][0]["input_schema"]["properties"]["factor"]["minimum"], 1);

  body = json::parse(llm::OpenAiChat().EncodeBody(settings, question));
  EXPECT_EQ(body["max_completion_tokens"], 100);
  EXPECT_EQ(body["messages"][0], json::parse(R"({"role":"system","content":"You plan."})"));
  EXPECT_EQ(body["messages"][1]["content"], "The kernel:\n```\nx\n```\n\nWhich method?");
  EXPECT_EQ(body["messages"].size(), 4u);
  EXPECT_EQ(body["response_format"]["json_schema"]["strict"], true);
  EXPECT_FALSE(body["response_format"]["json_schema"]["schema"]["properties"]["factor"].contains("minimum"));
  settings.token_limit = config::TokenLimitName::kMaxTokens;
  settings.structured = config::StructuredOutput::kFenced;
  body = json::parse(llm::OpenAiChat().EncodeBody(settings, question));
  EXPECT_EQ(body["max_tokens"], 100);
  EXPECT_FALSE(body.contains("max_completion_tokens"));
  EXPECT_FALSE(body.contains("response_format"));
  EXPECT_NE(body["messages"][1]["content"].get<std::string>().find("```json"), std::string::npos);

  settings.structured = config::StructuredOutput::kSchema;
  body = json::parse(llm::OpenAiResponses().EncodeBody(settings, question));
  EXPECT_EQ(body["store"], false);
  EXPECT_EQ(body["instructions"], "You plan.");
  EXPECT_EQ(body["max_output_tokens"], 100);
  EXPECT_EQ(body["input"][0]["content"].size(), 2u);
  EXPECT_EQ(body["input"][2]["content"][0], json::parse(R"({"type":"input_text","text":"Again."})"));
  EXPECT_EQ(body["text"]["format"]["type"], "json_schema");
  // The order of the schema is the order in which a model writes.
  const std::string raw = llm::OpenAiResponses().EncodeBody(settings, question);
  EXPECT_LT(raw.find("\"method\":{"), raw.find("\"factor\":{"));
}

struct FaultRow {
  const char* model;
  Kind kind;
  bool costs = false;  // what it cost is not known, and counts
  const char* message = "";
  std::optional<int64_t> retry_after_ms = {};
};
constexpr FaultRow kFaults[] = {
    {"rate-limited", Kind::kRateLimited, false, "429"},
    {"rate-limited-seconds", Kind::kRateLimited, false, "429", 7'000},
    {"rate-limited-date", Kind::kRateLimited, false, "429", 20'000},  // after the clock of the test
    {"status-529", Kind::kOverloaded, false, "529"},
    {"status-503", Kind::kOverloaded},
    {"status-500", Kind::kServerFault},
    {"status-504", Kind::kServerFault},
    {"status-408", Kind::kServerFault},
    {"status-409", Kind::kServerFault},
    {"status-400", Kind::kRejected, false, "This is what 400 looks like."},
    {"status-404", Kind::kRejected},
    {"status-401", Kind::kUnauthorized},
    {"status-403", Kind::kUnauthorized},
    {"status-402", Kind::kSpendLimit},
    {"status-413", Kind::kPromptTooLong},
    {"too-long", Kind::kPromptTooLong},
    {"spend-limit", Kind::kSpendLimit},
    {"overloaded-in-stream", Kind::kOverloaded, true},
    {"cut", Kind::kCutOff, true},
    {"stalled", Kind::kStalled, true},
    {"silent", Kind::kTimeout, true, "nothing came for"},
    {"broken-json", Kind::kUnreadable, true},
    {"huge", Kind::kTooLarge, true},
};

TEST(HttpModel, NamesEveryFault) {
  WithEachTransport([](config::ModelTransport transport) {
    for (const FaultRow& row : kFaults) {
      llm::Question question = MakeQuestion();
      const std::string name = row.model;
      // Where nothing more comes, time enough for what comes before it on a busy machine.
      question.limits.stall = std::chrono::milliseconds(name == "silent" ? 200 : name == "stalled" ? 1000 : 30'000);
      question.limits.deadline = std::chrono::seconds(60);
      const auto begin = std::chrono::steady_clock::now();
      const llm::Answer answer = AskOnce(Settings(transport, row.model), question);
      const auto* failed = std::get_if<llm::Failed>(&answer);
      ASSERT_NE(failed, nullptr) << Name(transport) << " " << row.model << ": " << llm::Summary(answer);
      Kind expected = row.kind;
      // Only Anthropic has a name for it in a stream.
      if (name == "overloaded-in-stream" && transport != config::ModelTransport::kAnthropic)
        expected = Kind::kServerFault;
      EXPECT_EQ(Name(failed->kind), Name(expected)) << Name(transport) << " " << row.model << ": " << failed->message;
      EXPECT_NE(failed->message.find(row.message), std::string::npos) << failed->message;
      EXPECT_EQ(failed->receipt.requests, 1);
      EXPECT_EQ(failed->receipt.usage.output == 0, !row.costs) << Name(transport) << " " << row.model;
      EXPECT_EQ(failed->retry_after_ms, row.retry_after_ms) << Name(transport) << " " << row.model;
      EXPECT_LT(std::chrono::steady_clock::now() - begin, question.limits.deadline) << row.model;
    }
  });
}

TEST(HttpModel, TruncationAndRefusalAreNoAnswers) {
  for (const auto transport : kTransports) {
    const llm::Answer truncated = AskOnce(Settings(transport, "truncated"), MakeQuestion());
    ASSERT_TRUE(std::holds_alternative<llm::Truncated>(truncated)) << Name(transport) << llm::Summary(truncated);
    EXPECT_EQ(std::get<llm::Truncated>(truncated).text, "A kernel of β,\n“tiled”.");
    const llm::Answer refused = AskOnce(Settings(transport, "refusal"), MakeQuestion());
    ASSERT_TRUE(std::holds_alternative<llm::Refused>(refused)) << Name(transport) << llm::Summary(refused);
    EXPECT_EQ(std::get<llm::Refused>(refused).reason, "I cannot help with that.");
    EXPECT_EQ(std::get<llm::Refused>(refused).receipt.usage.output, 57);
  }
}

TEST(HttpModel, SurvivesSlownessAndBytesThatAreNotUtf8) {
  for (const auto transport : kTransports) {
    const llm::Answer slow = AskOnce(Settings(transport, "slow"), MakeQuestion());
    EXPECT_TRUE(std::holds_alternative<llm::Answered>(slow)) << Name(transport) << llm::Summary(slow);
    const llm::Answer bytes = AskOnce(Settings(transport, "not-utf8"), MakeQuestion());
    ASSERT_TRUE(std::holds_alternative<llm::Answered>(bytes)) << Name(transport) << llm::Summary(bytes);
    EXPECT_EQ(std::get<llm::Answered>(bytes).text, "a \xEF\xBF\xBD\xEF\xBF\xBD byte");
  }
}

TEST(HttpModel, HoldsItsDeadlineAndEndsWithTheProgram) {
  for (const char* model : {"stalled", "silent"}) {
    llm::Question question = MakeQuestion();
    question.limits.deadline = std::chrono::milliseconds(150);
    const llm::Answer late = AskOnce(Settings(config::ModelTransport::kAnthropic, model), question);
    ASSERT_TRUE(std::holds_alternative<llm::Failed>(late));
    EXPECT_EQ(Name(std::get<llm::Failed>(late).kind), "timeout");
    const llm::Answer stopped =
        AskOnce(Settings(config::ModelTransport::kAnthropic, model), MakeQuestion(), [] { return true; });
    ASSERT_TRUE(std::holds_alternative<llm::Failed>(stopped));
    EXPECT_EQ(Name(std::get<llm::Failed>(stopped).kind), "cancelled");
  }
}

TEST(HttpModel, WhatNobodyTookWasNotARequest) {
  config::ModelSettings settings = Settings(config::ModelTransport::kOpenAiChat, "plain");
  settings.base_url = "http://127.0.0.1:1/v1";
  llm::Answer answer = AskOnce(settings, MakeQuestion());
  EXPECT_EQ(Name(std::get<llm::Failed>(answer).kind), "unreachable");
  EXPECT_EQ(std::get<llm::Failed>(answer).receipt.requests, 0);
  settings.base_url = "http://models.example.com/v1";  // a key does not go over plain http
  answer = AskOnce(settings, MakeQuestion());
  EXPECT_EQ(Name(std::get<llm::Failed>(answer).kind), "rejected");
  EXPECT_EQ(std::get<llm::Failed>(answer).receipt.requests, 0);
}

// As Azure wants it: the version of its interface in the query, and the key alone in a header of its own.
TEST(HttpModel, KeepsTheQueryOfAnAddressAndNamesTheHeaderOfTheKey) {
  const struct {
    config::ModelTransport transport;
    const char *base, *target;
  } rows[] = {
      {config::ModelTransport::kOpenAiChat, "/v1?api-version=2024-10-21",
       "/v1/chat/completions?api-version=2024-10-21"},
      {config::ModelTransport::kOpenAiResponses, "/v1?api-version=preview&a=b",
       "/v1/responses?api-version=preview&a=b"},
      {config::ModelTransport::kOpenAiChat, "/v1", "/v1/chat/completions"},
  };
  for (const auto& row : rows) {
    ModelStandIn server;
    config::ModelSettings settings = Settings(row.transport, "plain");
    settings.base_url = server.Url(row.base);
    settings.key_header = "api-key";
    const llm::Answer answer = AskOnce(settings, MakeQuestion());
    EXPECT_TRUE(std::holds_alternative<llm::Answered>(answer)) << llm::Summary(answer);
    ASSERT_EQ(server.requests().size(), 1u);
    const ModelRequest request = server.requests().front();
    EXPECT_EQ(request.target, row.target);
    EXPECT_EQ(request.api_key, ModelStandIn::kKey);
    EXPECT_EQ(request.authorization, "") << "the key is sent once";
  }
}

TEST(HttpModel, AWrongKeyIsSaidWithoutIt) {
  for (const auto transport : kTransports) {
    const llm::Answer answer = AskOnce(Settings(transport, "plain"), MakeQuestion(), {}, "sk-wrong-9876543210");
    const auto& failed = std::get<llm::Failed>(answer);
    EXPECT_EQ(Name(failed.kind), "unauthorized");
    EXPECT_EQ((failed.message + failed.remedy).find("9876543210"), std::string::npos) << failed.message;
  }
}

TEST(ModelKey, ComesFromAFileOfItsOwnerOrTheEnvironment) {
  const auto folder = base::TemporaryDirectory::Create("key");
  const std::string path = folder->path() / "key";
  ASSERT_TRUE(base::WriteFileAtomically(path, "sk-from-a-file-12345\n"));
  config::ModelSettings settings;
  settings.name = "writer";
  settings.key.file = path;
  ::chmod(path.c_str(), 0640);
  auto key = llm::ReadModelKey(settings);
  ASSERT_FALSE(key) << "its group may read it";
  EXPECT_EQ(key.error().code, ErrorCode::kEnvironment);
  EXPECT_NE(key.error().Format().find("chmod 600"), std::string::npos) << key.error().Format();
  ::chmod(path.c_str(), 0600);
  key = llm::ReadModelKey(settings);
  ASSERT_TRUE(key) << key.error().Format();
  EXPECT_EQ(*key, "sk-from-a-file-12345");
  EXPECT_EQ(base::Redact("x sk-from-a-file-12345 y"), "x [redacted] y");
  settings.key = {.file = {}, .environment = "WW_TEST_MODEL_KEY"};
  ::setenv("WW_TEST_MODEL_KEY", "sk-from-a-variable", 1);
  EXPECT_EQ(*llm::ReadModelKey(settings), "sk-from-a-variable");
  ::unsetenv("WW_TEST_MODEL_KEY");
  EXPECT_FALSE(llm::ReadModelKey(settings));
}

// --- The whole stack

struct StackKit {
  base::TemporaryDirectory folder = MemoryFolder("stack");
  std::shared_ptr<llm::Ledger> ledger =
      std::make_shared<llm::Ledger>(std::move(*llm::Ledger::Open(folder.path() / "ledger.db")));
  llm::LedgerCaps caps{.caps = {}, .dollars_per_day = 1000};
  llm::RetryRules retry{.attempts = 3, .first_wait = std::chrono::milliseconds(1)};

  llm::Answer Ask(const config::ModelSettings& settings, const llm::Question& question) {
    ::setenv("WW_TEST_MODEL_KEY", ModelStandIn::kKey, 0);
    config::ModelSettings with_key = settings;
    with_key.key.environment = "WW_TEST_MODEL_KEY";
    auto model = llm::MakeModel({.settings = with_key,
                                 .ledger = ledger,
                                 .account = {"task", "repository"},
                                 .caps = caps,
                                 .retry = retry,
                                 .record = folder.path() / "transcripts"});
    EXPECT_TRUE(model) << model.error().Format();
    auto answer = (*model)->Ask(question);
    EXPECT_TRUE(answer) << answer.error().Format();
    return std::move(*answer);
  }
};

// Of the stand-in's usage; only Anthropic charges for what is written to a cache.
constexpr int64_t kPromptNanodollars = 120 * 3000 + 1000 * 300, kWrittenNanodollars = 40 * 3750,
                  kAnswerNanodollars = 57 * 15'000;
constexpr int64_t kCallNanodollars = kPromptNanodollars + kAnswerNanodollars;

TEST(ModelStack, GoesOnAfterWhatPassesAndCountsIt) {
  ::setenv("WW_TEST_MODEL_KEY", ModelStandIn::kKey, 1);
  WithEachTransport([](config::ModelTransport transport) {
    for (const char* model :
         {"status-500-once", "status-408-once", "status-409-once", "status-529-once", "rate-limited-once", "cut-once",
          "stalled-once", "overloaded-in-stream-once", "wrong-schema-once", "no-json-once"}) {
      StackKit kit;
      llm::Question question = MakeQuestion(true);
      question.limits.deadline = std::chrono::seconds(60);
      if (std::string(model) == "stalled-once") question.limits.stall = std::chrono::seconds(1);
      config::ModelSettings settings = Settings(transport, model);
      ModelStandIn server;
      settings.base_url = server.Url(transport == config::ModelTransport::kAnthropic ? "" : "/v1");
      const llm::Answer answer = kit.Ask(settings, question);
      const auto* answered = std::get_if<llm::Answered>(&answer);
      ASSERT_NE(answered, nullptr) << Name(transport) << " " << model << ": " << llm::Summary(answer);
      EXPECT_EQ(json::parse(answered->text)["factor"], 4);
      EXPECT_EQ(answered->receipt.requests, 2) << model;
      EXPECT_EQ(server.requests().size(), 2u) << model;
      const llm::Spent spent = *kit.ledger->OfTask("task");
      EXPECT_EQ(spent.calls, 2);
      EXPECT_EQ(spent.open, 0);
      EXPECT_GE(spent.nanodollars, kCallNanodollars) << model;
      const bool free = std::string(model).starts_with("status-") || std::string(model).starts_with("rate-");
      EXPECT_EQ(answered->receipt.cost.has_value() && *answered->receipt.cost == spent.nanodollars,
                free || std::string(model).starts_with("wrong") || std::string(model).starts_with("no-json"))
          << model;
    }
  });
}

// What a request counts for in the end: nothing, what the provider said, or, where it did not come to say it, at most
// what it may have been.
enum class Counts { kNothing, kReported, kAtMost };
struct BudgetRow {
  const char* model;
  bool structured = false;
  size_t requests = 1;
  Counts counts = Counts::kNothing;
};
constexpr BudgetRow kBudgets[] = {
    {"slow", false, 1, Counts::kReported},
    {"not-utf8", false, 1, Counts::kReported},
    {"refusal", false, 1, Counts::kReported},
    {"truncated", false, 1, Counts::kReported},
    {"wrong-schema", true, 2, Counts::kReported},
    {"no-json", true, 2, Counts::kReported},
    {"broken-json", false, 1, Counts::kAtMost},
    {"huge", false, 1, Counts::kAtMost},
    {"stalled", false, 3, Counts::kAtMost},
    {"cut", false, 3, Counts::kAtMost},
    {"overloaded-in-stream", false, 3, Counts::kAtMost},
    {"rate-limited", false, 3},
    {"rate-limited-seconds", false, 1},  // there is no time to wait for so long
    {"status-529", false, 3},
    {"status-500", false, 3},
    {"spend-limit", false, 1},
    {"status-401", false, 1},
    {"status-404", false, 1},
    {"too-long", false, 1},
};

// Of one request to the stand-in, in nanodollars. Anthropic says at the beginning what a prompt took.
int64_t CostOf(Counts counts, config::ModelTransport transport, const llm::Question& question) {
  const bool anthropic = transport == config::ModelTransport::kAnthropic;
  const int64_t prompt = kPromptNanodollars + (anthropic ? kWrittenNanodollars : 0);
  const int64_t at_most = question.limits.max_output_tokens * 15'000;
  switch (counts) {
    case Counts::kNothing: return 0;
    case Counts::kReported: return prompt + kAnswerNanodollars;
    case Counts::kAtMost: return at_most + (anthropic ? prompt : llm::EstimateInputTokens(question) * 3000);
  }
  return -1;
}

TEST(ModelStack, EveryFaultLeavesTheBudgetRight) {
  ::setenv("WW_TEST_MODEL_KEY", ModelStandIn::kKey, 1);
  WithEachTransport([](config::ModelTransport transport) {
    for (const BudgetRow& row : kBudgets) {
      SCOPED_TRACE(std::string(Name(transport)) + " " + row.model);
      ModelStandIn server;
      StackKit kit;
      llm::Question question = MakeQuestion(row.structured);
      const std::string name = row.model;
      question.limits.deadline = std::chrono::seconds(name == "rate-limited-seconds" ? 5 : 60);
      if (name == "stalled") question.limits.stall = std::chrono::seconds(1);
      config::ModelSettings settings = Settings(transport, name);
      settings.base_url = server.Url(transport == config::ModelTransport::kAnthropic ? "" : "/v1");
      const llm::Answer answer = kit.Ask(settings, question);
      EXPECT_EQ(server.requests().size(), row.requests) << llm::Summary(answer);
      const llm::Spent spent = *kit.ledger->OfTask("task");
      EXPECT_EQ(spent.open, 0) << "something is still reserved";
      EXPECT_EQ(spent.calls, static_cast<int64_t>(row.requests));
      EXPECT_EQ(spent.unknown_costs, 0);
      EXPECT_EQ(spent.nanodollars, static_cast<int64_t>(row.requests) * CostOf(row.counts, transport, question));
      EXPECT_EQ(spent.tokens == 0, row.counts == Counts::kNothing);
    }
  });
}

TEST(ModelStack, AWrongAnswerIsGivenBackOnce) {
  for (const auto transport : kTransports) {
    ModelStandIn server;
    StackKit kit;
    config::ModelSettings settings = Settings(transport, "wrong-schema");
    settings.base_url = server.Url(transport == config::ModelTransport::kAnthropic ? "" : "/v1");
    const llm::Answer answer = kit.Ask(settings, MakeQuestion(true));
    const auto* failed = std::get_if<llm::Failed>(&answer);
    ASSERT_NE(failed, nullptr) << llm::Summary(answer);
    EXPECT_EQ(Name(failed->kind), "invalid_answer");
    EXPECT_NE(failed->message.find("factor: 0 is less than 1"), std::string::npos) << failed->message;
    ASSERT_EQ(server.requests().size(), 2u);
    EXPECT_NE(server.requests()[1].body.find("factor: 0 is less than 1"), std::string::npos);
    EXPECT_EQ(kit.ledger->OfTask("task")->calls, 2);
  }
}

TEST(ModelStack, AFencedAnswerIsReadWhereTheProviderHasNoSchemas) {
  ModelStandIn server;
  StackKit kit;
  config::ModelSettings settings = Settings(config::ModelTransport::kOpenAiChat, "fenced");
  settings.base_url = server.Url("/v1");
  settings.structured = config::StructuredOutput::kFenced;
  const llm::Answer answer = kit.Ask(settings, MakeQuestion(true));
  ASSERT_TRUE(std::holds_alternative<llm::Answered>(answer)) << llm::Summary(answer);
  EXPECT_EQ(json::parse(std::get<llm::Answered>(answer).text), json::parse(kStructuredAnswer));
}

TEST(ModelStack, ARecordedAnswerIsReplayedExactly) {
  ModelStandIn server;
  StackKit kit;
  config::ModelSettings settings = Settings(config::ModelTransport::kAnthropic, "plain");
  settings.base_url = server.Url();
  const llm::Answer first = kit.Ask(settings, MakeQuestion());
  config::ModelSettings replay;
  replay.transport = config::ModelTransport::kReplay;
  replay.folder = kit.folder.path() / "transcripts";
  for (int i = 0; i < 2; ++i) {
    auto model = llm::MakeModel({.settings = replay});
    ASSERT_TRUE(model) << model.error().Format();
    const auto again = (*model)->Ask(MakeQuestion());
    ASSERT_TRUE(again) << again.error().Format();
    EXPECT_EQ(std::get<llm::Answered>(*again).text, std::get<llm::Answered>(first).text);
    EXPECT_EQ(std::get<llm::Answered>(*again).receipt.cost, kCallNanodollars + kWrittenNanodollars);
    const auto other = (*model)->Ask(MakeQuestion(true));
    EXPECT_EQ(Name(std::get<llm::Failed>(*other).kind), "not_recorded");
  }
  EXPECT_EQ(server.requests().size(), 1u);
  for (const auto& file : std::filesystem::directory_iterator(kit.folder.path() / "transcripts"))
    EXPECT_EQ(base::ReadFile(file.path())->find(ModelStandIn::kKey), std::string::npos);
}

}  // namespace
}  // namespace warpwright
