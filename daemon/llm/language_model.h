// The port of a language model. README.md beside this file says how the implementations are composed.
#pragma once

#include "base/result.h"
#include "llm/answer.h"
#include "llm/question.h"

namespace warpwright::llm {

class LanguageModel {
 public:
  virtual ~LanguageModel() = default;
  // Ends within question.limits.deadline and a second. What a model or provider does is an Answer; an Error is about
  // this machine. May be called from several threads.
  virtual Result<Answer> Ask(const Question& question) = 0;
};

}  // namespace warpwright::llm
