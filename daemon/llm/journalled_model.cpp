#include "llm/journalled_model.h"

#include "base/utf8.h"
#include "llm/transcript.h"

namespace warpwright::llm {
namespace {

bool IsLasting(const Answer& answer) {
  return std::visit(Overload{[](const Answered&) { return true; }, [](const Truncated&) { return true; },
                             [](const Refused&) { return true; }, [](const Pending&) { return false; },
                             [](const Failed& failed) {
                               return failed.kind == FailureKind::kInvalidAnswer ||
                                      failed.kind == FailureKind::kTooLarge ||
                                      failed.kind == FailureKind::kPromptTooLong;
                             }},
                    answer);
}

// What distinguishes this question from the others of the task, for readers of the trajectory, also while it waits: the
// end of the prompt, since what is stable stands first.
std::string AboutText(const Question& question) {
  constexpr size_t kMaxBytes = 6'000;
  const std::string_view text = question.user.empty() ? std::string_view() : question.user.back().text;
  const std::string about = base::Clip(text, kMaxBytes);
  return question.corrections.empty() ? about : "Asked again: " + question.corrections.back().fault + "\n" + about;
}

}  // namespace

Result<Answer> JournalledModel::Ask(const Question& question) {
  const QuestionId id = IdOf(question);
  memory::StepRecord record;
  record.kind = memory::StepKind::kAsk;
  record.candidate = id;
  record.method = Name(question.role);
  record.reason = AboutText(question);
  Answer answer;
  WW_ASSIGN(const auto step, journal_.StepIfReady(record, [&]() -> Result<std::optional<memory::StepOutcome>> {
    WW_ASSIGN(answer, inner_->Ask(question));
    if (!IsLasting(answer)) return std::optional<memory::StepOutcome>();
    memory::StepOutcome outcome;
    outcome.summary = Summary(answer);
    outcome.data = EncodeTranscript({question, answer});
    if (const Receipt* receipt = ReceiptOf(answer)) outcome.seconds = receipt->seconds;
    return std::optional<memory::StepOutcome>(std::move(outcome));
  }));
  if (!step) return answer;
  WW_ASSIGN(Transcript transcript, DecodeTranscript(step->outcome.data, id));
  return std::move(transcript.answer);
}

}  // namespace warpwright::llm
