// What the daemon is doing, as values: the status page, /metrics and the dashboard issue are rendered from one of
// these. Taken under the store's lock by the daemon (service/store.h), and then only read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "service/job.h"

namespace warpwright::service {

struct JobSnapshot {
  int64_t id = 0;
  std::string repository, kernel;
  JobKind kind = JobKind::kOptimize;
  JobPhase phase = JobPhase::kQueued;
  std::optional<core::TaskOutcome> outcome;
  std::string message;  // why
  std::string device, commit, branch, pull_request_url;
  std::string queued, started, finished;         // UTC; empty: not yet
  double gain = 0, gain_low = 0, gain_high = 0;  // 0: none
  bool modelled = true;
  int rounds = 0, evaluations = 0, attempts = 0;
  double seconds = 0;
  std::string progress;  // the last line of a running job
  int64_t trajectory_task = 0;
};
struct RepositorySnapshot {
  std::string name, url;
  std::map<std::string, std::string> tips;  // branch -> commit
  std::string last_seen, last_error;        // UTC; why the last poll failed
  int open_pull_requests = 0, opened_today = 0, max_open = 0, max_per_day = 0;
  std::vector<std::string> ignored;     // kernels that users told warpwright to ignore
  std::map<std::string, double> spend;  // of its jobs; as the daemon's
};
// Gauges and counters that are not rows. Names as in /metrics without the prefix warpwright_.
struct DaemonSnapshot {
  std::string version, started, now;
  bool ready = false;
  std::vector<std::string> not_ready;  // reasons
  std::vector<JobSnapshot> jobs;       // queued and running ones, and the last 200 that ended; newest first
  std::vector<RepositorySnapshot> repositories;
  std::map<std::string, std::map<std::string, double>>
      counters;                          // "jobs_total" -> {outcome: count}, "deliveries_total" -> {accepted: n, ...}
  std::map<std::string, double> gauges;  // "queue_depth", "resident_bytes", "last_success_timestamp_seconds"
  // gpu_minutes, model_dollars (of the answers whose cost is known), model_questions, model_unknown_costs (of the other
  // answers), model_gains; each with _today and _total.
  std::map<std::string, double> spend;
  int64_t experiences = 0;  // lines of measured experience
};

}  // namespace warpwright::service
