// Writing to a pipe without a reader must fail with EPIPE instead of raising a signal. This blocks SIGPIPE in the
// calling thread only and discards a SIGPIPE raised meanwhile, so that the rest of the program is unaffected.
#pragma once

#include <csignal>
#include <ctime>

namespace warpwright::base {

class PipeSignalBlocked {
 public:
  PipeSignalBlocked() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~PipeSignalBlocked() {
    const timespec now{};
    if (sigismember(&before_, SIGPIPE) == 0)
      while (::sigtimedwait(&pipe_, nullptr, &now) > 0) {
      }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  PipeSignalBlocked(const PipeSignalBlocked&) = delete;
  PipeSignalBlocked& operator=(const PipeSignalBlocked&) = delete;

 private:
  sigset_t pipe_, before_;
};

}  // namespace warpwright::base
