// What the store contains about changes and the resulting work, as values.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/task_outcome.h"
#include "service/job_state.h"

namespace warpwright::service {

using UnixMs = int64_t;  // milliseconds since 1970, UTC
inline UnixMs ToMs(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

// Something that may result in work and was not processed yet: a branch moved, or a user's request.
struct Event {
  int64_t id = 0;
  std::string repository;
  std::string ref;       // "refs/heads/main": the base of the resulting work
  std::string from, to;  // commits; no `from`: every entry counts as changed
  std::string kernel;    // only this one; empty: all
  JobPriority priority = JobPriority::kPush;
  bool again = false;                            // also what was done before
  int64_t answer_issue = 0, answer_comment = 0;  // the requesting comment on the forge; 0: none
  UnixMs created = 0;
  int attempts = 0;   // failed attempts to process it
  std::string error;  // of the last one
};

// An entry to work on, as detection found it.
struct NewJob {
  JobKind kind = JobKind::kOptimize;
  std::string kernel, file, entry;
  std::string key;        // content key (`warpwright plan`): the same key means the same work
  std::string file_hash;  // SHA-256 of the kernel's file in `commit`
};

// What was asked of language models.
struct ModelCost {
  double dollars = 0;              // of the answers whose cost is known
  int questions = 0, unknown = 0;  // unknown: answers whose cost is not known
  int gains = 0;                   // versions that were taken, by whomever they were written
};

struct JobResult {
  // improved, unchanged, refused, error; ignored; of a nightly run: checked, regression, error. None: not run yet.
  // An entry is `ignored` if it was skipped because users ignored it; the job only records why.
  std::optional<core::TaskOutcome> outcome;
  std::string message;
  std::string branch, branch_commit;  // in the mirror; empty: nothing to publish
  double gain = 0, gain_low = 0, gain_high = 0;
  bool modelled = true;
  int rounds = 0, evaluations = 0;
  double seconds = 0;
  int64_t trajectory_task = 0;
  ModelCost models;  // in all runs of the task so far
};

struct Job {
  int64_t id = 0;
  std::string repository, ref, commit;
  NewJob what;
  JobPriority priority = JobPriority::kPush;
  JobState state = JobState::kQueued;
  bool again = false;
  int attempts = 0;          // failed children
  int publish_attempts = 0;  // failed actions on remote or forge since the last success
  UnixMs not_before = 0;
  std::string device;  // lease; empty: none
  JobResult result;
  std::string note;                          // why it waits, why it was ignored, what failed last
  std::optional<core::TaskOutcome> outcome;  // once it ended: result.outcome, or superseded, cancelled, ignored
  int64_t pull_request = 0;
  std::string pull_request_url;
  int64_t answer_issue = 0, answer_comment = 0;
  UnixMs queued = 0, started = 0, finished = 0;
};

enum class PublicationState { kBranchOnly, kOpen, kMerged, kClosed };
std::string_view Name(PublicationState state);  // "open"; "" if there is only a branch
constexpr PublicationState Last(PublicationState) { return PublicationState::kClosed; }

// What is published on the forge for a kernel. One row for each repository and kernel.
struct PublicationRow {
  std::string repository, kernel, branch, commit, base_commit, file_hash;
  int64_t pull_request = 0;
  std::string url;
  PublicationState state = PublicationState::kBranchOnly;
  UnixMs opened = 0;
  int64_t job = 0;
};

// A pull request that was merged.
struct MergedProposal {
  std::string kernel, url, base_commit;
  double gain = 0, gain_low = 0, gain_high = 0;
  bool modelled = true;
  UnixMs merged = 0;
};

struct IgnoredKernel {
  std::string repository, kernel;
  std::string file_hash;  // applies while the kernel's file has this hash; empty: until someone requests it
  std::string reason;
  UnixMs since = 0;
};

struct StoredDelivery {
  std::string id, event, body;
  UnixMs received = 0;
  int attempts = 0;
};
// A user's command, by which a delivery that is sent again under another id is recognised.
struct HandledCommand {
  std::string repository;
  int64_t comment = 0;
  std::string verb;
  std::string commit;  // that it was about; empty: none
};
struct TriagedDelivery {
  std::string id;
  int64_t bytes = 0;    // of its body
  std::string outcome;  // empty: it needs queries to the forge, which another thread makes
};

}  // namespace warpwright::service
