// A model whose answers belong to a task: each question is asked once, and what was answered is a step of the task's
// trajectory (StepKind::kAsk). A run that goes on asks equal questions, and has the answers.
#pragma once

#include <memory>

#include "llm/language_model.h"
#include "memory/journal.h"

namespace warpwright::llm {

class JournalledModel final : public LanguageModel {
 public:
  // `journal` outlives the model.
  JournalledModel(std::shared_ptr<LanguageModel> inner, memory::Journal& journal)
      : inner_(std::move(inner)), journal_(journal) {}
  // What may be different in the next run is not stored: pending questions, and failures that are not about the answer.
  Result<Answer> Ask(const Question& question) override;

 private:
  std::shared_ptr<LanguageModel> inner_;
  memory::Journal& journal_;
};

}  // namespace warpwright::llm
