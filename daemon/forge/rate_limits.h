// When a request may be sent, and whether a response means "later": GitHub's rules for well-behaved clients as plain
// arithmetic on two clocks.
// - Writes to one host start at least a second apart, and a second after the last one ended: how long a request is
//   under way is not known, and what counts is when GitHub sees it.
// - A limit's wait is taken from retry-after, else from x-ratelimit-reset if x-ratelimit-remaining is 0; else it is a
//   secondary limit: a minute, doubled each time.
// - A request that failed for another reason is retried after a growing wait with jitter.
// No call waits: it returns how long to wait.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "http/client.h"

namespace warpwright::forge {

struct RetryRules {
  int attempts = 10;                             // of one verb, over all its requests: this many failures end it
  std::chrono::milliseconds total{10 * 60'000};  // a longer total wait is left to the caller
  std::chrono::milliseconds between_writes{1'000};
  std::chrono::milliseconds first_wait{1'000}, longest_wait{30'000};
  std::chrono::milliseconds secondary_wait{60'000}, longest_secondary_wait{15 * 60'000};
};

class RateLimits {
 public:
  RateLimits(RetryRules rules, const base::Clock& clock, uint64_t seed);

  // How long to wait before a request to `host` on behalf of `account` (whose limits apply). This reserves a write's
  // time slot.
  std::chrono::milliseconds Reserve(const std::string& host, const std::string& account, bool write);
  // A write to `host` has ended, with or without an answer.
  void WriteEnded(const std::string& host);
  // How long `account` is refused from now on by a limit that is already known; zero: it is not.
  std::chrono::milliseconds Blocked(const std::string& host, const std::string& account) const;
  // What a response reports about limits. A value: the request was not served because of a limit, and may be retried
  // after that time.
  std::optional<std::chrono::milliseconds> Observe(const std::string& host, const std::string& account,
                                                   const http::ClientResponse& answer);
  // The wait before attempt number `attempt` (1: the first retry) after a server's error or a lost response.
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
