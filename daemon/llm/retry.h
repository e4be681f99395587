// Asks again after what passes by itself (IsTransient), as the provider wishes or with growing waits, within the
// question's deadline.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/random.h"
#include "llm/language_model.h"

namespace warpwright::llm {

struct RetryRules {
  int attempts = 6;
  std::chrono::milliseconds first_wait{1'000}, longest_wait{60'000};
};

// False: the program ends, and waiting was broken off.
using Wait = std::function<bool(std::chrono::milliseconds)>;
// Sleeps, and looks at `stopping` (may be empty) meanwhile.
Wait SleepUnless(std::function<bool()> stopping);

class RetryingModel final : public LanguageModel {
 public:
  // `seed` of the jitter: different in processes that ask the same provider.
  RetryingModel(std::unique_ptr<LanguageModel> inner, RetryRules rules, std::shared_ptr<const base::Clock> clock,
                Wait wait, uint64_t seed)
      : inner_(std::move(inner)), rules_(rules), clock_(std::move(clock)), wait_(std::move(wait)), random_(seed, 0) {}

  // The receipt of the answer counts all attempts.
  Result<Answer> Ask(const Question& question) override;

 private:
  std::chrono::milliseconds Backoff(int attempt, const Failed& failed);

  std::unique_ptr<LanguageModel> inner_;
  const RetryRules rules_;
  std::shared_ptr<const base::Clock> clock_;
  const Wait wait_;
  const base::CounterRandom random_;
  std::atomic<uint64_t> drawn_{0};
};

}  // namespace warpwright::llm
