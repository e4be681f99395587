// When each repository is to be polled. No I/O and no clock of its own: the time is an argument of every call.
//
// A repository is polled after `every`; if nothing had changed, or the poll failed, after twice the last wait, up to
// `at_most`, and after `every` again once something changed. A wake-up makes it due immediately, but two polls begin at
// least `between` apart: hundreds of wake-ups a second are a few polls. Waits are jittered by a tenth, so that a
// hundred repositories are not polled at the same moment.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace warpwright::repo {

enum class PollResult { kChanged, kNothing, kFailed };

class PollSchedule {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Options {
    std::chrono::milliseconds every{60'000}, at_most{900'000};
    uint64_t seed = 1;  // of the jitter
    std::chrono::milliseconds between{500};
  };
  explicit PollSchedule(Options options) : options_(options), random_(options.seed | 1) {}

  // Replaces the set. New names are due immediately, known ones keep their time.
  void Set(const std::set<std::string>& names, Time now);
  // False: the repository is unknown.
  bool Wake(const std::string& name, Time now);
  void WakeAll(Time now);
  // Those that are due, the longest overdue first. None of them is due again before Finished, even if it is woken
  // meanwhile; then it is due immediately.
  std::vector<std::string> Due(Time now);
  void Finished(const std::string& name, PollResult outcome, Time now);
  // nullopt: none is scheduled.
  std::optional<Time> NextDue() const;

 private:
  struct Entry {
    Time due;
    std::chrono::milliseconds wait{0};
    std::optional<Time> begun = {};  // the last poll
    bool busy = false, woken = false;
  };
  Time Soonest(const Entry& entry, Time now) const;
  std::chrono::milliseconds Spread(std::chrono::milliseconds wait);

  Options options_;
  uint64_t random_;
  std::map<std::string, Entry> entries_;
};

}  // namespace warpwright::repo
