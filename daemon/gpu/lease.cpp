#include "gpu/lease.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace warpwright::gpu {
namespace {

base::Fd OpenLock(const std::string& path) {
  base::Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!file.valid()) file = base::Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));  // another user's
  if (file.valid()) (void)::fchmod(file.get(), 0666);
  return file;
}

// Whether it was free.
Result<bool> TryLock(int file) {
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) return true;
  if (errno != EWOULDBLOCK) return FailErrno("lock the GPU");
  return false;
}

// Calls `on_wait` before the first of several waits.
Status Lock(int file, std::function<void()>& on_wait) {
  WW_ASSIGN(const bool free, TryLock(file));
  if (free) return {};
  if (on_wait) std::exchange(on_wait, nullptr)();
  while (::flock(file, LOCK_EX) != 0)
    if (errno != EINTR) return FailErrno("lock the GPU");
  return {};
}

}  // namespace

Result<Lease> Lease::Open(const std::string& uuid) {
  for (const char* folder : {"/run/lock", "/tmp"}) {
    const std::string path = fmt::format("{}/warpwright-gpu-{}", folder, uuid);
    base::Fd queue = OpenLock(path + ".lock");
    std::vector<base::Fd> seats;
    for (int i = 0; i < kLeaseSeats && queue.valid(); ++i)
      if (base::Fd seat = OpenLock(fmt::format("{}.seat{}", path, i)); seat.valid()) seats.push_back(std::move(seat));
    if (seats.size() == kLeaseSeats) return Lease(std::move(queue), std::move(seats));
  }
  return FailErrno("open the lock files of GPU " + uuid + " in /run/lock or /tmp");
}

Result<Lease::Guard> Lease::Take(Use use, const std::function<void()>& on_wait) {
  std::function<void()> told = on_wait;
  WW_TRY(Lock(queue_.get(), told));
  const Guard leaves_queue({queue_.get()});
  if (use == Use::kShared) {
    for (const base::Fd& seat : seats_) {
      WW_ASSIGN(const bool free, TryLock(seat.get()));
      if (free) return Guard({seat.get()});
    }
    // Any of them: which one is free first cannot be waited for.
    const base::Fd& seat = seats_[static_cast<size_t>(::getpid()) % seats_.size()];
    WW_TRY(Lock(seat.get(), told));
    return Guard({seat.get()});
  }
  std::vector<int> taken;
  for (const base::Fd& seat : seats_) {
    if (const Status locked = Lock(seat.get(), told); !locked) {
      const Guard gives_back(std::move(taken));
      return Fail(locked.error());
    }
    taken.push_back(seat.get());
  }
  return Guard(std::move(taken));
}

Lease::Guard::~Guard() {
  for (const int seat : seats_) (void)::flock(seat, LOCK_UN);
}

}  // namespace warpwright::gpu
