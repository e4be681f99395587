#include "forge/rate_limits.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace warpwright::forge {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kLongestNamedWait{24 * 3600};

std::optional<int64_t> Number(const http::ClientResponse& answer, const char* name) {
  const auto found = answer.headers.find(name);
  if (found == answer.headers.end()) return std::nullopt;
  const std::string& text = found->second;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

milliseconds Clamped(int64_t wait_seconds) {
  return seconds(std::clamp<int64_t>(wait_seconds, 1, kLongestNamedWait.count()));
}

// GitHub reports a secondary limit with 403 as well as with 429; only its text distinguishes it from a missing
// permission.
bool SpeaksOfLimits(std::string_view body) {
  body = body.substr(0, 4096);
  for (std::string_view words : {"rate limit", "abuse detection"})
    if (body.find(words) != std::string_view::npos) return true;
  return false;
}

}  // namespace

RateLimits::RateLimits(RetryRules rules, const base::Clock& clock, uint64_t seed)
    : rules_(rules), clock_(clock), random_(seed, 0) {}

milliseconds RateLimits::Blocked(const std::string& host, const std::string& account) const {
  const std::lock_guard lock(mutex_);
  const auto found = accounts_.find(host + " " + account);
  if (found == accounts_.end()) return milliseconds{0};
  return std::max(milliseconds{0}, std::chrono::ceil<milliseconds>(found->second.blocked_until - clock_.Steady()));
}

milliseconds RateLimits::Reserve(const std::string& host, const std::string& account, bool write) {
  const milliseconds blocked = Blocked(host, account);
  if (!write) return blocked;
  const std::lock_guard lock(mutex_);
  const auto now = clock_.Steady();
  auto& next = next_write_[host];
  const auto start = std::max(now + blocked, next);
  next = start + rules_.between_writes;
  return std::chrono::ceil<milliseconds>(start - now);
}

void RateLimits::WriteEnded(const std::string& host) {
  const std::lock_guard lock(mutex_);
  auto& next = next_write_[host];
  next = std::max(next, clock_.Steady() + rules_.between_writes);
}

std::optional<milliseconds> RateLimits::Observe(const std::string& host, const std::string& account,
                                                const http::ClientResponse& answer) {
  const std::lock_guard lock(mutex_);
  Account& state = accounts_[host + " " + account];
  const auto remaining = Number(answer, "x-ratelimit-remaining"), reset = Number(answer, "x-ratelimit-reset");
  std::optional<milliseconds> used_up;
  if (remaining == 0 && reset) {
    const int64_t now = std::chrono::duration_cast<seconds>(clock_.Now().time_since_epoch()).count();
    if (*reset >= now) used_up = Clamped(*reset - now + 1);  // the reset is in whole seconds
  }
  const auto block = [&](milliseconds wait) {
    state.blocked_until = std::max(state.blocked_until, clock_.Steady() + wait);
    return wait;
  };
  if (answer.status != 403 && answer.status != 429) {
    if (answer.status < 400) state.secondary_in_a_row = 0;
    if (used_up) block(*used_up);  // this one was served, the next would not be
    return std::nullopt;
  }
  if (const auto after = Number(answer, "retry-after")) return block(Clamped(*after));
  if (used_up) return block(*used_up);
  if (answer.status != 429 && !SpeaksOfLimits(answer.body)) return std::nullopt;
  const int times = std::min(state.secondary_in_a_row++, 20);
  return block(std::min(rules_.secondary_wait * (int64_t{1} << times), rules_.longest_secondary_wait));
}

milliseconds RateLimits::Backoff(int attempt) {
  const std::lock_guard lock(mutex_);
  const milliseconds wait =
      std::min(rules_.first_wait * (int64_t{1} << std::clamp(attempt - 1, 0, 20)), rules_.longest_wait);
  // Between 1 and 1.5 times the wait: never less, since a look-up after a lost write must not follow immediately.
  return wait + milliseconds(static_cast<int64_t>(random_.Uniform(drawn_++) * 0.5 * static_cast<double>(wait.count())));
}

}  // namespace warpwright::forge
