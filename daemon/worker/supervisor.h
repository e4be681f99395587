// Keeps one worker process: starts it when it is needed, gives each call a deadline, kills it on the first missed deadline, broken frame or
// death, and starts a new one for the next call. One call at a time.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/subprocess.h"
#include "worker/frame.h"

namespace warpwright {

struct WorkerCommand {
  std::vector<std::string> argv;     // {"warpwright-worker", "--cache", "..."}, or with a prefix such as {"ssh", "gpu7", ...}
  std::filesystem::path log;         // its stderr is appended here; empty: ours
};

class Supervisor {
 public:
  explicit Supervisor(WorkerCommand command) : command_(std::move(command)) {}

  // kTimeout, kWorkerDied and kCorrupt mean that the worker is gone; the next call starts another.
  Result<Frame> Call(const Frame& frame, std::chrono::milliseconds deadline);
  void Stop() { child_.reset(); }
  int starts() const { return starts_; }
  std::optional<pid_t> pid() const { return child_ ? std::optional(child_->pid()) : std::nullopt; }

 private:
  WorkerCommand command_;
  std::optional<Child> child_;
  int starts_ = 0;
};

}  // namespace warpwright
