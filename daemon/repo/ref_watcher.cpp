#include "repo/ref_watcher.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "base/fd.h"
#include "repo/ref_file_monitor.h"
#include "repo/remote_url.h"

namespace warpwright::repo {

struct RefWatcher::State {
  State(PollSchedule::Options options, const base::Clock& the_clock, RefFileMonitor the_files)
      : clock(the_clock), schedule(options), files(std::move(the_files)) {}

  const base::Clock& clock;
  mutable std::mutex mutex;
  PollSchedule schedule;
  RefFileMonitor files;
  std::map<std::string, std::filesystem::path> local;  // by name
  base::Fd epoll, wake, timer;

  bool Add(int fd) const {
    epoll_event event{};
    event.events = EPOLLIN;
    return ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) == 0;
  }
  // Sets the timer to the next due time. A time in the past makes it fire immediately.
  void Arm() {
    itimerspec when{};
    if (const auto next = schedule.NextDue()) {
      const auto wait = std::max(std::chrono::nanoseconds(1), std::chrono::nanoseconds(*next - clock.Steady()));
      when.it_value.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(wait).count();
      when.it_value.tv_nsec = (wait % std::chrono::seconds(1)).count();
    }
    ::timerfd_settime(timer.get(), 0, &when, nullptr);
  }
  void WatchFiles() {
    for (const auto& [name, path] : local) files.Watch(name, path);
  }
  void Drain(const base::Fd& fd) const {
    uint64_t count = 0;
    while (::read(fd.get(), &count, sizeof count) > 0) {
    }
  }
};

RefWatcher::RefWatcher() = default;
RefWatcher::~RefWatcher() = default;

Result<std::unique_ptr<RefWatcher>> RefWatcher::Create(PollSchedule::Options options, const base::Clock& clock) {
  WW_ASSIGN(RefFileMonitor files, RefFileMonitor::Create());
  std::unique_ptr<RefWatcher> watcher(new RefWatcher);
  watcher->state_ = std::make_unique<State>(options, clock, std::move(files));
  State& state = *watcher->state_;
  state.epoll = base::Fd(::epoll_create1(EPOLL_CLOEXEC));
  state.wake = base::Fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  state.timer = base::Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  if (!state.epoll.valid() || !state.wake.valid() || !state.timer.valid())
    return FailErrno("make the watcher's descriptors");
  if (!state.Add(state.wake.get()) || !state.Add(state.timer.get()) || !state.Add(state.files.fd()))
    return FailErrno("epoll_ctl");
  return watcher;
}

void RefWatcher::Set(const std::vector<WatchedRemote>& remotes) {
  const std::lock_guard lock(state_->mutex);
  std::set<std::string> names;
  std::map<std::string, std::filesystem::path> local;
  for (const auto& remote : remotes) {
    names.insert(remote.name);
    if (auto path = LocalPath(remote.url); !path.empty()) local[remote.name] = std::move(path);
  }
  for (const auto& [name, path] : state_->local)
    if (const auto still = local.find(name); still == local.end() || still->second != path) state_->files.Forget(name);
  state_->local = std::move(local);
  state_->WatchFiles();
  state_->schedule.Set(names, state_->clock.Steady());
  state_->Arm();
}

bool RefWatcher::Wake(const std::string& name) {
  const std::lock_guard lock(state_->mutex);
  const bool known = state_->schedule.Wake(name, state_->clock.Steady());
  const uint64_t one = 1;
  if (known) (void)!::write(state_->wake.get(), &one, sizeof one);
  return known;
}

int RefWatcher::fd() const { return state_->epoll.get(); }

std::vector<std::string> RefWatcher::Due() {
  const std::lock_guard lock(state_->mutex);
  state_->Drain(state_->wake);
  state_->Drain(state_->timer);
  const auto now = state_->clock.Steady();
  const RefFileMonitor::Changes noticed = state_->files.Read();
  if (noticed.overflow) state_->schedule.WakeAll(now);
  for (const auto& name : noticed.names) state_->schedule.Wake(name, now);
  auto due = state_->schedule.Due(now);
  // Before they are polled, so that nothing that moves from now on is missed.
  for (const auto& name : due)
    if (const auto path = state_->local.find(name); path != state_->local.end())
      state_->files.Watch(name, path->second);
  state_->Arm();
  return due;
}

void RefWatcher::Finished(const std::string& name, PollResult outcome) {
  const std::lock_guard lock(state_->mutex);
  state_->schedule.Finished(name, outcome, state_->clock.Steady());
  state_->Arm();
}

bool RefWatcher::Notices(const std::string& name) const {
  const std::lock_guard lock(state_->mutex);
  return state_->files.Watches(name);
}

}  // namespace warpwright::repo
