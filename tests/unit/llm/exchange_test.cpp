#include "llm/exchange.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "llm/transcript.h"
#include "tests/unit/llm/model_kit.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGood = R"({"method":"fuse","factor":2,"why":"y"})";

struct ExchangeKit {
  base::TemporaryDirectory folder = std::move(*base::TemporaryDirectory::Create("exchange"));
  llm::Exchange exchange{folder.path() / "dir"};
  llm::OfflineModel model{folder.path() / "dir", {}};
  llm::Question question = MakeQuestion(true);
  std::string id = llm::IdOf(question);

  fs::path File(const std::string& kind) const { return folder.path() / "dir" / (id + kind); }
  llm::Answer Ask() {
    auto answer = model.Ask(question);
    EXPECT_TRUE(answer) << answer.error().Format();
    return std::move(*answer);
  }
};

TEST(OfflineModel, WaitsForAnAnswerAndTakesIt) {
  ExchangeKit kit;
  for (int i = 0; i < 2; ++i) {
    const llm::Answer answer = kit.Ask();
    ASSERT_TRUE(std::holds_alternative<llm::Pending>(answer));
    EXPECT_EQ(std::get<llm::Pending>(answer).question, kit.id);
  }
  const std::string readable = *base::ReadFile(kit.File(".question.md"));
  EXPECT_NE(readable.find("Which method?"), std::string::npos);
  EXPECT_NE(readable.find("warpwright exchange answer DIR " + kit.id.substr(0, 12)), std::string::npos);
  ASSERT_TRUE(kit.exchange.Give({kit.id, "Here:\n```json\n" + std::string(kGood) + "\n```", "a person"}));
  const llm::Answer answer = kit.Ask();
  ASSERT_TRUE(std::holds_alternative<llm::Answered>(answer)) << llm::Summary(answer);
  EXPECT_EQ(std::get<llm::Answered>(answer).text, R"({"factor":2,"method":"fuse","why":"y"})");
  EXPECT_EQ(std::get<llm::Answered>(answer).receipt.model, "a person");
  // Another run, with other limits, asks the same.
  llm::OfflineModel later(kit.folder.path() / "dir", {});
  llm::Question same = kit.question;
  same.limits.max_output_tokens = 5;
  EXPECT_TRUE(std::holds_alternative<llm::Answered>(*later.Ask(same)));
}

// As whoever answered says it; else by the tokens and the price of the operator's file; else unknown, which is not
// zero.
TEST(OfflineModel, SaysWhatAnAnswerCost) {
  const config::TokenPrice three_fifteen{3000, 15'000, 300, 3750}, unmetered;
  struct Row {
    const char* what;
    std::optional<int64_t> tokens_in, tokens_out;
    std::optional<double> dollars;
    std::optional<config::TokenPrice> price;
    std::optional<llm::Nanodollars> cost;
  };
  for (const Row& row : {
           Row{"nothing is said", {}, {}, {}, {}, {}},
           Row{"nothing is said, and tokens have a price", {}, {}, {}, three_fifteen, {}},
           Row{"the model costs nothing", {}, {}, {}, unmetered, 0},
           Row{"tokens without a price", 1000, 100, {}, {}, {}},
           Row{"tokens with a price", 1000, 100, {}, three_fifteen, 4'500'000},
           Row{"half of the tokens", 1000, {}, {}, three_fifteen, {}},
           Row{"dollars", {}, {}, 0.25, {}, 250'000'000},
           Row{"no dollars", {}, {}, 0.0, three_fifteen, 0},
           Row{"dollars and a price", 1000, 100, 0.25, three_fifteen, 250'000'000},
       }) {
    ExchangeKit kit;
    (void)kit.Ask();
    ASSERT_TRUE(kit.exchange.Give({kit.id, kGood, "m", row.tokens_in, row.tokens_out, row.dollars})) << row.what;
    llm::OfflineModel model(kit.folder.path() / "dir", row.price);
    const auto answer = model.Ask(kit.question);
    ASSERT_TRUE(answer) << row.what;
    const llm::Receipt* receipt = llm::ReceiptOf(*answer);
    ASSERT_NE(receipt, nullptr) << row.what;
    EXPECT_EQ(receipt->cost, row.cost) << row.what;
    EXPECT_EQ(receipt->requests, 1) << row.what << ": else it would count as free";
    EXPECT_EQ(receipt->usage.input, row.tokens_in) << row.what;
    EXPECT_EQ(receipt->usage.output, row.tokens_out) << row.what;
  }
}

TEST(OfflineModel, ReportsABadAnswerAndKeepsIt) {
  ExchangeKit kit;
  (void)kit.Ask();
  const struct {
    std::string file;
    const char* reason;
  } rows[] = {
      {"{", "not JSON"},
      {R"({"question":")" + kit.id + R"("})", "'text' is missing"},
      {R"({"question":")" + std::string(64, '0') + R"(","text":"x"})", "to another question"},
      {R"({"question":")" + kit.id + R"(","text":"I would tile."})", "neither JSON nor a fenced block"},
      {R"({"question":")" + kit.id + R"(","text":"{\"method\":\"tile\",\"factor\":9,\"why\":\"\"}"})",
       "factor: 9 is more than 8"},
      {R"({"question":")" + kit.id + R"(","text":")" + std::string(llm::kMaxGivenBytes + 1, 'x') + R"("})",
       "more than 4194304 bytes"},
      {R"({"question":")" + kit.id + R"(","text":"x","tokens_in":-1})", "-1 tokens of an answer"},
      {R"({"question":")" + kit.id + R"(","text":"x","tokens_out":1000000000000})",
       "1000000000000 tokens of an answer"},
      {R"({"question":")" + kit.id + R"(","text":"x","cost_usd":-0.5})", "an answer that cost -0.5 dollars"},
  };
  for (const auto& row : rows) {
    ASSERT_TRUE(base::WriteFileAtomically(kit.File(".answer.json"), row.file));
    const llm::Answer answer = kit.Ask();
    ASSERT_TRUE(std::holds_alternative<llm::Pending>(answer));
    EXPECT_NE(std::get<llm::Pending>(answer).reason.find(row.reason), std::string::npos)
        << std::get<llm::Pending>(answer).reason;
    EXPECT_EQ(*base::ReadFile(kit.File(".answer.json")), row.file);
  }
  ASSERT_TRUE(kit.exchange.Give({kit.id, kGood, ""})) << "a good one may take its place";
  EXPECT_TRUE(std::holds_alternative<llm::Answered>(kit.Ask()));
}

