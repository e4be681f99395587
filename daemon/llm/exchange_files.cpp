// The files of an exchange as values.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_codec.h"
#include "base/utf8.h"
#include "llm/answer_fields.h"
#include "llm/exchange.h"
#include "llm/json_schema.h"

namespace warpwright::llm {
namespace {

constexpr int64_t kFormat = 1;
constexpr size_t kMaxBundleEntries = 10'000;
constexpr int64_t kMaxGivenTokens = 1'000'000'000;  // in 1e-9 dollars they fit into an integer at any price
constexpr double kMaxGivenDollars = 1'000'000;
constexpr base::JsonLimits kFileLimits{.bytes = 12u << 20, .depth = 16, .values = 20'000, .text = 8u << 20};
constexpr base::JsonLimits kBundleLimits{.bytes = 512u << 20, .depth = 16, .values = 1'000'000, .text = 8u << 20};

struct QuestionFile {
  int64_t format = kFormat;
  std::string id;
  Question question;
};
template <typename V>
void Describe(V& field, const QuestionFile*) {
  using T = QuestionFile;
  field("format", &T::format, base::Within{kFormat, kFormat});
  field("id", &T::id);
  field("question", &T::question);
}

struct BundleFile {
  int64_t format = kFormat;
  ExchangeBundle bundle;
};
template <typename V>
void Describe(V& field, const BundleFile*) {
  using T = BundleFile;
  field("format", &T::format, base::Within{kFormat, kFormat});
  field.Inline(&T::bundle);
}

Status CheckGiven(const GivenAnswer& answer) {
  if (!IsQuestionId(answer.question)) return Fail(ErrorCode::kCorrupt, "an answer to no question's name");
  if (answer.text.size() > kMaxGivenBytes)
    return Fail(ErrorCode::kCorrupt, fmt::format("an answer of more than {} bytes", kMaxGivenBytes));
  if (answer.model.size() > 200) return Fail(ErrorCode::kCorrupt, "a model's name of more than 200 bytes");
  for (const auto& tokens : {answer.tokens_in, answer.tokens_out})
    if (tokens && (*tokens < 0 || *tokens > kMaxGivenTokens))
      return Fail(ErrorCode::kCorrupt, fmt::format("{} tokens of an answer", *tokens));
  if (answer.cost_usd && !(*answer.cost_usd >= 0 && *answer.cost_usd <= kMaxGivenDollars))
    return Fail(ErrorCode::kCorrupt, fmt::format("an answer that cost {} dollars", *answer.cost_usd));
  return {};
}

}  // namespace

Result<Question> DecodeQuestionFile(std::string_view text, std::string_view id) {
  WW_ASSIGN(QuestionFile file, base::DecodeJson<QuestionFile>(text, kFileLimits));
  WW_TRY(CheckQuestion(file.question));
  if (file.id != id || IdOf(file.question) != id)
    return Fail(ErrorCode::kCorrupt, "the question is not the one that its name says");
  return std::move(file.question);
}

std::string EncodeQuestionFile(const Question& question) {
  return base::DumpJson(base::ToJson(QuestionFile{kFormat, IdOf(question), question}), 1) + "\n";
}

Result<GivenAnswer> DecodeAnswerFile(std::string_view text, std::string_view id) {
  WW_ASSIGN(GivenAnswer answer, base::DecodeJson<GivenAnswer>(text, kFileLimits));
  WW_TRY(CheckGiven(answer));
  if (answer.question != id) return Fail(ErrorCode::kCorrupt, "the answer is to another question");
  return answer;
}

Result<std::string> AcceptAnswer(const Question& question, const GivenAnswer& answer) {
  WW_TRY(CheckGiven(answer));
  if (question.schema.empty()) {
    if (answer.text.find_first_not_of(" \t\r\n") != std::string::npos) return answer.text;
    return Fail(ErrorCode::kCorrupt, "the answer is empty");
  }
  WW_ASSIGN(const JsonSchema schema, JsonSchema::Parse(question.schema));
  return TakeStructured(schema, answer.text);
}

Result<ExchangeBundle> DecodeBundle(std::string_view text) {
  WW_ASSIGN(BundleFile file, base::DecodeJson<BundleFile>(text, kBundleLimits));
  if (file.bundle.questions.size() + file.bundle.answers.size() > kMaxBundleEntries)
    return Fail(ErrorCode::kCorrupt, fmt::format("a bundle of more than {} entries", kMaxBundleEntries));
  for (const Question& question : file.bundle.questions) WW_TRY(CheckQuestion(question));
  for (const GivenAnswer& answer : file.bundle.answers) WW_TRY(CheckGiven(answer));
  return std::move(file.bundle);
}

std::string EncodeBundle(const ExchangeBundle& bundle) {
  return base::DumpJson(base::ToJson(BundleFile{kFormat, bundle}), 1) + "\n";
}

}  // namespace warpwright::llm
