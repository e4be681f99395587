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

namespace warpwright {

struct Daemon::State {
  using Steady = std::chrono::steady_clock::time_point;

  State(DaemonOptions o, Store& s, Pipeline& p, RefWatcher& r, const Clock& c, DaemonHooks h)
      : options(std::move(o)), store(s), pipeline(p), watcher(r), clock(c), hooks(std::move(h)) {}

  const DaemonOptions options;
  Store& store;
  Pipeline& pipeline;
  RefWatcher& watcher;
  const Clock& clock;
  const DaemonHooks hooks;

  Fd wake, signal;
  std::atomic<bool> draining{false}, stop_detection{false}, reconcile{false};
  std::atomic<int64_t> heartbeat_ms{0};
  std::optional<CronSchedule> nights;

  std::mutex mutex;                       // of what follows
  std::condition_variable work;
  uint64_t turns = 0;                     // of Notify; who waits sees that something happened
  // For the look threads. Remotes that do not answer must not hold up those on this machine, so these have a thread of their own.
  std::deque<std::function<void()>> quick, slow;

  // daemon_threads.cpp
  void Notify();                          // there may be work for any thread
  // Calls `step` until it says that there is nothing to do, then waits for Notify or a second; until draining.
  void Repeat(const char* name, const std::function<Result<bool>()>& step);
  void DoChores(bool only_quick);         // body of a look thread
  void Look(const std::string& repository);
  void AskForLook(const std::string& repository);
  void AddChore(std::deque<std::function<void()>>& queue, std::function<void()> chore);

  // daemon.cpp
  Status Prepare();
  void Loop();
  void Turn();
  void Watch();                           // tells the watcher what the places are
  void SortDeliveries();
  bool HandleSignals();                   // false: the second one
  void Upkeep(Steady now);
  void Nights();
  Steady next_reconcile{}, next_checkpoint{}, next_retention{}, next_status{}, next_nights{};
  int stop_signals = 0;
};

}  // namespace warpwright