TEST(Exchange, RefusesAnswersThatCannotBeUsed) {
  ExchangeKit kit;
  EXPECT_EQ(kit.exchange.Give({kit.id, kGood, ""}).error().code, ErrorCode::kUsage) << "no such question";
  ASSERT_TRUE(kit.exchange.Put(kit.question));
  EXPECT_EQ(kit.exchange.Give({kit.id, "no", ""}).error().code, ErrorCode::kCorrupt);
  EXPECT_FALSE(fs::exists(kit.File(".answer.json")));
  ASSERT_TRUE(kit.exchange.Give({kit.id, kGood, ""}));
  EXPECT_TRUE(kit.exchange.Give({kit.id, kGood, ""})) << "the same again";
  const Status other = kit.exchange.Give({kit.id, R"({"method":"tile","factor":2,"why":"y"})", ""});
  EXPECT_EQ(other.error().code, ErrorCode::kUsage) << "a run may have used the first";
  const Status dearer = kit.exchange.Give({kit.id, kGood, "", {}, {}, 2.0});
  ASSERT_FALSE(dearer) << "a cost that nobody would count";
  EXPECT_NE(dearer.error().message.find("this answer with other figures"), std::string::npos);
  const std::string stranger = "../" + kit.id.substr(3);
  EXPECT_FALSE(kit.exchange.Get(stranger));
  EXPECT_FALSE(kit.exchange.Give({stranger, kGood, ""}));
}

TEST(Exchange, NamesAreContent) {
  ExchangeKit kit;
  ASSERT_TRUE(kit.exchange.Put(kit.question));
  const std::string text = *base::ReadFile(kit.File(".question.json"));
  EXPECT_TRUE(llm::DecodeQuestionFile(text, kit.id));
  std::string changed = text;
  changed.replace(changed.find("Which method?"), 5, "What?");
  for (const auto& [what, file, id] :
       {std::tuple("other text", changed, kit.id), std::tuple("other name", text, std::string(64, 'a')),
        std::tuple("other format", "{\"format\": 2," + text.substr(text.find(',') + 1), kit.id)}) {
    const auto read = llm::DecodeQuestionFile(file, id);
    ASSERT_FALSE(read) << what;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt) << what;
  }
  ASSERT_TRUE(base::WriteFileAtomically(kit.File(".question.json"), changed));
  const auto listed = kit.exchange.List();
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().file, kit.File(".question.json").string());
}

TEST(Exchange, ListsAndResolves) {
  ExchangeKit kit;
  EXPECT_EQ(kit.exchange.List().error().code, ErrorCode::kUsage) << "no folder";
  llm::Question free_text = MakeQuestion();
  ASSERT_TRUE(kit.exchange.Put(kit.question));
  ASSERT_TRUE(kit.exchange.Put(free_text));
  ASSERT_TRUE(kit.exchange.Give({llm::IdOf(free_text), "Tile it.", "m"}));
  const auto entries = kit.exchange.List();
  ASSERT_TRUE(entries) << entries.error().Format();
  ASSERT_EQ(entries->size(), 2u);
  for (const auto& entry : *entries) {
    const bool waits = entry.id == kit.id;
    EXPECT_EQ(std::holds_alternative<llm::NoAnswer>(entry.answer), waits);
    EXPECT_EQ(std::holds_alternative<llm::GivenAnswer>(entry.answer), !waits);
    EXPECT_EQ(*kit.exchange.Resolve(entry.id.substr(0, 12)), entry.id);
  }
  for (const char* prefix : {"", "abc", "zzzz", "/etc"}) EXPECT_FALSE(kit.exchange.Resolve(prefix)) << prefix;
}

