// A fixed number of threads that run the queued tasks in order.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace warpwright::http {

class HandlerThreads {
 public:
  explicit HandlerThreads(int count);
  ~HandlerThreads();  // runs what is queued first
  void Do(std::function<void()> work);

 private:
  void Loop();
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::function<void()>> work_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace warpwright::http
