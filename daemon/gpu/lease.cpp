#include "gpu/lease.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

namespace warpwright::gpu {

Result<Lease> Lease::Open(const std::string& uuid) {
  for (const char* folder : {"/run/lock", "/tmp"}) {
    const std::string path = std::string(folder) + "/warpwright-gpu-" + uuid + ".lock";
    base::Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!file.valid()) file = base::Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));  // another user's
    if (!file.valid()) continue;
    (void)::fchmod(file.get(), 0666);
    return Lease(std::move(file));
  }
  return FailErrno("open the lock file of GPU " + uuid + " in /run/lock or /tmp");
}

Result<Lease::Guard> Lease::Take(const std::function<void()>& on_wait) {
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) == 0) return Guard(file_.get());
  if (errno != EWOULDBLOCK) return FailErrno("lock the GPU");
  if (on_wait) on_wait();
  while (::flock(file_.get(), LOCK_EX) != 0)
    if (errno != EINTR) return FailErrno("lock the GPU");
  return Guard(file_.get());
}

Lease::Guard::~Guard() {
  if (fd_ >= 0) (void)::flock(fd_, LOCK_UN);
}

}  // namespace warpwright::gpu
