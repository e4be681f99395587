// Inside the daemon: what its threads share. Included by daemon*.cpp only.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "base/fd.h"
#include "nights/cron.h"
#include "service/daemon.h"

namespace warpwright::service {

struct Daemon::State {
  using Steady = std::chrono::steady_clock::time_point;

  State(DaemonOptions o, Store& s, Pipeline& p, repo::RefWatcher& r, const base::Clock& c, DaemonHooks h)
      : options(std::move(o)), store(s), pipeline(p), watcher(r), clock(c), hooks(std::move(h)) {}

  const DaemonOptions options;
  Store& store;
  Pipeline& pipeline;
  repo::RefWatcher& watcher;
  const base::Clock& clock;
  const DaemonHooks hooks;

  base::Fd wake, signal;
  std::atomic<bool> draining{false}, stop_detection{false}, reconcile{false};
  std::atomic<int64_t> heartbeat_ms{0};
  std::optional<nights::CronSchedule> nights;

  std::mutex mutex;  // protects the following
  std::condition_variable work;
  uint64_t wakeups = 0;  // calls of Notify; waiting threads see that something happened
  // For the polling threads. Remotes that do not respond must not delay those on this machine, so the latter have their
  // own thread.
  std::deque<std::function<void()>> quick, slow;

  // daemon_threads.cpp
  void Notify();  // there may be work for any thread
  // Calls `step` until it reports that there is nothing to do, then waits for Notify or a second; until draining.
  void Repeat(const char* name, const std::function<Result<bool>()>& step);
  void RunPollWorker(bool only_quick);  // body of a polling thread
  void PollRepository(const std::string& repository);
  void EnqueuePoll(const std::string& repository);
  void EnqueuePollTask(std::deque<std::function<void()>>& queue, std::function<void()> chore);

  // daemon.cpp
  Status Prepare();
  void Loop();
  void RunLoopIteration();
  void Watch();  // passes the places to the watcher
  void TriageDeliveries();
  bool HandleSignals();  // false: the second signal
  void RunMaintenance(Steady now);
  void Nights();
  Steady next_reconcile{}, next_checkpoint{}, next_status{}, next_nights{};
  std::chrono::system_clock::time_point last_retention{};
  int stop_signals = 0;
};

}  // namespace warpwright::service
