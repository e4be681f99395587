// Who uses a GPU of this host, and how: files named after its UUID are locked for the duration of a call. Whoever times
// has the GPU alone; runs whose outputs alone count share it, so that one copies while another computes.
//
// `.lock` is the queue: it is held while waiting for seats, so that they are given in the order of asking, and no
// stream of shared calls keeps a timing waiting. `.seat0` to `.seat3` are the seats: a shared call locks one of them,
// one that is alone all, in their order. The kernel releases the locks of a process that dies.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace warpwright::gpu {

// Processes that use a GPU at the same time, at most: each slows the others' kernels.
inline constexpr int kLeaseSeats = 4;

class Lease {
 public:
  // Opens the lock files, in /run/lock or, if that is not writable, in /tmp: the same paths for all users of the host.
  static Result<Lease> Open(const std::string& uuid);

  enum class Use : uint8_t { kShared, kAlone };
  class Guard {
   public:
    explicit Guard(std::vector<int> seats) : seats_(std::move(seats)) {}
    Guard(Guard&& other) noexcept : seats_(std::exchange(other.seats_, {})) {}
    Guard& operator=(Guard&&) = delete;
    ~Guard();

   private:
    std::vector<int> seats_;
  };
  // Blocks until the GPU is free for this use; `on_wait` is called before waiting.
  Result<Guard> Take(Use use, const std::function<void()>& on_wait);

 private:
  Lease(base::Fd queue, std::vector<base::Fd> seats) : queue_(std::move(queue)), seats_(std::move(seats)) {}
  base::Fd queue_;
  std::vector<base::Fd> seats_;
};

}  // namespace warpwright::gpu
