// Tells which repository is to be polled now: by time (repo/poll_schedule.h), because it was woken (by a webhook), or
// because the refs of a local one moved (repo/ref_file_monitor.h). A needless poll costs one listing of refs; a missed
// one is made up for by the next, since what moved is found by comparing refs.
//
// One file descriptor to poll(): readable when Due() is not empty. All calls are thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "repo/poll_schedule.h"

namespace warpwright::repo {

struct WatchedRemote {
  std::string name;
  std::string url;
};

class RefWatcher {
 public:
  // `clock` must outlive it.
  static Result<std::unique_ptr<RefWatcher>> Create(PollSchedule::Options options, const base::Clock& clock);
  ~RefWatcher();

  // Replaces the set; new repositories are due immediately.
  void Set(const std::vector<WatchedRemote>& remotes);
  // False: it is not watched.
  bool Wake(const std::string& name);
  int fd() const;
  // Those to poll now. Each is returned only once until Finished.
  std::vector<std::string> Due();
  void Finished(const std::string& name, PollResult outcome);
  // Whether inotify watches it; otherwise only time and wake-ups cause a poll.
  bool Notices(const std::string& name) const;

 private:
  RefWatcher();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpwright::repo
