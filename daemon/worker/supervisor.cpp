#include "worker/supervisor.h"

#include <fcntl.h>

#include <csignal>
#include <cstdlib>
#include <thread>

namespace warpwright::worker {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kEndLimit = std::chrono::seconds(60);
constexpr size_t kMaxStages = 1000;  // of one call: a worker that announces endlessly is broken

// So that a deadline holds even when the worker reads half a frame and stops.
void MakeNonBlocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

void EnlargePipe(int fd) { ::fcntl(fd, F_SETPIPE_SZ, 1 << 20); }  // fewer round trips for large buffers; not required

}  // namespace

std::map<std::string, std::string> WorkerEnvironment() {
  std::map<std::string, std::string> env = base::MinimalEnvironment();
  for (const char* name : {"CUDA_HOME", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "WARPWRIGHT_CXX"})
    if (const char* value = std::getenv(name); value != nullptr) env[name] = value;
  return env;
}

// A fresh pair for each worker: what a killed one left there must not be seen by the next.
void Supervisor::ShareMemory(base::Command& command) {
  to_worker_.reset();
  from_worker_.reset();
  auto to = SharedArea::Create(SharedArea::Use::kWrite), from = SharedArea::Create(SharedArea::Use::kReadCopies);
  if (!to || !from) return;
  command.descriptors = {to->descriptor(), from->descriptor()};
  command.env[kAreasVariable] = std::to_string(to->descriptor()) + " " + std::to_string(from->descriptor());
  to_worker_ = std::move(*to);
  from_worker_ = std::move(*from);
}

Status Supervisor::Start(std::chrono::milliseconds limit) {
  base::Command command;
  command.argv = command_.argv;
  command.env = WorkerEnvironment();
  ShareMemory(command);
  WW_ASSIGN(base::Child started, base::Child::Start(command, command_.log));
  Replace(std::move(started));
  ++starts_;
  for (const int fd : {child_->to_child(), child_->from_child()}) {
    MakeNonBlocking(fd);
    EnlargePipe(fd);
  }
  auto hello = ReadFrame(child_->from_child(), Clock::now() + limit);
  if (hello && hello->kind != FrameKind::kHello)
    hello = Fail(ErrorCode::kCorrupt, "malformed frame: it does not say hello");
  if (hello) {
    hello_ = hello->header;
    if (!hello_.starts_with(kSharesMemory)) {
      to_worker_.reset();
      from_worker_.reset();
    } else {
      hello_.erase(0, kSharesMemory.size());
    }
    return {};
  }
  Error error = DescribeLoss(hello.error());
  error.code = ErrorCode::kEnvironment;
  error.message = "the worker failed to start: " + error.message;
  if (error.remedy.empty()) error.remedy = "run it directly to see its output: " + command_.argv.front() + " --version";
  return Fail(std::move(error));
}

Result<Frame> Supervisor::Exchange(const FrameView& frame, const CallLimits& limits) {
  const auto end = Clock::now() + limits.total;
  auto until = end;
  WW_TRY(WriteFrame(child_->to_child(), frame, until, to_worker_ ? &*to_worker_ : nullptr));
  for (size_t stages = 0; stages < kMaxStages; ++stages) {
    WW_ASSIGN(Frame answer, ReadFrame(child_->from_child(), until, from_worker_ ? &*from_worker_ : nullptr));
    if (answer.kind == FrameKind::kMessage) {
      for (auto* area : {&to_worker_, &from_worker_})
        if (*area) (*area)->Trim();
      return answer;
    }
    if (answer.kind != FrameKind::kStage) break;
    stage_ = answer.header.substr(0, 80);
    const auto limit = limits.stages.find(stage_);
    until = limit == limits.stages.end() ? end : std::min(end, Clock::now() + limit->second);
  }
  return Fail(ErrorCode::kCorrupt,
              "malformed frame: the worker reports stages without end, or something that is no reply");
}

// Kills what is left of the worker and describes how it ended.
Error Supervisor::DescribeLoss(Error error) {
  auto end = EndOfChild();
  // The pipe closes a moment before the process can be reaped.
  for (int i = 0; i < 100 && error.code == ErrorCode::kWorkerDied && !end; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    end = EndOfChild();
  }
  if (error.code == ErrorCode::kWorkerDied)
    error.message = command_.argv.front() + (end ? " ended (" + end->Describe() + ")" : " closed its pipe");
  if (!stage_.empty()) error.message += " during the stage '" + stage_ + "'";
  if (!command_.log.empty()) error.remedy = "see " + command_.log.string();
  Replace(std::nullopt);
  return error;
}

Result<Frame> Supervisor::Call(const FrameView& frame, const CallLimits& limits) {
  const std::lock_guard lock(mutex_);
  stage_.clear();
  if (abandoned_) return Fail(ErrorCode::kWorkerDied, "its worker was abandoned");
  if (!child_) WW_TRY(Start(limits.start));
  auto answer = Exchange(frame, limits);
  if (answer || answer.error().code == ErrorCode::kUnsupported) return answer;  // too large to send: nothing was sent
  return Fail(DescribeLoss(std::move(answer).error()));
}

void Supervisor::Finish() {
  const std::lock_guard lock(mutex_);
  if (!child_) return;
  child_->CloseInput();
  const auto until = Clock::now() + kEndLimit;
  while (!EndOfChild() && Clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  Replace(std::nullopt);
}

void Supervisor::Stop() {
  const std::lock_guard lock(mutex_);
  Replace(std::nullopt);
}

Status Supervisor::Begin(std::chrono::milliseconds limit) {
  const std::lock_guard lock(mutex_);
  return child_ ? Status() : Start(limit);
}

void Supervisor::Abandon() {
  abandoned_ = true;
  const std::lock_guard lock(killing_);
  if (child_ && !child_->End()) ::kill(child_->pid(), SIGKILL);
}

void Supervisor::Replace(std::optional<base::Child> child) {
  const std::lock_guard lock(killing_);
  child_ = std::move(child);
}

std::optional<base::ChildEnd> Supervisor::EndOfChild() {
  const std::lock_guard lock(killing_);
  return child_->End();
}

}  // namespace warpwright::worker
