#include "service/job_state.h"

#include <cstdint>

namespace warpwright::service {
namespace {

using enum JobState;

constexpr uint32_t Bit(JobState state) { return 1u << static_cast<unsigned>(state); }
template <typename... States>
constexpr uint32_t Set(States... states) {
  return (0u | ... | Bit(states));
}

constexpr uint32_t Followers(JobState state) {
  switch (state) {
    case kQueued: return Set(kRunning, kSuperseded, kCancelled);
    case kRunning:
      return Set(kFinished, kFailed, kQueued, kCancelled);  // queued: the daemon ended before the child did
    case kFinished: return Set(kPushed, kWaiting, kReported, kSuperseded, kCancelled);
    case kWaiting: return Set(kFinished, kSuperseded, kCancelled);
    case kPushed: return Set(kProposed, kReported, kWaiting);  // waiting: others reached the limit meanwhile
    case kProposed: return Set(kReported);
    case kReported: return Set(kDone);
    case kFailed:
      return Set(kQueued, kFinished, kSuperseded, kCancelled);  // finished: given up, and this is the result
    case kDone:
    case kSuperseded:
    case kCancelled: return 0;
  }
  return 0;
}

}  // namespace

std::string_view Name(JobState state) {
  switch (state) {
    case kQueued: return "queued";
    case kRunning: return "running";
    case kFinished: return "finished";
    case kWaiting: return "waiting";
    case kPushed: return "pushed";
    case kProposed: return "proposed";
    case kReported: return "reported";
    case kDone: return "done";
    case kFailed: return "failed";
    case kSuperseded: return "superseded";
    case kCancelled: return "cancelled";
  }
  return "";
}

bool MayFollow(JobState from, JobState to) { return (Followers(from) & Bit(to)) != 0; }
bool IsFinal(JobState state) { return Followers(state) == 0; }

JobPhase PhaseOf(JobState state) {
  switch (state) {
    case kQueued:
    case kFailed: return JobPhase::kQueued;  // it will be retried; a job that was given up is published and done
    case kRunning: return JobPhase::kRunning;
    case kWaiting: return JobPhase::kWaiting;
    case kFinished:
    case kPushed:
    case kProposed:
    case kReported: return JobPhase::kPublishing;
    case kDone:
    case kSuperseded:
    case kCancelled: return JobPhase::kDone;
  }
  return JobPhase::kDone;
}

std::string_view Name(JobPhase phase) {
  switch (phase) {
    case JobPhase::kQueued: return "queued";
    case JobPhase::kRunning: return "running";
    case JobPhase::kPublishing: return "publishing";
    case JobPhase::kWaiting: return "waiting";
    case JobPhase::kDone: return "done";
  }
  return "";
}

std::string_view Name(JobKind kind) {
  switch (kind) {
    case JobKind::kOptimize: return "optimize";
    case JobKind::kNightly: return "nightly";
    case JobKind::kCarry: return "carry";
  }
  return "";
}

}  // namespace warpwright::service
