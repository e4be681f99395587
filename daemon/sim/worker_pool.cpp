#include "sim/worker_pool.h"

#include <system_error>

namespace warpwright::sim {

WorkerPool::WorkerPool(int threads) {
  try {
    for (int index = 1; index < threads; ++index) threads_.emplace_back([this, index] { Loop(index); });
  } catch (const std::system_error&) {
    return;  // a sandbox may allow fewer, or none: results do not depend on it
  }
}

WorkerPool::~WorkerPool() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::Run(int count, const std::function<void(int)>& function) {
  if (count > 1) {
    std::lock_guard lock(mutex_);
    function_ = &function;
    count_ = count;
    running_ = count - 1;
    ++generation_;
  }
  if (count > 1) start_.notify_all();
  function(0);
  if (count <= 1) return;
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return running_ == 0; });
}

void WorkerPool::Loop(int index) {
  uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    start_.wait(lock, [&] { return stop_ || generation_ != seen; });
    if (stop_) return;
    seen = generation_;
    if (index >= count_) continue;
    const auto* function = function_;
    lock.unlock();
    (*function)(index);
    lock.lock();
    if (--running_ == 0) done_.notify_one();
  }
}

}  // namespace warpwright::sim
