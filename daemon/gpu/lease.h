// A GPU is used by one process on a host at a time: a file named after its UUID is locked for the duration of a call.
// The kernel releases the lock of a process that dies.
#pragma once

#include <functional>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace warpwright::gpu {

class Lease {
 public:
  // Opens the lock file, in /run/lock or, if that is not writable, in /tmp: one path for all users of the host.
  static Result<Lease> Open(const std::string& uuid);

  class Guard {
   public:
    explicit Guard(int fd) : fd_(fd) {}
    Guard(Guard&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Guard& operator=(Guard&&) = delete;
    ~Guard();

   private:
    int fd_;
  };
  // Blocks until no other process has it; `on_wait` is called before waiting.
  Result<Guard> Take(const std::function<void()>& on_wait);

 private:
  explicit Lease(base::Fd file) : file_(std::move(file)) {}
  base::Fd file_;
};

}  // namespace warpwright::gpu
