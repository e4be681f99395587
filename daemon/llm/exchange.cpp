#include "llm/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/file.h"
#include "base/json_codec.h"
#include "llm/answer_fields.h"
#include "llm/spending.h"

namespace warpwright::llm {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxEntryBytes = 12u << 20, kMaxListed = 100'000;
constexpr std::string_view kQuestion = ".question.json";

std::string Readable(const Question& question, const QuestionId& id) {
  return fmt::format(
      "<!-- Question {} of the {}. Give the answer with: warpwright exchange answer DIR {} < ANSWER -->\n\n{}", id,
      Name(question.role), id.substr(0, 12), RenderPrompt(question));
}

// What it took is as it was, or not said again.
bool AddsNoFigure(const GivenAnswer& there, const GivenAnswer& again) {
  const auto same = [](const auto& known, const auto& said) { return !said || said == known; };
  return same(there.tokens_in, again.tokens_in) && same(there.tokens_out, again.tokens_out) &&
         same(there.cost_usd, again.cost_usd);
}

}  // namespace

fs::path Exchange::PathOf(std::string_view id, std::string_view kind) const {
  return folder_ / fmt::format("{}{}", id, kind);
}

Status Exchange::Put(const Question& question) {
  const QuestionId id = IdOf(question);
  std::error_code ignored;
  if (fs::exists(PathOf(id, kQuestion), ignored)) return {};
  WW_TRY(base::WriteFileAtomically(PathOf(id, ".question.md"), Readable(question, id)));
  return base::WriteFileAtomically(PathOf(id, kQuestion), EncodeQuestionFile(question));
}

Result<Question> Exchange::Get(const QuestionId& id) const {
  std::error_code ignored;
  const fs::path path = PathOf(id, kQuestion);
  if (!IsQuestionId(id) || !fs::exists(path, ignored))
    return Fail(ErrorCode::kUsage, fmt::format("there is no question {} in {}", id.substr(0, 64), folder_.string()));
  WW_ASSIGN(const std::string text, base::ReadFile(path, kMaxEntryBytes));
  auto question = DecodeQuestionFile(text, id);
  if (!question) question.error().file = path.string();
  return question;
}

Result<QuestionId> Exchange::Resolve(std::string_view prefix) const {
  WW_ASSIGN(const auto entries, List());
  std::vector<QuestionId> found;
  for (const ExchangeEntry& entry : entries)
    if (prefix.size() >= 4 && entry.id.starts_with(prefix)) found.push_back(entry.id);
  if (found.size() == 1) return found.front();
  return Fail(ErrorCode::kUsage,
              fmt::format("'{}' begins the names of {} questions", prefix.substr(0, 64), found.size()),
              "see `warpwright exchange list`; at least four digits");
}

FoundAnswer Exchange::Look(const Question& question) const {
  const QuestionId id = IdOf(question);
  const fs::path path = PathOf(id, ".answer.json");
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return NoAnswer{};
  const auto text = base::ReadFile(path, kMaxEntryBytes);
  if (!text) return BadAnswer{text.error().message};
  auto answer = DecodeAnswerFile(*text, id);
  if (!answer) return BadAnswer{answer.error().message};
  auto accepted = AcceptAnswer(question, *answer);
  if (!accepted) return BadAnswer{accepted.error().message};
  answer->text = std::move(*accepted);
  return std::move(*answer);
}

Status Exchange::Give(const GivenAnswer& answer) {
  WW_ASSIGN(const Question question, Get(answer.question));
  WW_ASSIGN(const std::string accepted, AcceptAnswer(question, answer));
  const FoundAnswer found = Look(question);
  if (const auto* there = std::get_if<GivenAnswer>(&found)) {
    if (there->text == accepted && AddsNoFigure(*there, answer)) return {};
    return Fail(ErrorCode::kUsage,
                fmt::format("question {} has {} already", answer.question.substr(0, 12),
                            there->text == accepted ? "this answer with other figures" : "another answer"),
                "a run may have used it; remove its file if none did");
  }
  return base::WriteFileAtomically(PathOf(answer.question, ".answer.json"), base::EncodeJson(answer) + "\n");
}

Result<std::vector<ExchangeEntry>> Exchange::List() const {
  std::vector<ExchangeEntry> entries;
  std::error_code error;
  fs::directory_iterator files(folder_, error);
  if (error)
    return Fail(ErrorCode::kUsage, fmt::format("{}: {}", folder_.string(), error.message()),
                "give the folder of an exchange");
  std::set<QuestionId> ids;
  for (const auto& file : files) {
    const std::string name = file.path().filename().string();
    if (!name.ends_with(kQuestion)) continue;
    ids.insert(name.substr(0, name.size() - kQuestion.size()));
    if (ids.size() > kMaxListed) return Fail(ErrorCode::kLimit, fmt::format("more than {} questions", kMaxListed));
  }
  for (const QuestionId& id : ids) {
    WW_ASSIGN(const Question question, Get(id));
    entries.push_back({.id = id,
                       .role = question.role,
                       .schema_name = question.schema_name,
                       .prompt_bytes = RenderPrompt(question).size(),
                       .answer = Look(question)});
  }
  return entries;
}

Result<Exchange::Imported> Exchange::Import(const ExchangeBundle& bundle) {
  Imported imported;
  std::error_code ignored;
  for (const Question& question : bundle.questions) {
    imported.questions += !fs::exists(PathOf(IdOf(question), kQuestion), ignored);
    WW_TRY(Put(question));
  }
  for (const GivenAnswer& answer : bundle.answers) {
    const bool there = fs::exists(PathOf(answer.question, ".answer.json"), ignored);
    const Status given = Give(answer);
    if (given) imported.answers += !there;
    else if (given.error().code == ErrorCode::kUsage || given.error().code == ErrorCode::kCorrupt)
      imported.refused.push_back(fmt::format("{}: {}", answer.question.substr(0, 12), given.error().message));
    else return Fail(given.error());
  }
  return imported;
}

Result<ExchangeBundle> Exchange::Export() const {
  ExchangeBundle bundle;
  WW_ASSIGN(const auto entries, List());
  for (const ExchangeEntry& entry : entries) {
    WW_ASSIGN(Question question, Get(entry.id));
    bundle.questions.push_back(std::move(question));
    if (const auto* answer = std::get_if<GivenAnswer>(&entry.answer)) bundle.answers.push_back(*answer);
  }
  return bundle;
}

// Somebody answered, whom we did not see: it counts as one request.
Receipt OfflineModel::ReceiptFor(const GivenAnswer& given) const {
  Receipt receipt{.model = given.model, .usage = {.input = given.tokens_in, .output = given.tokens_out}, .requests = 1};
  receipt.cost = given.cost_usd ? std::llround(*given.cost_usd * 1e9) : CostOf(receipt.usage, price_);
  return receipt;
}

Result<Answer> OfflineModel::Ask(const Question& question) {
  WW_TRY(CheckQuestion(question));
  WW_TRY(exchange_.Put(question));
  FoundAnswer found = exchange_.Look(question);
  return std::visit(Overload{[&](NoAnswer&) { return Answer(Pending{IdOf(question), ""}); },
                             [&](BadAnswer& bad) { return Answer(Pending{IdOf(question), std::move(bad.reason)}); },
                             [&](GivenAnswer& given) {
                               Receipt receipt = ReceiptFor(given);
                               return Answer(Answered{std::move(given.text), std::move(receipt)});
                             }},
                    found);
}

}  // namespace warpwright::llm
