// Versions that will be judged soon are built while the one before them runs: other processes record their launchers
// and compile their kernels into the caches that all processes share. A GPU then waits for no compiler, but for that of
// the first. Private to judge/.
//
// Threads: one for each process, which takes the next version that nobody has begun. The owner alone calls Expect and
// Await; it starts the processes, since a worker does not outlive the thread that started it.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/evaluator.h"

namespace warpwright::judge {

class Ahead {
 public:
  // `another`: where the processes come from; empty: nothing is built ahead.
  explicit Ahead(core::ProcessSource another) : another_(std::move(another)) {}
  // What is under way is abandoned.
  ~Ahead();
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

  // `calls`: of versions in the order in which they will be judged, with `build_only`. Those of an earlier call that
  // nobody has begun are forgotten. The first is left out: its own evaluation begins at once.
  void Expect(std::vector<core::ExecuteRequest> calls);
  // The next of all, and not forgotten. Nobody waits for it: who needs it and finds nothing builds it.
  void Begin(core::ExecuteRequest call);
  // Before the version with this text is judged: returns when nobody is building it any more.
  void Await(const std::string& text);

 private:
  void StartProcesses();
  void Work(core::Evaluator& evaluator, const std::stop_token& stop);

  core::ProcessSource another_;
  std::mutex mutex_;  // of the next three
  std::condition_variable_any changed_;
  std::deque<core::ExecuteRequest> waiting_;
  std::multiset<std::string> under_way_;  // texts
  std::vector<core::OtherProcess> processes_;
  std::vector<std::jthread> threads_;  // the last member: its destructor waits for them
};

}  // namespace warpwright::judge
