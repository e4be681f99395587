#include "service/daemon.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/log.h"
#include "service/daemon_state.h"

namespace warpwright::service {
namespace {

using namespace std::chrono_literals;
constexpr auto kCheckpointEvery = 1s;  // little at a time: the data that a flush writes delays appends to the log
constexpr auto kRetentionEvery = 1h;
constexpr auto kStatusEvery = 10s;
constexpr auto kNightsEvery = 5s;
constexpr auto kMaxLoopWait = 1000ms;

sigset_t OurSignals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&set, signal);
  return set;
}

}  // namespace

void Daemon::BlockSignals() {
  const sigset_t set = OurSignals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Daemon::Daemon(DaemonOptions options, Store& store, Pipeline& pipeline, repo::RefWatcher& watcher,
               const base::Clock& clock, DaemonHooks hooks)
    : state_(std::make_unique<State>(std::move(options), store, pipeline, watcher, clock, std::move(hooks))) {
  state_->wake = base::Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const sigset_t set = OurSignals();
  state_->signal = base::Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  state_->heartbeat_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(clock.Steady().time_since_epoch()).count();
}
Daemon::~Daemon() = default;

void Daemon::Wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(state_->wake.get(), &one, sizeof one);
}
void Daemon::Stop() {
  state_->draining = true;
  Wake();
}
bool Daemon::draining() const { return state_->draining; }
std::chrono::milliseconds Daemon::HeartbeatAge() const {
  const auto now =
      std::chrono::duration_cast<std::chrono::milliseconds>(state_->clock.Steady().time_since_epoch()).count();
  return std::chrono::milliseconds(now - state_->heartbeat_ms);
}

Status Daemon::State::Prepare() {
  if (!wake.valid() || !signal.valid()) return FailErrno("eventfd or signalfd");
  if (!options.nights_at.empty()) {
    WW_ASSIGN(nights, nights::ParseCron(options.nights_at, options.nights_zone));
  }
  const auto now = clock.Steady();
  Watch();
  reconcile = true;
  next_reconcile = now + options.reconcile_every;
  return {};
}

Status Daemon::Run() {
  State& s = *state_;
  WW_TRY(s.Prepare());
  std::vector<std::thread> threads;
  for (int i = 0; i <= std::max(1, s.options.poll_threads); ++i)
    threads.emplace_back([&s, i] { s.RunPollWorker(i == 0); });
  threads.emplace_back([&s] { s.Repeat("detect", [&s] { return s.pipeline.DetectNextEvent(s.stop_detection); }); });
  threads.emplace_back([&s] {
    s.Repeat("forge", [&s]() -> Result<bool> {
      if (s.reconcile.exchange(false)) WW_TRY(s.pipeline.Reconcile(s.draining));
      return s.pipeline.RunForgeStep();
    });
  });
  for (const std::string& device : s.options.devices)
    threads.emplace_back([&s, device] {
      s.Repeat(("job " + device).substr(0, 15).c_str(), [&s, device] { return s.pipeline.RunNextJob(device); });
    });
  if (s.hooks.ready) s.hooks.ready();
  base::Log(base::LogLevel::kInfo, "started", "the daemon is up",
            {{"devices", s.options.devices.size()}, {"repositories", s.pipeline.Repositories().size()}});
  s.Loop();

  // A running child gets its grace period; the rest of the work is in the store and continues after the next start.
  base::Log(base::LogLevel::kInfo, "draining", "not accepting new work", {{"running", s.pipeline.running()}});
  if (s.hooks.draining) s.hooks.draining();
  s.stop_detection = true;
  s.Notify();
  const auto deadline = s.clock.Steady() + s.options.grace;
  while (s.pipeline.running() > 0 && s.clock.Steady() < deadline && s.HandleSignals() && s.stop_signals < 2) {
    if (s.hooks.watchdog) s.hooks.watchdog();
    pollfd watched[] = {{s.signal.get(), POLLIN, 0}};
    (void)::poll(watched, 1, 100);
  }
  std::atomic<bool> joined{false};
  std::thread stopper([&] {
    while (!joined) {
      s.pipeline.StopJobs();  // one may just have been leased
      std::this_thread::sleep_for(20ms);
    }
  });
  for (std::thread& thread : threads) thread.join();
  joined = true;
  stopper.join();
  base::Log(base::LogLevel::kInfo, "stopped", "the daemon has stopped");
  return s.store.Checkpoint();
}

