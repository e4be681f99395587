// A clock that moves only when it is waited on, models from a script, and a question.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "llm/language_model.h"

namespace warpwright {

class WaitedClock final : public base::Clock {
 public:
  std::chrono::system_clock::time_point Now() const override {
    return std::chrono::system_clock::from_time_t(1'800'000'000) + passed;  // Fri, 15 Jan 2027 08:00:00 GMT
  }
  std::chrono::steady_clock::time_point Steady() const override {
    return std::chrono::steady_clock::time_point() + std::chrono::hours(1) + passed;
  }
  std::chrono::milliseconds passed{0};
};

// Answers from a list, the last one forever, and keeps what it was asked.
class ScriptedModel final : public llm::LanguageModel {
 public:
  explicit ScriptedModel(std::vector<llm::Answer> answers) : answers_(std::move(answers)) {}
  Result<llm::Answer> Ask(const llm::Question& question) override {
    asked.push_back(question);
    if (on_ask) on_ask();
    return answers_[std::min(asked.size(), answers_.size()) - 1];
  }
  std::vector<llm::Question> asked;
  std::function<void()> on_ask;

 private:
  std::vector<llm::Answer> answers_;
};

inline constexpr const char* kAnswerSchema = R"({"type":"object","properties":{
  "method":{"type":"string","enum":["tile","fuse"]},
  "factor":{"type":"integer","minimum":1,"maximum":8},
  "why":{"type":"string"}},
  "required":["method","factor","why"],"additionalProperties":false})";

inline llm::Question MakeQuestion(bool structured = false) {
  llm::Question question;
  question.role = core::AgentRole::kPlanner;
  question.system = {{"You plan.", true}};
  question.user = {{"The kernel:\n```\nx\n```", false}, {"Which method?", false}};
  if (structured) {
    question.schema_name = "plan";
    question.schema = kAnswerSchema;
  }
  question.limits.deadline = std::chrono::seconds(20);
  question.limits.stall = std::chrono::seconds(5);
  question.limits.max_output_tokens = 100;
  return question;
}

}  // namespace warpwright
