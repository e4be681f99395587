#include "llm/transcript.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json_codec.h"
#include "base/redaction.h"
#include "llm/answer_fields.h"

namespace warpwright::llm {

template <typename V>
void Describe(V& field, const Transcript*) {
  using T = Transcript;
  field("question", &T::question);
  field("answer", &T::answer);
}

namespace {

constexpr size_t kMaxTranscriptBytes = 64u << 20;
constexpr base::JsonLimits kTranscriptLimits{
    .bytes = kMaxTranscriptBytes, .depth = 16, .values = 20'000, .text = 24u << 20};

std::filesystem::path TranscriptPath(const std::filesystem::path& folder, const QuestionId& id) {
  return folder / (id + ".transcript.json");
}

// A key that a model repeats goes nowhere.
void RedactTexts(Answer& answer) {
  std::visit(
      Overload{[](Answered& a) { a.text = base::Redact(a.text); }, [](Truncated& a) { a.text = base::Redact(a.text); },
               [](Refused& a) { a.reason = base::Redact(a.reason); }, [](Pending&) {},
               [](Failed& a) { a.text = base::Redact(a.text); }},
      answer);
}

}  // namespace

Result<Transcript> DecodeTranscript(std::string_view text, std::string_view id) {
  WW_ASSIGN(Transcript transcript, base::DecodeJson<Transcript>(text, kTranscriptLimits));
  WW_TRY(CheckQuestion(transcript.question));
  if (IdOf(transcript.question) != id)
    return Fail(ErrorCode::kCorrupt, "the question is not the one that its name says");
  return transcript;
}

std::string EncodeTranscript(const Transcript& transcript) {
  return base::DumpJson(base::ToJson(transcript), 1) + "\n";
}

Result<Answer> RecordingModel::Ask(const Question& question) {
  WW_ASSIGN(Answer answer, inner_->Ask(question));
  if (std::holds_alternative<Pending>(answer)) return answer;
  RedactTexts(answer);
  WW_TRY(base::WriteFileAtomically(TranscriptPath(folder_, IdOf(question)), EncodeTranscript({question, answer})));
  return answer;
}

Result<Answer> ReplayModel::Ask(const Question& question) {
  WW_TRY(CheckQuestion(question));
  const QuestionId id = IdOf(question);
  const auto path = TranscriptPath(folder_, id);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    return Answer(Failed{.kind = FailureKind::kNotRecorded,
                         .message = fmt::format("question {} of the {} is not recorded in {}", id.substr(0, 12),
                                                Name(question.role), folder_.string()),
                         .remedy = "record it again; its prompt differs from those that were recorded"});
  WW_ASSIGN(const std::string text, base::ReadFile(path, kMaxTranscriptBytes));
  auto transcript = DecodeTranscript(text, id);
  if (!transcript) {
    transcript.error().file = path.string();
    return Fail(transcript.error());
  }
  return std::move(transcript->answer);
}

}  // namespace warpwright::llm
