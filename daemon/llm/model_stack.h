// A configured model, with all that is around it. From outside: transcripts, structured answers, retries, the ledger,
// the transport.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "config/model_settings.h"
#include "llm/language_model.h"
#include "llm/ledger.h"
#include "llm/retry.h"

namespace warpwright::llm {

struct ModelStackParts {
  config::ModelSettings settings;
  std::shared_ptr<const base::Clock> clock;  // nullptr: the system's
  std::shared_ptr<Ledger> ledger;
  Account account;
  LedgerCaps caps;
  RetryRules retry;
  std::function<bool()> stopping;  // true: the program ends, and everything is broken off; may be empty
  std::optional<std::string> key;  // given by whoever started this process; else the settings say where it is
  std::filesystem::path record;    // folder for transcripts; empty: none are kept
  std::string user_agent = "warpwright";
};

// Reads the key. kEnvironment: the key is missing, or libcurl does not start.
Result<std::unique_ptr<LanguageModel>> MakeModel(ModelStackParts parts);

// The question's limits as this model's settings have them.
Limits LimitsOf(const config::ModelSettings& settings);

}  // namespace warpwright::llm
