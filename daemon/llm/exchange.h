// Questions that wait in a folder until somebody answers them: for machines without internet. Each question is one file
// (JSON), with a twin in Markdown for a person or a chat window; its name is the hash of its content, so that an answer
// holds for every later run that asks the same. Nothing in the folder is ever removed by warpwright.
//
//   <id>.question.json   {"format": 1, "id": ..., "question": {...}}
//   <id>.question.md     the same to read
//   <id>.answer.json     {"question": id, "text": "...", "model": "who answered",
//                         "tokens_in": N, "tokens_out": N, "cost_usd": X}   what it took, each as far as it is known
//
// Several processes may share the folder: files appear whole.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "config/price_list.h"
#include "llm/language_model.h"

namespace warpwright::llm {

inline constexpr size_t kMaxGivenBytes = 4u << 20;  // of an answer's text

struct GivenAnswer {
  QuestionId question;
  std::string text;
  std::string model;  // or person
  // What it took; none: unknown, which is not zero.
  std::optional<int64_t> tokens_in = {}, tokens_out = {};
  std::optional<double> cost_usd = {};
};

struct NoAnswer {};
struct BadAnswer {
  std::string reason;
};
// An answer in the folder, as it was found: it stays there, whatever it is.
using FoundAnswer = std::variant<NoAnswer, BadAnswer, GivenAnswer>;

struct ExchangeEntry {
  QuestionId id;
  core::AgentRole role = core::AgentRole::kPlanner;
  std::string schema_name;
  size_t prompt_bytes = 0;
  FoundAnswer answer;
};

// All questions and answers of a folder in one file, to carry between machines.
struct ExchangeBundle {
  std::vector<Question> questions;
  std::vector<GivenAnswer> answers;
};
Result<ExchangeBundle> DecodeBundle(std::string_view text);  // kCorrupt; every question and answer is checked alone
std::string EncodeBundle(const ExchangeBundle& bundle);

// kCorrupt: not such a file, over its size limit, or under another name than its content has.
Result<Question> DecodeQuestionFile(std::string_view text, std::string_view id);
std::string EncodeQuestionFile(const Question& question);
Result<GivenAnswer> DecodeAnswerFile(std::string_view text, std::string_view id);
// The answer's text as agents take it: with a schema, a document that satisfies it. kCorrupt: why not.
Result<std::string> AcceptAnswer(const Question& question, const GivenAnswer& answer);

class Exchange {
 public:
  explicit Exchange(std::filesystem::path folder) : folder_(std::move(folder)) {}

  Status Put(const Question& question);                       // does nothing if it is there
  Result<Question> Get(const QuestionId& id) const;           // kUsage: there is none
  Result<QuestionId> Resolve(std::string_view prefix) const;  // of at least 4 digits; kUsage: none, or several
  FoundAnswer Look(const Question& question) const;
  // Refuses a bad answer (kCorrupt), and one other than a good one that is there (kUsage).
  Status Give(const GivenAnswer& answer);
  Result<std::vector<ExchangeEntry>> List() const;  // by id; kCorrupt names the first file that is none of ours

  struct Imported {
    int questions = 0, answers = 0;    // that are new
    std::vector<std::string> refused;  // answers, each with the reason
  };
  Result<Imported> Import(const ExchangeBundle& bundle);
  Result<ExchangeBundle> Export() const;  // without bad answers

 private:
  std::filesystem::path PathOf(std::string_view id, std::string_view kind) const;
  std::filesystem::path folder_;
};

// Asks nobody: takes the answer from the exchange, or leaves the question there and is Pending.
class OfflineModel final : public LanguageModel {
 public:
  // `price` is of answers that say their tokens, but no cost.
  OfflineModel(std::filesystem::path folder, std::optional<config::TokenPrice> price)
      : exchange_(std::move(folder)), price_(price) {}
  Result<Answer> Ask(const Question& question) override;

 private:
  Receipt ReceiptFor(const GivenAnswer& given) const;
  Exchange exchange_;
  const std::optional<config::TokenPrice> price_;
};

}  // namespace warpwright::llm
