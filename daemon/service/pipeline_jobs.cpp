// Running jobs in children.
#include <fmt/format.h>

#include <cmath>

#include "base/log.h"
#include "config/manifest.h"
#include "core/device_name.h"
#include "service/pipeline.h"

namespace warpwright::service {
namespace {

constexpr int kJobTries = 3;
constexpr UnixMs kAnswerPollMs = 10 * 60'000;  // between looks at questions that somebody answers in a folder
constexpr UnixMs kDeviceSuspicionMs =
    24 * 3'600'000;  // after this time, failures on a suspected device count as the job's own

base::LogFields Fields(const Job& job) {
  return {{"job", job.id}, {"repo", job.repository}, {"kernel", job.what.kernel}};
}

// What the repository requests at that commit, within the operator's limits. An unreadable manifest is reported by the
// child.
core::Policy PolicyOf(const TrackedRepository& place, const std::string& commit, const config::Ceilings& limits) {
  core::Policy policy;
  if (const auto mirror = repo::Repository::Open(place.mirror()))
    if (const auto text = mirror->Read(commit, ".warpwright.yml"); text && *text)
      if (const auto manifest = config::ParseManifest(**text, ".warpwright.yml")) policy = manifest->policy;
  return config::Tighten(policy, limits);
}

}  // namespace

Result<bool> Pipeline::RunNextJob(const std::string& device) {
  if (breaker_.IsOpen(device)) return false;
  WW_ASSIGN(const auto leased, ports_.store.Lease(device));
  if (!leased) return false;
  const Job& job = *leased;
  const base::LogScope scope(Fields(job));
  const auto flag = std::make_shared<std::atomic<bool>>(false);
  {
    const std::lock_guard guard(mutex_);
    running_[job.id] = flag;
  }
  const auto place = FindPlace(job.repository);
  const auto work = [&]() -> Status {
    WW_ASSIGN(const Job now, ports_.store.FindJob(job.id));  // it may have been stopped before the flag existed
    if (now.state != JobState::kRunning) return {};
    if (!place) return Fail(ErrorCode::kConfig, "the repository is not in the configuration");
    base::Log(base::LogLevel::kInfo, "job_started", "started",
              {{"device", device},
               {"commit", job.commit},
               {"waited_seconds", static_cast<double>(job.started - job.queued) / 1000}});
    switch (job.what.kind) {
      case JobKind::kOptimize:
      case JobKind::kCarry: return Optimize(job, *place, *flag);
      case JobKind::kNightly: return Night(job, *place, *flag);
    }
    return {};
  };
  const Status done = work();
  {
    const std::lock_guard guard(mutex_);
    running_.erase(job.id);
  }
  if (!done) WW_TRY(Failed(job, done.error()));
  return true;
}

Status Pipeline::Optimize(const Job& job, const TrackedRepository& place, const std::atomic<bool>& stop) {
  const core::Policy policy = PolicyOf(place, job.commit, limits());
  RunRequest request;
  request.place = {place.mirror(), place.folder, job.device};
  request.commit = job.commit;
  request.kernel = job.what.kernel;
  request.max_rounds = policy.max_rounds;
  request.max_minutes = policy.max_minutes;
  request.again = job.again;
  if (job.what.kind == JobKind::kCarry) {
    WW_ASSIGN(const auto published, ports_.store.FindPublication(job.repository, job.what.kernel));
    if (!published) return Fail(ErrorCode::kConfig, "there is no longer a result to carry over");
    request.carry = published->commit;
  }
  request.author = fmt::format("{} <{}>", place.author.name, place.author.email);
  bool again = job.again;
  ChildWatch watch;
  watch.stop = &stop;
  watch.deadline =
      std::chrono::minutes(10) + std::chrono::milliseconds(static_cast<int64_t>(policy.max_minutes * 1.5 * 60'000));
  watch.progress = [&](std::string_view line) {
    // Its first output comes after it has discarded the earlier task: from now on a restart resumes.
    if (std::exchange(again, false)) (void)ports_.store.ClearRerunFlag(job.id);
    ports_.store.SetProgress(job.id, std::string(line), 0);
  };
  const auto start = ports_.clock.Steady();
  WW_ASSIGN(const JobResult result, ports_.runner.Optimize(request, watch));
  const double minutes = std::chrono::duration<double>(ports_.clock.Steady() - start).count() / 60;
  WW_TRY(ports_.store.Spend(job.id, core::IsSimulated(job.device) ? 0 : minutes, result.models));
  base::Log(base::LogLevel::kInfo, "job_finished", result.message,
            {{"outcome", result.outcome ? Name(*result.outcome) : ""},
             {"gain", result.gain},
             {"rounds", result.rounds},
             {"seconds", result.seconds}});
  if (result.outcome == core::TaskOutcome::kError) return Fail(ErrorCode::kEnvironment, result.message);
  breaker_.RecordSuccess(job.device);
  JobChange change;
  if (result.outcome == core::TaskOutcome::kUnfinished) {  // a model has not answered: it goes on where it stopped
    change.note = result.message;
    change.not_before = ToMs(ports_.clock.Now()) + kAnswerPollMs;
    WW_TRY(ports_.store.Advance(job.id, JobState::kQueued, change));
    return {};
  }
  change.result = result;
  change.note = "";
  WW_TRY(ports_.store.Advance(job.id, JobState::kFinished, change));
  return {};
}

Status Pipeline::Night(const Job& job, const TrackedRepository& place, const std::atomic<bool>& stop) {
  RunRequest request;
  request.place = {place.mirror(), place.folder, job.device};
  request.commit = job.commit;
  request.author = fmt::format("{} <{}>", place.author.name, place.author.email);
  ChildWatch watch;
  watch.stop = &stop;
  watch.deadline = std::chrono::hours(6);
  watch.progress = [&](std::string_view line) { ports_.store.SetProgress(job.id, std::string(line), 0); };
  WW_ASSIGN(const NightResult night, ports_.runner.Night(request, watch));
  breaker_.RecordSuccess(job.device);
  for (const NightFinding& finding : night.findings) {
    if (!finding.optimize) continue;
    Event event;
    event.repository = job.repository;
    event.ref = job.ref;
    event.to = job.commit;
    event.kernel = finding.kernel;
    event.priority = JobPriority::kNightly;
    WW_TRY(ports_.store.AddEvent(event));
  }
  JobChange change;
  std::string message = night.message;
  for (const NightFinding& finding : night.findings)
    message += fmt::format("\n{}: {}", finding.kernel, finding.message);  // which says since what
  change.result = JobResult{.outcome = night.outcome,
                            .message = message,
                            .branch = night.branch,
                            .branch_commit = night.branch_commit,
                            .modelled = core::IsSimulated(job.device)};
  WW_TRY(ports_.store.Advance(job.id, JobState::kFinished, change));
  base::Log(base::LogLevel::kInfo, "night_finished", night.message,
            {{"outcome", Name(night.outcome)}, {"findings", night.findings.size()}});
  return {};
}

// Interrupted jobs resume where they stopped. Others are retried, unless the cause is in the repository; finally, the
// error is the result.
Status Pipeline::Failed(const Job& job, const Error& error) {
  WW_ASSIGN(const Job now, ports_.store.FindJob(job.id));
  if (now.state != JobState::kRunning) return {};  // stopped by a user
  JobChange change;
  change.note = error.Format();
  if (error.code == ErrorCode::kTimeout && error.message == kInterrupted) {
    change.note = "interrupted; resumes after the restart";
    WW_TRY(ports_.store.Advance(job.id, JobState::kQueued, change));
    return {};
  }
  base::LogError("job_failed", error, {{"attempt", job.attempts + 1}});
  const bool in_repository = error.code == ErrorCode::kConfig;
  const bool suspected = !in_repository && breaker_.RecordFailure(job.device, job.repository + " " + job.what.kernel);
  const UnixMs time = ToMs(ports_.clock.Now());
  const bool of_device = suspected && time - job.queued < kDeviceSuspicionMs;
  if (suspected)
    base::Log(base::LogLevel::kError, "device_rests", fmt::format("{}", fmt::join(breaker_.OpenCircuits(), "; ")),
              {{"device", job.device}});
  change.failed_attempt = !of_device;
  if (of_device)
    change.not_before = time + std::chrono::milliseconds(2 * DeviceCircuitBreaker::kLongest)
                                   .count();  // other jobs first show whether the device is the cause
  WW_TRY(ports_.store.Advance(job.id, JobState::kFailed, change));
  if (of_device || (job.attempts + 1 < kJobTries && !in_repository)) return {};
  JobChange result;
  result.result = JobResult{
      .outcome = core::TaskOutcome::kError, .message = error.Format(), .modelled = core::IsSimulated(job.device)};
  WW_TRY(ports_.store.Advance(job.id, JobState::kFinished, result));
  return {};
}

void Pipeline::StopJob(int64_t job) {
  const std::lock_guard guard(mutex_);
  if (const auto found = running_.find(job); found != running_.end()) *found->second = true;
}
void Pipeline::StopJobs() {
  const std::lock_guard guard(mutex_);
  for (const auto& [job, flag] : running_) *flag = true;
}
int Pipeline::running() const {
  const std::lock_guard guard(mutex_);
  return static_cast<int>(running_.size());
}

}  // namespace warpwright::service
