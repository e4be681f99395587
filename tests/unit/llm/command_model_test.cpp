#include "llm/command_model.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/file.h"
#include "tests/unit/llm/model_kit.h"

namespace warpwright {
namespace {

llm::Answer AskProgram(std::vector<std::string> command, const llm::Question& question = MakeQuestion()) {
  config::ModelSettings settings;
  settings.transport = config::ModelTransport::kCommand;
  settings.command = std::move(command);
  auto answer = llm::CommandModel(settings, std::make_shared<base::SystemClock>()).Ask(question);
  EXPECT_TRUE(answer) << answer.error().Format();
  return std::move(*answer);
}

TEST(CommandModel, GetsThePromptOnItsInputAndAnswersOnItsOutput) {
  const llm::Answer answer = AskProgram({"cat"});
  ASSERT_TRUE(std::holds_alternative<llm::Answered>(answer)) << llm::Summary(answer);
  EXPECT_EQ(std::get<llm::Answered>(answer).text, llm::RenderPrompt(MakeQuestion()));
  EXPECT_EQ(std::get<llm::Answered>(answer).receipt.model, "cat");
  EXPECT_EQ(std::get<llm::Answered>(answer).receipt.usage.output, std::nullopt);
}

TEST(CommandModel, HasNoShellAndACleanEnvironment) {
  llm::Answer answer = AskProgram({"echo", "$HOME; `id` * >x"});
  EXPECT_EQ(std::get<llm::Answered>(answer).text, "$HOME; `id` * >x\n");
  ::setenv("ANTHROPIC_API_KEY", "sk-of-the-parent", 1);
  answer = AskProgram({"env"});
  ::unsetenv("ANTHROPIC_API_KEY");
  EXPECT_EQ(std::get<llm::Answered>(answer).text.find("sk-of"), std::string::npos);
}

TEST(CommandModel, NamesItsFaults) {
  llm::Question hurried = MakeQuestion();
  hurried.limits.deadline = std::chrono::milliseconds(100);
  const struct {
    std::vector<std::string> command;
    const llm::Question question;
    const char *kind, *message;
  } rows[] = {
      {{"ww-no-such-program"}, MakeQuestion(), "command", "is not on PATH"},
      {{"sh", "-c", "echo out; echo no credit >&2; exit 3"}, MakeQuestion(), "command", "exit code 3: no credit"},
      {{"true"}, MakeQuestion(), "command", "wrote nothing"},
      {{"sleep", "60"}, hurried, "timeout", "was killed"},
      {{"sh", "-c", "head -c 22000000 /dev/zero"}, MakeQuestion(), "too_large", "more than"},
  };
  for (const auto& row : rows) {
    const llm::Answer answer = AskProgram(row.command, row.question);
    ASSERT_TRUE(std::holds_alternative<llm::Failed>(answer)) << row.kind << llm::Summary(answer);
    const auto& failed = std::get<llm::Failed>(answer);
    EXPECT_EQ(Name(failed.kind), row.kind) << failed.message;
    EXPECT_NE(failed.message.find(row.message), std::string::npos) << failed.message;
  }
}

TEST(CommandModel, IsKilledWithAllThatItStarted) {
  const auto folder = base::TemporaryDirectory::Create("group");
  const std::string path = folder->path() / "pid";
  llm::Question question = MakeQuestion();
  question.limits.deadline = std::chrono::seconds(2);
  const llm::Answer answer = AskProgram({"sh", "-c", "sleep 600 & echo $! > \"$0\"; wait", path}, question);
  EXPECT_EQ(Name(std::get<llm::Failed>(answer).kind), "timeout");
  const auto pid = base::ReadFile(path);
  ASSERT_TRUE(pid);
  const std::string stat = "/proc/" + std::to_string(std::stoi(*pid)) + "/stat";
  // It is killed when Ask returns, and gone as soon as it has been scheduled once more.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  std::string state;
  do {
    std::ifstream file(stat);
    state.assign(std::istreambuf_iterator<char>(file), {});
    std::this_thread::yield();
  } while (!state.empty() && state.find(") Z ") == std::string::npos && std::chrono::steady_clock::now() < until);
  EXPECT_TRUE(state.empty() || state.find(") Z ") != std::string::npos) << state;
}

TEST(CommandModel, BytesThatAreNotUtf8AreReplaced) {
  const llm::Answer answer = AskProgram({"printf", "a\\377b"});
  EXPECT_EQ(std::get<llm::Answered>(answer).text,
            "a\xEF\xBF\xBD"
            "b");
}

}  // namespace
}  // namespace warpwright
