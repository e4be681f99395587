#include "cli/interruption.h"

#include <pthread.h>
#include <unistd.h>

#include <utility>

namespace warpwright::cli {
namespace {

constexpr int kDone = SIGUSR1;  // to the waiting thread alone

sigset_t Awaited() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, kDone}) ::sigaddset(&set, signal);
  return set;
}

}  // namespace

Interruption::Interruption(std::function<void(int)> tell) {
  const sigset_t awaited = Awaited();
  ::pthread_sigmask(SIG_BLOCK, &awaited, &before_);
  waiter_ = std::thread([awaited, tell = std::move(tell)] {
    int signal = 0;
    while (::sigwait(&awaited, &signal) != 0) {
    }
    if (signal == kDone) return;
    tell(signal);
    ::_exit(128 + signal);  // workers end with the process; the trajectory holds every finished step
  });
}

Interruption::~Interruption() {
  ::pthread_kill(waiter_.native_handle(), kDone);
  waiter_.join();
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace warpwright::cli
