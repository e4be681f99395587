// SIGTERM and SIGINT during a run whose result others wait for: what is known by then is told, and the process ends.
#pragma once

#include <signal.h>

#include <functional>
#include <thread>

namespace warpwright::cli {

class Interruption {
 public:
  // From now on, in another thread: the first of these signals calls `tell` with its number, and ends the process with
  // 128 + that number. Create it before all other threads, which inherit that the signals wait for it; children do not.
  explicit Interruption(std::function<void(int signal)> tell);
  ~Interruption();  // the signals act as before
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

 private:
  sigset_t before_;
  std::thread waiter_;
};

}  // namespace warpwright::cli
