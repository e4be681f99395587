// Holds structured answers against their schema, whatever the provider promises, and gives a wrong one back once, with
// what is wrong. Answered::text is then a document that satisfies the schema.
#pragma once

#include <memory>

#include "base/clock.h"
#include "llm/language_model.h"

namespace warpwright::llm {

class StructuredModel final : public LanguageModel {
 public:
  StructuredModel(std::unique_ptr<LanguageModel> inner, std::shared_ptr<const base::Clock> clock)
      : inner_(std::move(inner)), clock_(std::move(clock)) {}

  // kInvalidAnswer: the second answer was wrong as well; Failed::text is that answer.
  Result<Answer> Ask(const Question& question) override;

 private:
  std::unique_ptr<LanguageModel> inner_;
  std::shared_ptr<const base::Clock> clock_;
};

}  // namespace warpwright::llm
