// From a finished job to what users see of it.
#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "report/markdown.h"
#include "service/comment_reply.h"
#include "service/night_message.h"
#include "service/pipeline.h"

namespace warpwright::service {
namespace {

constexpr int kPublishTries = 5;     // of what the forge rejects as invalid
constexpr int64_t kWaitMs = 60'000;  // until limits are checked again

std::string ShortRef(const std::string& ref) { return ref.starts_with("refs/heads/") ? ref.substr(11) : ref; }

// The explanation of a result without its trajectory.
report::Explanation Sketch(const Job& job, const std::string& version) {
  report::Explanation e;
  e.kernel = job.what.kernel;
  e.file = job.what.file;
  e.entry = job.what.entry;
  e.device = job.device;
  e.modelled = job.result.modelled;
  e.outcome = job.result.outcome.value_or(core::TaskOutcome::kError);
  e.outcome_reason = job.result.message;
  e.gain = job.result.gain;
  e.base_commit = job.commit;
  e.version = version;
  return e;
}

}  // namespace

Result<bool> Pipeline::RunForgeStep() {
  WW_ASSIGN(const bool answered, HandleNextDelivery());
  if (answered) return true;
  WW_ASSIGN(const bool published, PublishNextJob());
  if (published) return true;
  return UpdateNextDashboard();
}

Result<bool> Pipeline::PublishNextJob() {
  WW_ASSIGN(const auto next, ports_.store.NextPublication());
  if (!next) return false;
  const Job& job = *next;
  const base::LogScope scope({{"job", job.id}, {"repo", job.repository}, {"kernel", job.what.kernel}});
  const auto place = FindPlace(job.repository);
  if (!place) {
    const bool untouched = job.state == JobState::kFinished;
    const JobState to = untouched                          ? JobState::kCancelled
                        : job.state == JobState::kReported ? JobState::kDone
                                                           : JobState::kReported;
    JobChange change;
    change.note = "the repository is no longer in the configuration";
    WW_TRY(ports_.store.Advance(job.id, to, change));
    return true;
  }
  const Status done = job.state == JobState::kReported     ? Report(job, *place)
                      : job.what.kind == JobKind::kNightly ? PublishNight(job, *place)
                                                           : PublishJob(job, *place);
  if (done) return true;
  WW_ASSIGN(const Job now, ports_.store.FindJob(job.id));
  if (IsFinal(now.state)) return true;  // superseded or cancelled meanwhile
  base::LogError("publish_failed", done.error(), {{"attempt", now.publish_attempts + 1}});
  if (done.error().code == ErrorCode::kUnsupported && now.publish_attempts + 1 >= kPublishTries) {
    JobChange change;
    change.note = "given up: " + done.error().Format();
    change.outcome = core::TaskOutcome::kError;
    WW_TRY(
        ports_.store.Advance(job.id, now.state == JobState::kReported ? JobState::kDone : JobState::kReported, change));
    return true;
  }
  WW_TRY(ports_.store.PublishFailed(job.id, done.error().Format()));
  return true;
}

Result<PublishRequest> Pipeline::MakeRequest(const Job& job, const TrackedRepository& place) {
  PublishRequest request;
  request.external_id = fmt::format("warpwright-job-{}", job.id);
  request.repository = place.on_forge;
  request.to = place.publish;
  request.kernel = job.what.kernel;
  request.file = job.what.file;
  request.base_branch = ShortRef(job.ref);
  request.base_commit = job.commit;
  const bool improved = job.result.outcome == core::TaskOutcome::kImproved;
  if (improved) {
    request.branch = job.result.branch;
    request.commit = job.result.branch_commit;
  }
  {
    const std::lock_guard guard(mutex_);
    request.explanation = Sketch(job, settings_.version);
  }
  if (job.result.trajectory_task != 0 && ports_.read_facts) {
    auto facts = ports_.read_facts(place, job);
    if (!facts && improved) return Fail(facts.error());  // no pull request without its evidence
    if (facts) {
      request.explanation = std::move(facts->explanation);
      request.provenance = std::move(facts->provenance);
      request.policy = std::move(facts->policy);
    }
  }
  request.provenance.run_id = request.external_id;
  request.policy = config::Tighten(request.policy, limits());
  ports_.store.SetPullRequestLimits(job.repository, request.policy.max_open, request.policy.max_per_day);
  request.asked_for = job.priority == JobPriority::kCommand;
  WW_ASSIGN(const auto usage, ports_.store.PullRequests(job.repository, job.what.kernel));
  request.open_pull_requests = usage.open;
  request.opened_today = usage.opened_today;
  request.waits_for = job.note;
  WW_ASSIGN(const auto ignored, ports_.store.FindIgnored(job.repository, job.what.kernel));
  if (ignored && !request.asked_for && (ignored->file_hash.empty() || ignored->file_hash == job.what.file_hash))
    request.ignored_because = ignored->reason;
  if (job.result.outcome == core::TaskOutcome::kIgnored) request.ignored_because = job.result.message;
  WW_ASSIGN(const auto published, ports_.store.FindPublication(job.repository, job.what.kernel));
  if (published) request.closed_file_hash = published->file_hash;
  request.proposed_before = published && published->pull_request != 0;
  request.carried = job.what.kind == JobKind::kCarry;
  return request;
}

Status Pipeline::PublishJob(const Job& job, const TrackedRepository& place) {
  WW_ASSIGN(const bool outdated, ports_.store.IsOutdated(job));
  if (outdated && job.state == JobState::kFinished) {
    JobChange change;
    change.note = "a newer version of the kernel is being processed";
    WW_TRY(ports_.store.Advance(job.id, JobState::kSuperseded, change));
    return {};
  }
  WW_ASSIGN(const PublishRequest request, MakeRequest(job, place));
  WW_ASSIGN(repo::Mirror mirror, place.OpenMirror());
  JobState state = job.state;
  const auto advance = [&](JobState to, const JobChange& change) -> Status {
    if (state == to || !MayFollow(state, to)) return {};  // a repetition of what is already stored
    WW_TRY(ports_.store.Advance(job.id, to, change));
    state = to;
    return {};
  };
  const PublicationObserver observer = [&](PublicationStep step, const Publication& so_far) -> Status {
    JobChange change;
    switch (step) {
      case PublicationStep::kPushed: return advance(JobState::kPushed, change);
      case PublicationStep::kProposed: {
        const forge::PullRequestView& view = so_far.pull_request->view;
        if (so_far.merged_pull_request != 0)
          WW_TRY(ports_.store.RecordMerged(job.repository, so_far.merged_pull_request));
        change.publication = PublicationRow{.repository = job.repository,
                                            .kernel = job.what.kernel,
                                            .branch = request.branch,
                                            .commit = request.commit,
                                            .base_commit = job.commit,
                                            .file_hash = job.what.file_hash,
                                            .pull_request = view.number,
                                            .url = view.url,
                                            .state = PublicationState::kOpen,
                                            .job = job.id};
        return advance(JobState::kProposed, change);
      }
      case PublicationStep::kReported: return {};  // written with its conclusion, below
    }
    return {};
  };
  auto publication = warpwright::service::Publish(request, {mirror, ports_.forge, ports_.conversation}, observer);
  if (!publication) return Fail(publication.error());
  base::Log(base::LogLevel::kInfo, "published", publication->message,
            {{"disposition", Name(publication->disposition)}, {"branch", request.branch}});
  WW_ASSIGN(const Job now, ports_.store.FindJob(job.id));
  return Conclude(now, *publication);
}

Status Pipeline::Conclude(const Job& job, const Publication& publication) {
  JobChange change;
  change.note = publication.message;
  JobState to = JobState::kReported;
  switch (publication.disposition) {
    case Disposition::kProposed:
    case Disposition::kNothing: break;
    case Disposition::kBranchOnly:
      change.publication = PublicationRow{.repository = job.repository,
                                          .kernel = job.what.kernel,
                                          .branch = job.result.branch,
                                          .commit = job.result.branch_commit,
                                          .base_commit = job.commit,
                                          .file_hash = job.what.file_hash,
                                          .job = job.id};
      break;
    case Disposition::kForeignBranch: change.outcome = core::TaskOutcome::kIgnored; break;
    case Disposition::kIgnored:
      change.outcome = core::TaskOutcome::kIgnored;
      if (publication.closed_pull_request != 0)
        change.ignored = IgnoredKernel{.repository = job.repository,
                                       .kernel = job.what.kernel,
                                       .file_hash = job.what.file_hash,
                                       .reason = publication.message};
      break;
    case Disposition::kWaiting:
      to = JobState::kWaiting;
      if (job.note != publication.message) WW_TRY(SayWhyItWaits(job, publication.message));
      change.not_before = ToMs(ports_.clock.Now()) + kWaitMs;
      break;
  }
  if (publication.retry_ticked) {
    Event event;
    event.repository = job.repository;
    event.ref = job.ref;
    event.to = job.commit;
    event.kernel = job.what.kernel;
    event.priority = JobPriority::kCommand;
    event.again = true;
    WW_TRY(ports_.store.AddEvent(event));
  }
  WW_TRY(ports_.store.Advance(job.id, to, change));
  return {};
}

// To whoever asked for it; once, and not each minute in which it is tried again.
Status Pipeline::SayWhyItWaits(const Job& job, const std::string& why) {
  const auto place = FindPlace(job.repository);
  if (job.answer_issue == 0 || ports_.conversation == nullptr || !place || !place->on_forge) return {};
  const std::string text =
      fmt::format("- {}: waiting. {}\n", report::CodeSpan(job.what.kernel), report::EscapeMarkdown(why));
  const auto put =
      ports_.conversation->PutComment(*place->on_forge, MakeReply(job.answer_issue, job.answer_comment, text));
  return put ? Status() : Fail(put.error());
}

namespace {

std::string NightSummary(const std::string& message) {
  constexpr size_t kShown = 20, kBytes = 400;
  const auto [summary, lines] = NightLines(message);
  std::string text = report::EscapeMarkdown(summary, kBytes) + ".\n\n";
  for (size_t i = 0; i < lines.size() && i < kShown; ++i)
    text += "- " + report::EscapeMarkdown(lines[i], kBytes) + "\n";
  return lines.size() > kShown ? text + fmt::format("- and {} more\n", lines.size() - kShown) : text;
}

}  // namespace

// The history's branch; if someone else pushed first, the next nightly run merges both.
Status Pipeline::PublishNight(const Job& job, const TrackedRepository& place) {
  JobChange change;
  const bool pushes = !job.result.branch_commit.empty() && place.publish != config::PublishTo::kNone &&
                      job.state == JobState::kFinished;
  if (pushes && !job.result.branch.starts_with("warpwright-")) {
    change.note = "the history was not pushed: its branch's name must begin with warpwright-";
  } else if (pushes) {
    WW_ASSIGN(repo::Mirror mirror, place.OpenMirror());
    WW_ASSIGN(const repo::Mirror::Tip tip, mirror.RemoteTip(job.result.branch));
    if (tip.commit != job.result.branch_commit) {
      WW_ASSIGN(const repo::Mirror::PushResult pushed,
                mirror.Push(job.result.branch, job.result.branch_commit, tip.commit));
      if (!pushed.done) change.note = "the history was not pushed: " + pushed.rejected;
    }
  }
  if (OnForge(place, ports_.forge) && job.result.outcome == core::TaskOutcome::kRegression) {
    forge::CheckRequest check;
    check.name = "warpwright / nights";
    check.sha = job.commit;
    check.external_id = fmt::format("warpwright-job-{}", job.id);
    check.conclusion = forge::Conclusion::kFailure;
    check.title = "Slower than before";
    check.summary = NightSummary(job.result.message);
    WW_TRY(ports_.forge->PutCheck(*place.on_forge, check));
  }
  WW_TRY(ports_.store.Advance(job.id, JobState::kReported, change));
  return {};
}

// Reports the outcome to the requester: one reply for everything that one comment requested.
Status Pipeline::Report(const Job& job, const TrackedRepository& place) {
  if (job.answer_issue != 0 && ports_.conversation != nullptr && place.on_forge) {
    WW_ASSIGN(const auto jobs, ports_.store.JobsAskedBy(job.repository, job.answer_comment));
    std::string text;
    for (const Job& asked : jobs) text += DescribeJob(asked) + "\n";
    WW_TRY(ports_.conversation->PutComment(*place.on_forge, MakeReply(job.answer_issue, job.answer_comment, text)));
  }
  JobChange change;
  if (job.outcome) change.outcome = job.outcome;
  WW_TRY(ports_.store.Advance(job.id, JobState::kDone, change));
  return CarryOver(place);  // its base may have moved meanwhile
}

}  // namespace warpwright::service
