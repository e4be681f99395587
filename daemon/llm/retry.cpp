#include "llm/retry.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace warpwright::llm {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSlice{50};

}  // namespace

Wait SleepUnless(std::function<bool()> stopping) {
  return [stopping = std::move(stopping)](milliseconds wait) {
    const auto until = std::chrono::steady_clock::now() + wait;
    while (!stopping || !stopping()) {
      const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
      if (left.count() <= 0) return true;
      std::this_thread::sleep_for(std::min(left, kSlice));
    }
    return false;
  };
}

// Between half of the wait and the whole, so that those who failed together do not return together; never less than
// the provider asked for.
milliseconds RetryingModel::Backoff(int attempt, const Failed& failed) {
  const milliseconds whole =
      std::min(rules_.first_wait * (int64_t{1} << std::min(attempt - 1, 20)), rules_.longest_wait);
  const double share = 0.5 + 0.5 * random_.Uniform(drawn_++);
  const milliseconds jittered(static_cast<int64_t>(share * static_cast<double>(whole.count())));
  if (!failed.retry_after_ms) return jittered;
  return milliseconds(*failed.retry_after_ms) + jittered / 10;
}

Result<Answer> RetryingModel::Ask(const Question& question) {
  const auto deadline = clock_->Steady() + question.limits.deadline;
  Question attempt = question;
  Receipt spent;
  for (int number = 1;; ++number) {
    attempt.limits.deadline = std::max(milliseconds(1), std::chrono::floor<milliseconds>(deadline - clock_->Steady()));
    WW_ASSIGN(Answer answer, inner_->Ask(attempt));
    if (Receipt* receipt = ReceiptOf(answer)) {
      AddSpent(spent, *receipt);
      spent = *receipt;
    }
    auto* failed = std::get_if<Failed>(&answer);
    if (failed == nullptr || !IsTransient(failed->kind)) return answer;
    const auto describe = [&](std::string_view why) {
      failed->message += fmt::format(" (attempt {}; {})", number, why);
      return std::move(answer);
    };
    if (number >= rules_.attempts) return describe("the last one");
    const milliseconds wait = Backoff(number, *failed);
    if (clock_->Steady() + wait >= deadline) return describe("no time for another one");
    if (wait_(wait)) continue;
    return Answer(Failed{.kind = FailureKind::kCancelled,
                         .message = "broken off while waiting, since the program ends",
                         .receipt = std::move(spent)});
  }
}

}  // namespace warpwright::llm
