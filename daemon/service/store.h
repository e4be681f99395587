// The daemon's persistent state, in STATE/daemon.sqlite: branch tips, unprocessed events, jobs, what is published on
// the forge, deliveries, counters. Thread-safe: one mutex, one connection; every public function is one transaction and
// is short.
//
// One daemon uses a state folder (flock on STATE/daemon.lock). WAL with synchronous=NORMAL: what was written survives
// the death of the process at any moment; a power failure may lose the last moments, which reconciliation then
// recovers.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "service/job.h"
#include "service/snapshot.h"

namespace warpwright::service {

struct StoreLimits {
  int queue = 1000;                 // waiting jobs; what does not fit remains an event
  int waiting_deliveries = 20'000;  // beyond it, RememberDelivery fails and the sender must retry
  int64_t waiting_delivery_bytes = 512 << 20;
  int remembered_deliveries = 500'000;
  int kept_jobs = 5'000;  // ended ones
};

// What is written together with a change of state.
struct JobChange {
  std::optional<JobResult> result;
  std::optional<std::string> note;
  std::optional<core::TaskOutcome> outcome;
  std::optional<UnixMs> not_before;
  std::optional<PublicationRow> publication;
  std::optional<IgnoredKernel> ignored;
  bool failed_attempt = false;
};

// The outcome for the entries of an event.
struct Detected {
  int queued = 0, repeated = 0, superseded = 0, ignored = 0;
  bool all = true;  // false: the queue is full, the event remains
};

class Store {
 public:
  // kEnvironment if another daemon holds the folder (it is named by its pid); kUnsupported if a newer version wrote the
  // database. Before a migration the file is copied to daemon.sqlite.schema-N. Jobs that were running are queued again.
  // `clock` must outlive it.
  static Result<std::unique_ptr<Store>> Open(const std::filesystem::path& state, const base::Clock& clock,
                                             StoreLimits limits = {});
  ~Store();
  void SetLimits(const StoreLimits& limits);

  // --- Repositories and their branches (store_events.cpp)
  Status Watch(const std::string& repository, const std::string& url);
  Status Forget(
      const std::string& repository);  // no longer configured: its waiting work is cancelled, its history is kept
  // `tips`: of the watched branches, by full ref. A difference from the known tips becomes an event, in the transaction
  // that stores the new tips; several unprocessed moves of a branch are one event. A branch that is seen for the first
  // time creates none. Returns how many.
  Result<int> RecordTips(const std::string& repository, const std::map<std::string, std::string>& tips);
  Status RecordPollFailure(const std::string& repository, const std::string& error);
  Result<std::map<std::string, std::string>> Tips(const std::string& repository);

  // --- Events
  Status AddEvent(const Event& event);  // repeated requests are one event
  // The next one that is due, while there is room for jobs; by priority, then age.
  Result<std::optional<Event>> NextEvent();
  // Replaces the event by jobs, in one transaction. `event` as returned by NextEvent: if its branch moved meanwhile,
  // the remaining range stays an event.
  Result<Detected> FinishEvent(const Event& event, const std::vector<NewJob>& jobs);
  // A job of kind kCarry onto `event`'s commit for the result of the job `published`. False: work on the kernel is
  // unfinished, the same was done, a later version of the kernel itself was judged, or a commit on that ref waits for
  // its detection.
  Result<bool> QueueCarry(const Event& event, const NewJob& job, int64_t published);
  // Retried later, at most `tries` attempts in total; then it is dropped and counted.
  Status EventFailed(int64_t event, const std::string& error, int tries);

