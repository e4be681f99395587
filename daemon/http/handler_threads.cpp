#include "http/handler_threads.h"

#include <utility>

namespace warpwright::http {

HandlerThreads::HandlerThreads(int count) {
  for (int i = 0; i < count; ++i) threads_.emplace_back([this] { Loop(); });
}

HandlerThreads::~HandlerThreads() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ready_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void HandlerThreads::Do(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
  }
  ready_.notify_one();
}

void HandlerThreads::Loop() {
  while (true) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [this] { return !work_.empty() || ending_; });
      if (work_.empty()) return;
      work = std::move(work_.front());
      work_.pop_front();
    }
    work();
  }
}

}  // namespace warpwright::http
