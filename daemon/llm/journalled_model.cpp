#include "llm/journalled_model.h"

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

}  // namespace

Result<Answer> JournalledModel::Ask(const Question& question) {
  const QuestionId id = IdOf(question);
  memory::StepRecord record;
  record.kind = memory::StepKind::kAsk;
  record.candidate = id;
  record.method = Name(question.role);
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