void Daemon::State::Watch() {
  std::vector<repo::WatchedRemote> remotes;
  for (const TrackedRepository& place : pipeline.Repositories()) remotes.push_back({place.name, place.remote.url});
  watcher.Set(remotes);
}

void Daemon::State::Loop() {
  ::prctl(PR_SET_NAME, "loop");
  while (!draining) RunLoopIteration();
}

void Daemon::State::RunLoopIteration() {
  const auto now = clock.Steady();
  heartbeat_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  if (hooks.watchdog) hooks.watchdog();
  RunMaintenance(now);
  pollfd watched[] = {{wake.get(), POLLIN, 0}, {signal.get(), POLLIN, 0}, {watcher.fd(), POLLIN, 0}};
  if (::poll(watched, 3, static_cast<int>(kMaxLoopWait.count())) < 0) return;  // EINTR
  if (watched[1].revents != 0) (void)HandleSignals();
  if (watched[0].revents != 0) {
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t ignored = ::read(wake.get(), &count, sizeof count);
    TriageDeliveries();
  }
  if (watched[2].revents != 0)
    for (const std::string& repository : watcher.Due()) EnqueuePoll(repository);
}

void Daemon::State::TriageDeliveries() {
  const auto moved = pipeline.TriageDeliveries();
  if (!moved) base::LogError("deliveries_failed", moved.error());
  if (moved)
    for (const std::string& repository : *moved) (void)watcher.Wake(repository);
  Notify();
}

bool Daemon::State::HandleSignals() {
  signalfd_siginfo info{};
  while (::read(signal.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_signo != SIGHUP) {
      draining = true;
      if (++stop_signals > 1) return false;
      continue;
    }
    if (draining || !hooks.reload) continue;
    const Status reloaded = hooks.reload();
    if (!reloaded) {
      base::LogError("reload_refused", reloaded.error());
      continue;
    }
    base::Log(base::LogLevel::kInfo, "reloaded", "a new configuration is in effect");
    Watch();
  }
  return true;
}

void Daemon::State::RunMaintenance(Steady now) {
  if (now >= next_reconcile) {
    next_reconcile = now + options.reconcile_every;
    reconcile = true;
    for (const TrackedRepository& place : pipeline.Repositories())
      (void)watcher.Wake(place.name);  // as if every wake-up had been missed
  }
  if (now >= next_checkpoint) {
    next_checkpoint = now + kCheckpointEvery;
    TriageDeliveries();  // deliveries from before the start, and failed ones
    EnqueuePollTask(quick, [this] { (void)store.Checkpoint(); });
  }
  // By the wall clock, as the ages that it is about; a clock that was set back must not put it off.
  if (const auto wall = clock.Now(); wall < last_retention || wall - last_retention >= kRetentionEvery) {
    last_retention = wall;
    EnqueuePollTask(quick, [this] {
      if (const Status done = store.ApplyRetention(); !done) base::LogError("retention_failed", done.error());
    });
  }
  if (hooks.status_line && now >= next_status) {
    next_status = now + kStatusEvery;
    hooks.status_line(fmt::format("{} running", pipeline.running()));
  }
  if (nights && now >= next_nights) {
    next_nights = now + kNightsEvery;
    Nights();
  }
}

// The last run that was due but not started; one run finds what several missed ones would have found.
void Daemon::State::Nights() {
  const auto now = clock.Now();
  for (const TrackedRepository& place : pipeline.Repositories()) {
    const auto last = store.NightStarted(place.name);
    if (!last) return;
    if (*last == 0) {
      (void)store.StartNight(place.name, ToMs(now), "", "");  // nightly runs are due from the first start on
      continue;
    }
    if (nights->Next(std::chrono::system_clock::time_point(std::chrono::milliseconds(*last))) > now) continue;
    if (const Status begun = pipeline.StartNight(ToMs(now)); !begun) base::LogError("night_failed", begun.error());
    Notify();
    return;
  }
}

}  // namespace warpwright::service
