// The exchange's commands, on folders.
#include "llm/exchange.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/exit_code.h"

namespace warpwright {
namespace {

struct CommandKit {
  base::TemporaryDirectory folder = std::move(*base::TemporaryDirectory::Create("exchange"));
  std::string dir = folder.path() / "dir", other = folder.path() / "other", bundle = folder.path() / "bundle.json";
  llm::Question question;
  CommandKit() {
    question.user = {{"Which method?", false}};
    question.schema_name = "plan";
    question.schema =
        R"({"type":"object","properties":{"m":{"type":"string"}},"required":["m"],"additionalProperties":false})";
    EXPECT_TRUE(llm::Exchange(dir).Put(question));
  }
  Result<int> Run(cli::ExchangeAction action, const std::string& where, const std::string& text = {},
                  std::string prefix = {}) const {
    cli::ExchangeOptions options{.action = action, .folder = where, .question = std::move(prefix), .model = "a person"};
    options.file = bundle;
    options.tokens_in = 20;
    options.tokens_out = 10;
    options.dollars = 0.5;
    if (action == cli::ExchangeAction::kAnswer) {
      options.file = folder.path() / "answer.txt";
      EXPECT_TRUE(base::WriteFileAtomically(options.file, text));
    }
    return cli::RunExchange(options);
  }
};

TEST(ExchangeCommand, AFolderThatIsNotThereIsNoEmptyExchange) {
  const CommandKit kit;
  for (const auto action : {cli::ExchangeAction::kList, cli::ExchangeAction::kShow, cli::ExchangeAction::kExport}) {
    const auto done = kit.Run(action, kit.dir + "x", {}, "abcd");
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::kUsage);
    EXPECT_NE(done.error().message.find("no such folder"), std::string::npos) << done.error().Format();
  }
}

TEST(ExchangeCommand, CarriesQuestionsAndAnswersBetweenFolders) {
  const CommandKit kit;
  using Action = cli::ExchangeAction;
  const std::string prefix = llm::IdOf(kit.question).substr(0, 8);
  EXPECT_EQ(kit.Run(Action::kList, kit.dir), cli::kExitPending) << "a question waits";
  EXPECT_EQ(kit.Run(Action::kExport, kit.dir), cli::kExitDone);
  EXPECT_EQ(kit.Run(Action::kImport, kit.other), cli::kExitDone);
  EXPECT_EQ(kit.Run(Action::kShow, kit.other, {}, prefix), cli::kExitDone);
  const auto wrong = kit.Run(Action::kAnswer, kit.other, "{\"n\":1}", prefix);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::kUsage);
  EXPECT_NE(wrong.error().message.find("'m' is missing"), std::string::npos) << wrong.error().message;
  EXPECT_EQ(kit.Run(Action::kAnswer, kit.other, "```json\n{\"m\":\"x\"}\n```\n", prefix), cli::kExitDone);
  EXPECT_EQ(kit.Run(Action::kList, kit.other), cli::kExitDone) << "nothing waits";
  EXPECT_EQ(kit.Run(Action::kExport, kit.other), cli::kExitDone);
  EXPECT_EQ(kit.Run(Action::kImport, kit.dir), cli::kExitDone);
  EXPECT_EQ(kit.Run(Action::kList, kit.dir), cli::kExitDone);
  const auto answer = llm::OfflineModel(kit.dir, {}).Ask(kit.question);
  ASSERT_TRUE(answer) << answer.error().Format();
  EXPECT_EQ(std::get<llm::Answered>(*answer).text, "{\"m\":\"x\"}");
  const llm::Receipt& receipt = std::get<llm::Answered>(*answer).receipt;
  EXPECT_EQ(receipt.usage.input, 20);
  EXPECT_EQ(receipt.usage.output, 10);
  EXPECT_EQ(receipt.cost, 500'000'000);
}

TEST(ExchangeCommand, SaysWhatIsWrong) {
  const CommandKit kit;
  using Action = cli::ExchangeAction;
  EXPECT_EQ(kit.Run(Action::kList, kit.folder.path() / "none").error().code, ErrorCode::kUsage);
  EXPECT_EQ(kit.Run(Action::kShow, kit.dir, {}, "ffffffff").error().code, ErrorCode::kUsage);
  EXPECT_EQ(kit.Run(Action::kImport, kit.dir).error().code, ErrorCode::kUsage) << "there is no bundle yet";
  ASSERT_TRUE(base::WriteFileAtomically(kit.bundle, "{}"));
  const auto broken = kit.Run(Action::kImport, kit.dir);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(broken.error().file, kit.bundle);
}

}  // namespace
}  // namespace warpwright
