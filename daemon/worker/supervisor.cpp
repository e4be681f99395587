#include "worker/supervisor.h"

#include <cstdlib>

namespace warpwright {

Result<Frame> Supervisor::Call(const Frame& frame, std::chrono::milliseconds deadline) {
  const auto until = std::chrono::steady_clock::now() + deadline;
  if (!child_) {
    Command command;
    command.argv = command_.argv;
    command.env = MinimalEnvironment();
    for (const char* name : {"CUDA_HOME", "WARPWRIGHT_CXX"})
      if (const char* value = std::getenv(name); value != nullptr) command.env[name] = value;
    WW_ASSIGN(child_, Child::Start(command, command_.log));
    ++starts_;
  }
  auto answer = [&]() -> Result<Frame> {
    WW_TRY(WriteFrame(child_->to_child(), frame, until));
    return ReadFrame(child_->from_child(), until);
  }();
  if (answer) return answer;
  Error error = answer.error();
  if (error.code == ErrorCode::kWorkerDied) {
    // The pipe closes a moment before the process can be reaped.
    std::string end = child_->DescribeEnd();
    for (int i = 0; i < 100 && end == "running"; ++i) {
      struct timespec pause {0, 5'000'000};
      nanosleep(&pause, nullptr);
      end = child_->DescribeEnd();
    }
    error.message = command_.argv[0] + " ended (" + end + ")";
    error.remedy = command_.log.empty() ? "" : "see " + command_.log.string();
  }
  child_.reset();
  return Fail(error);
}

}  // namespace warpwright
