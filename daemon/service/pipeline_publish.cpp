// From a finished job to what users see of it.
#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "base/log.h"
#include "report/dashboard.h"
#include "report/markdown.h"
#include "service/comment_reply.h"
#include "service/pipeline.h"

namespace warpwright::service {
namespace {

constexpr int kPublishTries = 5;     // of what the forge rejects as invalid
constexpr int64_t kWaitMs = 60'000;  // until limits are checked again
constexpr std::chrono::seconds kDashboardEvery{20};

std::string ShortRef(const std::string& ref) { return ref.starts_with("refs/heads/") ? ref.substr(11) : ref; }

bool OnForge(const TrackedRepository& place, const forge::Forge* forge) {
  return forge != nullptr && place.on_forge && place.publish == config::PublishTo::kPullRequest;
}

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

// What a night says, and behind it a line for each kernel that became slower.
std::pair<std::string, std::vector<std::string>> NightLines(const std::string& message) {
  std::vector<std::string> lines;
  const size_t first = std::min(message.find('\n'), message.size());
  for (size_t at = first; at < message.size();) {
    const size_t end = std::min(message.find('\n', at + 1), message.size());
    if (end > at + 1) lines.push_back(message.substr(at + 1, end - at - 1));
    at = end;
  }
  return {message.substr(0, first), std::move(lines)};
}

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

namespace {

report::DashboardJob ShowOnDashboard(const JobSnapshot& job) {
  report::DashboardJob shown;
  shown.kernel = job.kernel;
  shown.kind = Name(job.kind);
  shown.device = job.device;
  shown.commit = job.commit;
  shown.since = !job.finished.empty() ? job.finished : !job.started.empty() ? job.started : job.queued;
  shown.reason = job.message;
  shown.pull_request_url = job.pull_request_url;
  shown.gain = job.gain;
  shown.gain_low = job.gain_low;
  shown.gain_high = job.gain_high;
  shown.modelled = job.modelled;
  return shown;
}

// A row for each kernel that the night found slower. It stays when a later night finds nothing new.
void AddRegressions(const JobSnapshot& job, report::DashboardInput& input) {
  const auto [summary, lines] = NightLines(job.message);
  for (const std::string& line : lines) {
    report::DashboardJob shown = ShowOnDashboard(job);
    shown.kernel = line.substr(0, line.find_first_of(" :"));
    shown.reason = line.substr(std::min(line.size(), shown.kernel.size() + 1));
    input.regressed.push_back(std::move(shown));
  }
}

report::DashboardInput MakeDashboard(const DaemonSnapshot& snapshot, const RepositorySnapshot& repository,
                                     const std::vector<PublicationRow>& publications) {
  report::DashboardInput input;
  input.repository = repository.name;
  input.version = snapshot.version;
  input.ignored = repository.ignored;
  input.open_pull_requests = repository.open_pull_requests;
  input.opened_today = repository.opened_today;
  input.max_open = repository.max_open;
  input.max_per_day = repository.max_per_day;
  input.last_error = repository.last_error;
  const auto spend = [&](const std::string& name) {
    const auto found = repository.spend.find(name);
    return found == repository.spend.end() ? 0.0 : found->second;
  };
  const auto models = [&](const std::string& when) {
    return report::ModelUse{.questions = static_cast<int>(spend("model_questions" + when)),
                            .names = {},
                            .dollars = spend("model_dollars" + when),
                            .unknown = static_cast<int>(spend("model_unknown_costs" + when)),
                            .gains = static_cast<int>(spend("model_gains" + when))};
  };
  input.gpu_minutes_today = spend("gpu_minutes_today");
  input.gpu_minutes_total = spend("gpu_minutes_total");
  input.models_today = models("_today");
  input.models_total = models("_total");
  std::set<std::string> latest;  // of the ended jobs, only the last of each kernel shows its state
  for (const JobSnapshot& job : snapshot.jobs) {
    if (job.repository != repository.name) continue;
    const report::DashboardJob shown = ShowOnDashboard(job);
    if (job.phase == JobPhase::kRunning || job.phase == JobPhase::kPublishing) input.running.push_back(shown);
    if (job.phase == JobPhase::kQueued) input.queued.insert(input.queued.begin(), shown);
    if (job.phase == JobPhase::kWaiting) input.waiting.push_back(shown);
    if (job.phase != JobPhase::kDone || job.outcome == core::TaskOutcome::kSuperseded ||
        job.outcome == core::TaskOutcome::kCancelled)
      continue;
    if (job.kind == JobKind::kNightly && job.outcome != core::TaskOutcome::kError) {
      if (job.outcome == core::TaskOutcome::kRegression && input.regressed.empty()) AddRegressions(job, input);
      continue;
    }
    if (!latest.insert(job.kernel).second) continue;
    const bool open = std::any_of(publications.begin(), publications.end(), [&](const auto& row) {
      return row.kernel == job.kernel && row.state == PublicationState::kOpen;
    });
    if (open && job.outcome == core::TaskOutcome::kImproved) input.open.push_back(shown);
    if (job.outcome == core::TaskOutcome::kUnchanged) input.unchanged.push_back(shown);
    if (job.outcome == core::TaskOutcome::kError || job.outcome == core::TaskOutcome::kRefused)
      input.failed.push_back(shown);
  }
  for (const PublicationRow& row : publications) {  // older than the displayed jobs
    if (row.state != PublicationState::kOpen ||
        std::any_of(input.open.begin(), input.open.end(),
                    [&](const auto& shown) { return shown.kernel == row.kernel; }))
      continue;
    report::DashboardJob shown;
    shown.kernel = row.kernel;
    shown.commit = row.base_commit;
    shown.since = base::FormatUtc(std::chrono::system_clock::time_point(std::chrono::milliseconds(row.opened)));
    shown.pull_request_url = row.url;
    input.open.push_back(std::move(shown));
  }
  return input;
}

report::DashboardJob ShowOnDashboard(const MergedProposal& merged) {
  report::DashboardJob shown;
  shown.kernel = merged.kernel;
  shown.commit = merged.base_commit;
  shown.since = base::FormatUtc(std::chrono::system_clock::time_point(std::chrono::milliseconds(merged.merged)));
  shown.pull_request_url = merged.url;
  shown.gain = merged.gain;
  shown.gain_low = merged.gain_low;
  shown.gain_high = merged.gain_high;
  shown.modelled = merged.modelled;
  return shown;
}

}  // namespace

Result<bool> Pipeline::UpdateNextDashboard() {
  if (ports_.forge == nullptr) return false;
  WW_ASSIGN(const auto stale, ports_.store.StaleDashboards());
  for (const auto& [name, mark] : stale) {
    const auto place = FindPlace(name);
    if (!place || !OnForge(*place, ports_.forge)) {
      WW_TRY(ports_.store.DashboardShown(name, mark, ""));
      continue;
    }
    const auto now = ports_.clock.Steady();
    if (const auto shown = dashboard_shown_.find(name);
        shown != dashboard_shown_.end() && now - shown->second < kDashboardEvery)
      continue;
    dashboard_shown_[name] = now;
    DaemonSnapshot snapshot = ports_.store.Snapshot();
    {
      const std::lock_guard guard(mutex_);
      snapshot.version = settings_.version;
    }
    const auto repository = std::find_if(snapshot.repositories.begin(), snapshot.repositories.end(),
                                         [&wanted = name](const auto& r) { return r.name == wanted; });
    if (repository == snapshot.repositories.end()) continue;
    WW_ASSIGN(const auto publications, ports_.store.Publications(name));
    report::DashboardInput input = MakeDashboard(snapshot, *repository, publications);
    WW_ASSIGN(const auto merged, ports_.store.Merged(name));
    for (const MergedProposal& one : merged) input.merged.push_back(ShowOnDashboard(one));
    if (const auto experience = memory::ReadStore(place->folder / "experience.jsonl"))
      input.learned = memory::LearnedMethods(experience->experiences);
    const report::DashboardText text = report::RenderDashboard(input);
    const std::string digest = base::Sha256(text.title + "\n" + text.body);
    WW_ASSIGN(const std::string before, ports_.store.DashboardDigest(name));
    if (digest != before) {
      const auto put =
          ports_.forge->PutDashboard(*place->on_forge, {text.title, text.body, std::string(report::kDashboardMarker)});
      if (!put) {
        base::LogError("dashboard_failed", put.error(), {{"repo", name}});
        return true;  // still stale; it will be retried
      }
    }
    WW_TRY(ports_.store.DashboardShown(name, mark, digest));
    return true;
  }
  return false;
}

}  // namespace warpwright::service
