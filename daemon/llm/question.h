// What an agent asks a language model.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/agent_role.h"

namespace warpwright::llm {

// A piece of a prompt. `cache`: everything up to its end is equal in many questions, and is worth being kept by the
// provider. Put what is stable first.
struct Part {
  std::string text;
  bool cache = false;
};

// An answer that was not accepted, and why: the model is asked once more, with both in view.
struct Correction {
  std::string answer;
  std::string fault;
};

struct Limits {
  int64_t max_output_tokens = 16'000;
  std::chrono::milliseconds deadline{600'000};  // of everything until the answer, with retries
  std::chrono::milliseconds stall{90'000};      // without a byte from the provider
};

struct Question {
  core::AgentRole role = core::AgentRole::kPlanner;  // who asks
  std::vector<Part> system;                          // who answers, and by which rules
  std::vector<Part> user;                            // the case at hand
  std::string schema_name;                           // of the answer: [a-z_]; given with a schema
  std::string schema;                                // JSON (llm/json_schema.h); empty: the answer is free text
  int sample = 0;  // tells otherwise equal questions apart, where several answers are wanted
  std::vector<Correction> corrections;
  Limits limits;  // not part of what is asked: a question under other limits is the same question
};

// What is asked, as a SHA-256: an answer belongs to it, whoever gives it and whenever.
using QuestionId = std::string;
QuestionId IdOf(const Question& question);
bool IsQuestionId(std::string_view text);

inline constexpr size_t kMaxQuestionBytes = 4u << 20;  // of all its texts
// kCorrupt: too large, not UTF-8, without a user part, with more than four cache marks (the most that providers take),
// or with a schema that json_schema.h does not accept.
Status CheckQuestion(const Question& question);

// How to answer with JSON, for a model whose provider has no structured output; empty without a schema.
std::string AnswerInstruction(const Question& question);
// The whole prompt as one text, for whoever has no parts: a program on a pipe, a person.
std::string RenderPrompt(const Question& question);
// Of an answer, which is repeated up to a limit, and what is wrong with it, in words without a full stop.
Correction CorrectionOf(std::string_view answer, std::string_view fault);
// Markdown: `text` in a fence that nothing in it closes.
std::string Fenced(std::string_view text, std::string_view language = {});

}  // namespace warpwright::llm