TEST(Exchange, MovesBetweenMachines) {
  ExchangeKit node, desk;
  llm::Question second = node.question;
  second.sample = 1;
  ASSERT_TRUE(node.exchange.Put(node.question));
  ASSERT_TRUE(node.exchange.Put(second));
  const auto carried = llm::DecodeBundle(llm::EncodeBundle(*node.exchange.Export()));
  ASSERT_TRUE(carried) << carried.error().Format();
  auto imported = desk.exchange.Import(*carried);
  ASSERT_TRUE(imported) << imported.error().Format();
  EXPECT_EQ(imported->questions, 2);
  EXPECT_EQ(desk.exchange.Import(*carried)->questions, 0) << "the same again";
  ASSERT_TRUE(desk.exchange.Give({desk.id, kGood, "m", 20, 10, 0.5}));
  llm::ExchangeBundle back = *desk.exchange.Export();
  EXPECT_EQ(back.answers.size(), 1u);
  back.answers.push_back({llm::IdOf(second), "no JSON", ""});
  back.answers.push_back({std::string(64, 'f'), kGood, ""});
  imported = node.exchange.Import(*llm::DecodeBundle(llm::EncodeBundle(back)));
  ASSERT_TRUE(imported) << imported.error().Format();
  EXPECT_EQ(imported->answers, 1);
  ASSERT_EQ(imported->refused.size(), 2u);
  EXPECT_NE(imported->refused[0].find("neither JSON"), std::string::npos) << imported->refused[0];
  const llm::Answer taken = node.Ask();
  ASSERT_TRUE(std::holds_alternative<llm::Answered>(taken));
  EXPECT_EQ(llm::ReceiptOf(taken)->cost, 500'000'000) << "what it cost came with it";
  for (const char* bad : {"", "{}", R"({"format":1,"questions":[],"answers":[{"question":"../x","text":"y"}]})",
                          R"({"format":2,"questions":[],"answers":[]})",
                          R"({"format":1,"questions":[{"role":"planner","system":[],"user":[]}],"answers":[]})"})
    EXPECT_EQ(llm::DecodeBundle(bad).error().code, ErrorCode::kCorrupt) << bad;
}

TEST(Transcript, KeepsEveryKindOfAnswer) {
  const auto folder = base::TemporaryDirectory::Create("transcripts");
  const llm::Receipt receipt{
      .model = "m", .usage = {.input = 1, .output = 0}, .cost = 5, .requests = 2, .seconds = 0.5, .request_id = "r"};
  const llm::Answer answers[] = {llm::Answered{"βx", receipt}, llm::Truncated{"x", receipt},
                                 llm::Refused{"no", receipt},
                                 llm::Failed{.kind = llm::FailureKind::kStalled,
                                             .message = "m",
                                             .remedy = "r",
                                             .retry_after_ms = 7,
                                             .text = "t",
                                             .receipt = {}}};
  for (const llm::Answer& answer : answers) {
    llm::RecordingModel recorder(std::make_unique<ScriptedModel>(std::vector{answer}), folder->path());
    ASSERT_TRUE(recorder.Ask(MakeQuestion()));
    const auto replayed = llm::ReplayModel(folder->path()).Ask(MakeQuestion());
    ASSERT_TRUE(replayed) << replayed.error().Format();
    EXPECT_EQ(llm::EncodeTranscript({MakeQuestion(), *replayed}), llm::EncodeTranscript({MakeQuestion(), answer}));
  }
  llm::Question other = MakeQuestion();
  other.sample = 3;
  llm::RecordingModel pending(std::make_unique<ScriptedModel>(std::vector<llm::Answer>{llm::Pending{}}),
                              folder->path());
  ASSERT_TRUE(pending.Ask(other));
  EXPECT_EQ(Name(std::get<llm::Failed>(*llm::ReplayModel(folder->path()).Ask(other)).kind), "not_recorded");
  const fs::path file = folder->path() / (llm::IdOf(other) + ".transcript.json");
  ASSERT_TRUE(base::WriteFileAtomically(file, llm::EncodeTranscript({MakeQuestion(), answers[0]})));
  const auto wrong = llm::ReplayModel(folder->path()).Ask(other);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(wrong.error().file, file.string());
}

}  // namespace
}  // namespace warpwright
