// When a request may be sent, and whether an answer means "later": GitHub's rules for well-behaved clients as plain
// arithmetic on two clocks.
//   - writes to one host start at least a second apart;
//   - a limit is named by retry-after, else by x-ratelimit-reset where x-ratelimit-remaining is 0, else it is a
//   secondary one: a minute, and
//     twice that each time;
//   - what failed for another reason is repeated after a growing wait with jitter.
// No call waits: it says how long to wait.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "forge/http.h"

namespace warpwright::forge {

struct RetryRules {
  int attempts = 10;                             // of one verb, all its requests together: this many failures end it
  std::chrono::milliseconds total{10 * 60'000};  // waiting longer than this altogether is left to the caller
  std::chrono::milliseconds between_writes{1'000};
  std::chrono::milliseconds first_wait{1'000}, longest_wait{30'000};
  std::chrono::milliseconds secondary_wait{60'000}, longest_secondary_wait{15 * 60'000};
};

class RateLimits {
 public:
  RateLimits(RetryRules rules, const base::Clock& clock, uint64_t seed);

  // How long to wait before a request to `host` on behalf of `account` (whose limits they are). A write's place in the
  // row is taken by this.
  std::chrono::milliseconds Reserve(const std::string& host, const std::string& account, bool write);
  // How long `account` is refused from now on by a limit that is already known; zero: it is not.
  std::chrono::milliseconds Blocked(const std::string& host, const std::string& account) const;
  // What an answer says about limits. A value: the request was not served because of a limit, and may be repeated after
  // that time.
  std::optional<std::chrono::milliseconds> Observe(const std::string& host, const std::string& account,
                                                   const HttpResponse& answer);
  // The wait before attempt number `attempt` (1: the first repetition) after a server's error or a lost answer.
  std::chrono::milliseconds Backoff(int attempt);

 private:
  struct Account {
    std::chrono::steady_clock::time_point blocked_until{};
    int secondary_in_a_row = 0;
  };
  const RetryRules rules_;
  const base::Clock& clock_;
  base::CounterRandom random_;
  mutable std::mutex mutex_;
  uint64_t drawn_ = 0;
  std::map<std::string, std::chrono::steady_clock::time_point> next_write_;  // by host
  std::map<std::string, Account> accounts_;                                  // by host and account
};

}  // namespace warpwright::forge
