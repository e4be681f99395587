// The threads other than the loop.
#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>

#include "base/log.h"
#include "config/remote_text.h"
#include "service/daemon_state.h"

namespace warpwright::service {

constexpr std::chrono::seconds kPatience{1};    // the maximum delay of something that became due by itself
constexpr std::chrono::seconds kAfterError{5};  // between two attempts of a step that failed internally

void Daemon::State::Notify() {
  {
    const std::lock_guard guard(mutex);
    ++wakeups;
  }
  work.notify_all();
}

void Daemon::State::Repeat(const char* name, const std::function<Result<bool>()>& step) {
  ::prctl(PR_SET_NAME, name);
  uint64_t seen = 0;
  while (!draining) {
    {
      const std::lock_guard guard(mutex);
      seen = wakeups;
    }
    const Result<bool> done = step();
    if (done && *done) {
      Notify();  // what one thread finishes is the next thread's work
      continue;
    }
    if (!done) base::LogError("step_failed", done.error(), {{"thread", name}});
    std::unique_lock lock(mutex);
    if (done) work.wait_for(lock, kPatience, [&] { return draining || wakeups != seen; });
    else work.wait_for(lock, kAfterError, [&] { return draining.load(); });
  }
}

void Daemon::State::EnqueuePollTask(std::deque<std::function<void()>>& queue, std::function<void()> chore) {
  {
    const std::lock_guard guard(mutex);
    queue.push_back(std::move(chore));
  }
  work.notify_all();
}

void Daemon::State::RunPollWorker(bool only_quick) {
  ::prctl(PR_SET_NAME, only_quick ? "look local" : "look");
  while (true) {
    std::function<void()> chore;
    {
      std::unique_lock lock(mutex);
      work.wait(lock, [&] { return draining || !quick.empty() || (!only_quick && !slow.empty()); });
      if (draining) return;
      auto& queue = only_quick || slow.empty() ? quick : slow;
      chore = std::move(queue.front());
      queue.pop_front();
    }
    chore();
  }
}

void Daemon::State::EnqueuePoll(const std::string& repository) {
  bool local = false;
  for (const TrackedRepository& place : pipeline.Repositories()) {
    if (place.name != repository) continue;
    const auto kind = config::CheckRemoteUrl(place.remote.url);
    local = kind && *kind == config::RemoteKind::kLocal;
  }
  EnqueuePollTask(local ? quick : slow, [this, repository] { PollRepository(repository); });
}

void Daemon::State::PollRepository(const std::string& repository) {
  const Result<bool> moved = pipeline.Poll(repository);
  watcher.Finished(repository, !moved   ? repo::PollResult::kFailed
                               : *moved ? repo::PollResult::kChanged
                                        : repo::PollResult::kNothing);
  if (moved && *moved) Notify();
}

}  // namespace warpwright::service
