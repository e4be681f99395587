// When which repository is to be looked at. No I/O and no clock of its own: every call is told what time it is.
//
// A repository is looked at after `every`; where nothing had happened, or looking failed, after twice as long as the
// last time, up to `at_most`, and from `every` again after a change. A wake-up is due at once. Waits are spread by a
// tenth, so that a hundred repositories do not ask at one moment.
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
    uint64_t seed = 1;  // of the spread
  };
  explicit PollSchedule(Options options) : options_(options), random_(options.seed | 1) {}

  // Exactly these from now on. New ones are due at once, known ones keep their time.
  void Set(const std::set<std::string>& names, Time now);
  // False: there is no such repository.
  bool Wake(const std::string& name, Time now);
  void WakeAll(Time now);
  // Those that are due, the longest due first. None of them is due again before Finished, whatever wakes it meanwhile;
  // then it is at once.
  std::vector<std::string> Due(Time now);
  void Finished(const std::string& name, PollResult outcome, Time now);
  // Nothing: none waits.
  std::optional<Time> NextDue() const;

 private:
  struct Entry {
    Time due;
    std::chrono::milliseconds wait{0};
    bool busy = false, woken = false;
  };
  std::chrono::milliseconds Spread(std::chrono::milliseconds wait);

  Options options_;
  uint64_t random_;
  std::map<std::string, Entry> entries_;
};

}  // namespace warpwright::repo
