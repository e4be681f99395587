// Says when which repository is to be looked at: by time (repo/poll_schedule.h), because somebody woke it (a webhook),
// or because the refs of a local one moved (repo/ref_file_monitor.h). A look that comes for nothing costs one listing
// of refs; one that is missed is made up for by the next, since what moved is found by comparing refs.
//
// One file descriptor to poll(): readable when Due() has something to say. All calls are thread-safe.
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

  // Exactly these from now on; new ones are due at once.
  void Set(const std::vector<WatchedRemote>& remotes);
  // False: it is not watched.
  bool Wake(const std::string& name);
  int fd() const;
  // Those to look at now. Each is given out once, until Finished.
  std::vector<std::string> Due();
  void Finished(const std::string& name, PollResult outcome);
  // Whether inotify watches it; else only time and wake-ups bring a look.
  bool Notices(const std::string& name) const;

 private:
  RefWatcher();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpwright::repo