  // --- Jobs (store_jobs.cpp). Every change of state goes through Advance, which refuses illegal ones (kUnsupported).
  Result<Job> FindJob(int64_t id);
  // The next queued job becomes running on `device`: by priority, then the least recently served repository, then age.
  // One job at a time for a device, and for an entry.
  Result<std::optional<Job>> Lease(const std::string& device);
  Result<Job> Advance(int64_t job, JobState to, const JobChange& change = {});
  Status ClearRerunFlag(int64_t job);  // the child has started over; from now on it resumes
  // For a running or publishing job: an action failed; it is retried with a growing delay.
  Status PublishFailed(int64_t job, const std::string& error);
  // The next job in a publishing state that is due, oldest first; waiting and failed ones that are due become finished
  // and queued first.
  Result<std::optional<Job>> NextPublication();
  // A later job of the same entry is queued, running or ended.
  Result<bool> IsOutdated(const Job& job);
  // Cancels what has not been pushed; returns the running jobs among them, whose children must be killed. Empty kernel:
  // all.
  Result<std::vector<int64_t>> Cancel(const std::string& repository, const std::string& kernel, const std::string& why);
  Result<std::optional<Job>> LatestJob(const std::string& repository, const std::string& kernel);
  void SetProgress(int64_t job, std::string line, int64_t task);  // in memory only

  // --- What is published on the forge (store_forge.cpp)
  Result<std::vector<PublicationRow>> Publications(const std::string& repository);
  Result<std::optional<PublicationRow>> FindPublication(const std::string& repository, const std::string& kernel);
  Status PutPublication(const PublicationRow& row);
  // Pull requests that were merged, the newest first, with the gains that they were proposed with; kept for good.
  Result<std::vector<MergedProposal>> Merged(const std::string& repository);
  Status RecordMerged(const std::string& repository, int64_t pull_request);  // learned after the kernel's next one
  struct Usage {
    int open = 0, opened_today = 0;  // pull requests; `open` without that of `kernel`
  };
  Result<Usage> PullRequests(const std::string& repository, const std::string& kernel);
  void SetPullRequestLimits(const std::string& repository, int max_open, int max_per_day);  // for the snapshot
  Status Ignore(const IgnoredKernel& kernel);
  Status Unignore(const std::string& repository, const std::string& kernel);  // no longer ignored
  Result<std::optional<IgnoredKernel>> FindIgnored(const std::string& repository, const std::string& kernel);
  // Repositories whose dashboard is stale; cleared by DashboardShown with the mark that was read.
  Result<std::map<std::string, int64_t>> StaleDashboards();
  Status DashboardShown(const std::string& repository, int64_t mark, const std::string& digest);
  Result<std::string> DashboardDigest(const std::string& repository);

  // --- Deliveries (store_deliveries.cpp)
  Result<bool> RememberDelivery(const std::string& id, const std::string& event,
                                const std::string& body);  // false: seen before
  Result<std::vector<StoredDelivery>> WaitingDeliveries(size_t limit, bool for_forge);
  Status TriageDeliveries(
      const std::vector<TriagedDelivery>& deliveries);  // one transaction: incoming deliveries wait for each
  // `events`, the command and the end of the delivery are one transaction.
  Status FinishDelivery(const std::string& id, const std::string& outcome, const std::vector<Event>& events = {},
                        const std::optional<HandledCommand>& command = {});
  // The comment's command was handled before, or the comment is older than what is remembered.
  Result<bool> WasHandled(const std::string& repository, int64_t comment, const std::string& verb);
  Status DeliveryFailed(const std::string& id, const std::string& error);
  // A reply that the forge thread must write, once per requesting comment; queued among the deliveries for the forge,
  // with event kReplyEvent.
  Status QueueReply(const std::string& repository, int64_t issue, int64_t comment, const std::string& text);
  static constexpr std::string_view kReplyEvent = "warpwright answer";
  // All jobs that this comment requested.
  Result<std::vector<Job>> JobsAskedBy(const std::string& repository, int64_t comment);

  // --- Statistics
  void Count(const std::string& name, const std::string& label, double amount = 1);
  // `models`: of the job's task so far, of which what was not counted for the job before is.
  Status Spend(int64_t job, double gpu_minutes, const ModelCost& models);
  Result<UnixMs> NightStarted(const std::string& repository);  // 0: never
  Status StartNight(const std::string& repository, UnixMs due, const std::string& ref,
                    const std::string& commit);  // with its job
  DaemonSnapshot Snapshot();

  // --- Maintenance
  Status ApplyRetention();  // drops what is too old
  Status Checkpoint();      // moves the log into the file, on a separate connection, without blocking others
  bool Writable();
  // For tests: called after every transaction that changed something.
  void OnCommit(std::function<void()> hook);

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace warpwright::service
