#include "llm/structured_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "llm/json_schema.h"

namespace warpwright::llm {

Result<Answer> StructuredModel::Ask(const Question& question) {
  WW_TRY(CheckQuestion(question));
  if (question.schema.empty()) return inner_->Ask(question);
  WW_ASSIGN(const JsonSchema schema, JsonSchema::Parse(question.schema));
  const auto deadline = clock_->Steady() + question.limits.deadline;
  Question attempt = question;
  Receipt spent;
  for (bool second = false;; second = true) {
    WW_ASSIGN(Answer answer, inner_->Ask(attempt));
    if (Receipt* receipt = ReceiptOf(answer)) {
      AddSpent(spent, *receipt);
      spent = *receipt;
    }
    auto* answered = std::get_if<Answered>(&answer);
    if (answered == nullptr) return answer;
    auto taken = TakeStructured(schema, answered->text);
    if (taken) {
      answered->text = std::move(*taken);
      return answer;
    }
    const auto left = std::chrono::floor<std::chrono::milliseconds>(deadline - clock_->Steady());
    if (second || left.count() <= 0)
      return Answer(Failed{.kind = FailureKind::kInvalidAnswer,
                           .message = "the answer does not satisfy its schema: " + taken.error().message,
                           .text = std::move(answered->text),
                           .receipt = std::move(spent)});
    attempt.corrections.push_back(CorrectionOf(answered->text, taken.error().message));
    attempt.limits.deadline = left;
  }
}

}  // namespace warpwright::llm
