// The life cycle of a job. Each arrow is one transaction of the store, written after the reported action has happened.
// A step that finds a job in a state checks whether the next action was already done, and does it or continues. So a
// job survives the death of the daemon at any moment.
//
//   queued ──▶ running ──▶ finished ──▶ pushed ──▶ proposed ──▶ reported ──▶ done
//     ▲          │  ▲          │ ▲         └───────────────────────▲
//     │          ▼  │          ▼ │                                 │ (nothing to propose)
//     └──────  failed       waiting (limits)      finished ────────┘
//   from most of them: superseded (the kernel changed again), cancelled (stopped by a user)
#pragma once

#include <string_view>

namespace warpwright::service {

enum class JobState {
  kQueued,    // waits for a device
  kRunning,   // a child process works on it; after a restart it is queued again and resumes from its trajectory
  kFinished,  // the child's result is stored, its commit is in the mirror; next: publish
  kWaiting,   // a limit of open or daily pull requests holds it back
  kPushed,    // the branch is on the remote
  kProposed,  // the pull request is open and describes the branch
  kReported,  // the check run exists
  kDone,
  kFailed,      // internal error; queued again later, or given up
  kSuperseded,  // the entry changed again
  kCancelled,   // stopped by a user
};
constexpr JobState Last(JobState) { return JobState::kCancelled; }
// As stored: "queued", "running", ...
std::string_view Name(JobState state);

bool MayFollow(JobState from, JobState to);
// done, superseded, cancelled: final.
bool IsFinal(JobState state);
// For display.
enum class JobPhase { kQueued, kRunning, kPublishing, kWaiting, kDone };
std::string_view Name(JobPhase phase);  // "queued"
JobPhase PhaseOf(JobState state);

// By the origin of a job; higher priorities go first.
enum class JobPriority { kNightly = 0, kPush = 1, kCommand = 2 };
// kCarry: a result is spliced into a later version of its file, in which the entry means the same.
enum class JobKind { kOptimize, kNightly, kCarry };
constexpr JobKind Last(JobKind) { return JobKind::kCarry; }
std::string_view Name(JobKind kind);  // "optimize", "nightly", "carry"

}  // namespace warpwright::service
