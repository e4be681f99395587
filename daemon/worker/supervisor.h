// Manages one worker process: starts it when it is needed, gives each call a deadline, kills it on the first missed
// deadline, malformed frame or death, and starts a new one for the next call. One call at a time; a call from another
// thread waits.
//
// The worker dies with the thread that started it: call from a thread that lives as long as the Supervisor.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/subprocess.h"
#include "worker/frame.h"
#include "worker/shared_area.h"

namespace warpwright::worker {

struct WorkerCommand {
  std::vector<std::string>
      argv;                   // {"warpwright-worker", "--cache", "..."}, or with a prefix such as {"ssh", "gpu7", ...}
  std::filesystem::path log;  // its stderr is appended here; empty: ours
};

// What a worker gets of our environment: where to find compilers and the driver, and no secret.
std::map<std::string, std::string> WorkerEnvironment();

struct CallLimits {
  std::chrono::milliseconds total{60'000};
  std::map<std::string, std::chrono::milliseconds> stages;  // from the moment at which the worker enters the stage
  std::chrono::milliseconds start{60'000};  // of a worker: through ssh or a batch system it may take a while
};

class Supervisor {
 public:
  explicit Supervisor(WorkerCommand command) : command_(std::move(command)) {}

  // kEnvironment: the worker did not start. kTimeout, kWorkerDied and kCorrupt: the worker has ended, and the next call
  // starts another.
  Result<Frame> Call(const FrameView& frame, const CallLimits& limits);
  void Stop();
  // Starts the worker if none runs, so that it belongs to this thread.
  Status Begin(std::chrono::milliseconds limit);
  // From any thread, also while another one waits in a call: the worker is killed, and every call fails from now on.
  void Abandon();
  // Ends the worker by closing its input, and waits for it: for tools that write something when it exits. Kills it
  // after a minute.
  void Finish();

  // The last stage that the worker announced in the last call; empty if there was none.
  const std::string& stage() const { return stage_; }
  // What the running worker reported when it was ready: "warpwright-worker 1.0", then what its sandbox lacks, one item
  // per line.
  const std::string& hello() const { return hello_; }
  int starts() const { return starts_; }
  std::optional<pid_t> pid() const { return child_ ? std::optional(child_->pid()) : std::nullopt; }
  bool abandoned() const { return abandoned_; }

 private:
  Status Start(std::chrono::milliseconds limit);
  void Replace(std::optional<base::Child> child);
  std::optional<base::ChildEnd> EndOfChild();
  void ShareMemory(base::Command& command);
  Result<Frame> Exchange(const FrameView& frame, const CallLimits& limits);
  Error DescribeLoss(Error error);

  WorkerCommand command_;
  std::optional<base::Child> child_;
  std::optional<SharedArea> to_worker_,
      from_worker_;  // none if the worker did not take them, like one reached through ssh
  std::string stage_, hello_;
  int starts_ = 0;
  std::mutex mutex_;
  std::mutex killing_;  // held while `child_` changes, or is killed
  std::atomic<bool> abandoned_ = false;
};

}  // namespace warpwright::worker
