// Sends a question only if the ledger has room for all that it may cost, and enters what it did cost.
#pragma once

#include <memory>

#include "config/model_settings.h"
#include "llm/language_model.h"
#include "llm/ledger.h"

namespace warpwright::llm {

class BudgetedModel final : public LanguageModel {
 public:
  // `inner` sends one request for each question: attempts are counted one by one.
  BudgetedModel(std::unique_ptr<LanguageModel> inner, std::shared_ptr<Ledger> ledger, Account account, LedgerCaps caps,
                config::ModelSettings settings)
      : inner_(std::move(inner)),
        ledger_(std::move(ledger)),
        account_(std::move(account)),
        caps_(caps),
        settings_(std::move(settings)) {}

  // kBudget, kTaskBudget: a limit is reached. The receipt gets its cost.
  Result<Answer> Ask(const Question& question) override;

 private:
  std::unique_ptr<LanguageModel> inner_;
  std::shared_ptr<Ledger> ledger_;
  const Account account_;
  const LedgerCaps caps_;
  const config::ModelSettings settings_;
};

}  // namespace warpwright::llm
