// The daemon: threads around the steps of service/pipeline.h.
//   loop     poll()s signals, a wake-up, the watcher; starts what is due: polls, nightly runs, reconciliation,
//            maintenance; sends the watchdog's notification
//   look     queries remotes for their branches, fetches, records what moved
//   detect   turns events into jobs (child: plan)
//   job      one for each device: leases a job, runs its child
//   forge    one: pushes, pull requests, checks, replies, dashboards
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "repo/ref_watcher.h"
#include "service/pipeline.h"

namespace warpwright::service {

struct DaemonOptions {
  std::vector<std::string> devices;
  std::chrono::seconds reconcile_every{600};
  std::chrono::seconds grace{60};              // that a running child gets after SIGTERM
  std::string nights_at, nights_zone = "UTC";  // cron; empty: none
  int poll_threads = 4;                        // for remotes; those on this machine have an additional one
};

// The process's environment.
struct DaemonHooks {
  std::function<void()> ready;  // after the start: reported to the service manager
  std::function<void(const std::string&)> status_line;
  std::function<void()> watchdog;  // in every iteration of the loop
  std::function<void()> draining;  // no new deliveries from now on
  std::function<Status()> reload;  // SIGHUP
};

class Daemon {
 public:
  Daemon(DaemonOptions options, Store& store, Pipeline& pipeline, repo::RefWatcher& watcher, const base::Clock& clock,
         DaemonHooks hooks);
  ~Daemon();
  // Runs until SIGTERM or SIGINT has drained it, or Stop. SIGTERM, SIGINT and SIGHUP must be blocked in every thread
  // (BlockSignals before the first).
  Status Run();
  static void BlockSignals();
  void Wake();  // thread-safe: there may be something to do
  void Stop();  // as SIGTERM
  std::chrono::milliseconds HeartbeatAge() const;
  bool draining() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpwright::service
