// Threads that repeatedly run the same function together. Created once per device; a launch of a kernel uses them many
// times.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace warpwright::sim {

class WorkerPool {
 public:
  explicit WorkerPool(int threads);  // at least 1; the caller's thread is one of them
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int size() const { return static_cast<int>(threads_.size()) + 1; }
  // Calls function(0) to function(count - 1) simultaneously, count <= size(), and returns when all have returned. They
  // must not throw.
  void Run(int count, const std::function<void(int)>& function);

 private:
  void Loop(int index);

  std::mutex mutex_;
  std::condition_variable start_, done_;
  const std::function<void(int)>* function_ = nullptr;
  int count_ = 0, running_ = 0;
  uint64_t generation_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace warpwright::sim
