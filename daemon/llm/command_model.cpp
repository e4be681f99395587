#include "llm/command_model.h"

#include <fmt/format.h>

#include "base/redaction.h"
#include "base/subprocess.h"
#include "base/utf8.h"
#include "llm/wire_protocol.h"

namespace warpwright::llm {
namespace {

constexpr size_t kLastWordsBytes = 400;  // of what the program said on stderr

std::string LastWords(std::string_view err) {
  while (!err.empty() && (err.back() == '\n' || err.back() == ' ')) err.remove_suffix(1);
  if (err.size() > kLastWordsBytes) err.remove_prefix(err.size() - kLastWordsBytes);
  return base::Redact(base::CleanText(err, kLastWordsBytes + 8));
}

}  // namespace

Result<Answer> CommandModel::Ask(const Question& question) {
  WW_TRY(CheckQuestion(question));
  base::Command command{.argv = settings_.command, .env = base::MinimalEnvironment()};
  command.input = RenderPrompt(question);
  command.deadline = std::max(question.limits.deadline, std::chrono::milliseconds(1));
  command.output_limit_bytes = kMaxAnswerBytes;
  Receipt receipt{.model = settings_.model.empty() ? settings_.command.front() : settings_.model, .requests = 1};
  const auto fail = [&](FailureKind kind, std::string message, std::string remedy = {}) {
    return Answer(Failed{.kind = kind, .message = std::move(message), .remedy = std::move(remedy), .receipt = receipt});
  };
  const auto begin = clock_->Steady();
  auto completed = base::Run(command);
  receipt.seconds = std::chrono::duration<double>(clock_->Steady() - begin).count();
  if (!completed) {
    receipt.requests = 0;
    return fail(FailureKind::kCommand, completed.error().message, completed.error().remedy);
  }
  if (completed->timed_out)
    return fail(FailureKind::kTimeout,
                fmt::format("{} was not done in time and was killed", settings_.command.front()));
  if (completed->truncated)
    return fail(FailureKind::kTooLarge,
                fmt::format("{} wrote more than {} bytes", settings_.command.front(), kMaxAnswerBytes));
  if (completed->exit_code != 0)
    return fail(FailureKind::kCommand,
                fmt::format("{} ended with exit code {}: {}", settings_.command.front(), completed->exit_code,
                            LastWords(completed->err)),
                "run it by hand with a short prompt on its standard input");
  std::string text = base::ValidUtf8(completed->out);
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    return fail(FailureKind::kCommand, fmt::format("{} wrote nothing", settings_.command.front()));
  return Answer(Answered{std::move(text), std::move(receipt)});
}

}  // namespace warpwright::llm
