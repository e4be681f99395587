#include "llm/question.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "base/utf8.h"
#include "llm/json_schema.h"

namespace warpwright::llm {
namespace {

constexpr int kMaxCacheMarks = 4;
constexpr size_t kMaxParts = 1000, kMaxCorrections = 8, kIdBytes = 64;

bool IsUtf8(std::string_view text) { return base::ValidUtf8(text) == text; }

// Every text of a question.
template <typename Visit>
void VisitTexts(const Question& question, Visit&& visit) {
  for (const auto* parts : {&question.system, &question.user})
    for (const Part& part : *parts) visit(part.text);
  visit(question.schema);
  for (const Correction& correction : question.corrections) visit(correction.answer), visit(correction.fault);
}

Status CheckSchemaOf(const Question& question) {
  if (question.schema.empty() != question.schema_name.empty())
    return Fail(ErrorCode::kCorrupt, "a schema and its name come together");
  if (question.schema.empty()) return {};
  const bool good =
      question.schema_name.size() <= 64 && std::all_of(question.schema_name.begin(), question.schema_name.end(),
                                                       [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
  if (!good) return Fail(ErrorCode::kCorrupt, "the name of a schema has letters a to z and _");
  if (auto schema = JsonSchema::Parse(question.schema); !schema)
    return Fail(ErrorCode::kCorrupt, "the schema: " + schema.error().message);
  return {};
}

}  // namespace

QuestionId IdOf(const Question& question) {
  base::Hasher hasher;
  hasher.Add("warpwright question 1").Add(Name(question.role));
  for (const auto* parts : {&question.system, &question.user}) {
    hasher.Add(std::to_string(parts->size()));
    for (const Part& part : *parts) hasher.Add(part.text);
  }
  hasher.Add(question.schema_name).Add(question.schema).Add(std::to_string(question.sample));
  hasher.Add(std::to_string(question.corrections.size()));
  for (const Correction& correction : question.corrections) hasher.Add(correction.answer).Add(correction.fault);
  return hasher.Finish();
}

bool IsQuestionId(std::string_view text) {
  return text.size() == kIdBytes && text.find_first_not_of("0123456789abcdef") == text.npos;
}

Status CheckQuestion(const Question& question) {
  if (question.user.empty()) return Fail(ErrorCode::kCorrupt, "a question without a user part");
  if (question.system.size() + question.user.size() > kMaxParts || question.corrections.size() > kMaxCorrections)
    return Fail(ErrorCode::kCorrupt, "a question of too many parts");
  size_t bytes = 0;
  bool utf8 = true;
  VisitTexts(question, [&](const std::string& text) {
    bytes += text.size();
    utf8 = utf8 && bytes <= kMaxQuestionBytes && IsUtf8(text);
  });
  if (bytes > kMaxQuestionBytes)
    return Fail(ErrorCode::kCorrupt, fmt::format("a question of more than {} bytes", kMaxQuestionBytes));
  if (!utf8) return Fail(ErrorCode::kCorrupt, "a question that is not UTF-8");
  int64_t marks = 0;
  for (const auto* parts : {&question.system, &question.user})
    marks += std::count_if(parts->begin(), parts->end(), [](const Part& part) { return part.cache; });
  if (marks > kMaxCacheMarks) return Fail(ErrorCode::kCorrupt, fmt::format("{} cache marks; 4 at the most", marks));
  return CheckSchemaOf(question);
}

std::string Fenced(std::string_view text, std::string_view language) {
  size_t longest = 0, run = 0;
  for (const char c : text) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
  const std::string fence(std::max<size_t>(3, longest + 1), '`');
  return fmt::format("{}{}\n{}{}{}\n", fence, language, text, text.ends_with('\n') ? "" : "\n", fence);
}

std::string AnswerInstruction(const Question& question) {
  if (question.schema.empty()) return {};
  return "Answer with one JSON document in a block that begins with ```json and ends with ```, and with nothing else. "
         "It must satisfy this JSON Schema:\n\n" +
         Fenced(question.schema, "json");
}

Correction CorrectionOf(std::string_view answer, std::string_view fault) {
  constexpr size_t kMaxRepeatedBytes = 256 << 10;  // of a wrong answer
  return {std::string(base::CutAtCharacter(answer, kMaxRepeatedBytes)),
          fmt::format("This answer cannot be used: {}. Answer again, with the whole JSON document and nothing else.",
                      fault)};
}

std::string RenderPrompt(const Question& question) {
  std::string prompt;
  const auto add = [&](std::string_view text) {
    if (!prompt.empty()) prompt += prompt.ends_with('\n') ? "\n" : "\n\n";
    prompt += text;
  };
  for (const Part& part : question.system) add(part.text);
  for (const Part& part : question.user) add(part.text);
  if (const std::string instruction = AnswerInstruction(question); !instruction.empty()) add(instruction);
  for (const Correction& correction : question.corrections) {
    add("Your earlier answer was:\n\n" + Fenced(correction.answer));
    add(correction.fault);
  }
  return prompt;
}

}  // namespace warpwright::llm
