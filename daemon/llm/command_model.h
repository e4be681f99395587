// A program as a model (`claude -p`, `codex exec`, `llm`): started without a shell, with the prompt on its standard
// input; its standard output is the answer. It gets PATH, HOME, TMPDIR and a locale, and no other variable; at the
// deadline its whole process group is killed.
#pragma once

#include <memory>

#include "base/clock.h"
#include "config/model_settings.h"
#include "llm/language_model.h"

namespace warpwright::llm {

class CommandModel final : public LanguageModel {
 public:
  CommandModel(config::ModelSettings settings, std::shared_ptr<const base::Clock> clock)
      : settings_(std::move(settings)), clock_(std::move(clock)) {}
  Result<Answer> Ask(const Question& question) override;

 private:
  const config::ModelSettings settings_;
  std::shared_ptr<const base::Clock> clock_;
};

}  // namespace warpwright::llm
