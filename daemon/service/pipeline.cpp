// Places, polling and detection.
#include "service/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/hash.h"
#include "base/log.h"

namespace warpwright::service {
namespace {

constexpr int kDetectionTries = 6;
constexpr size_t kDeliveriesAtOnce = 32;
constexpr std::chrono::minutes kDetectionDeadline{10};
constexpr std::string_view kHeads = "refs/heads/";

repo::Refs Watched(const repo::Refs& known, const std::vector<std::string>& branches, const std::string& main_branch) {
  repo::Refs watched;
  for (const auto& [ref, commit] : known) {
    const bool named = branches.empty()
                           ? ref == main_branch
                           : std::find(branches.begin(), branches.end(), ref.substr(kHeads.size())) != branches.end();
    if (named && !repo::IsOwnBranch(ref)) watched[ref] = commit;
  }
  return watched;
}

// Forges' names are case-insensitive.
bool SameName(const forge::RepositoryName& a, const forge::RepositoryName& b) {
  const auto equal = [](const std::string& x, const std::string& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                      [](unsigned char c, unsigned char d) { return std::tolower(c) == std::tolower(d); });
  };
  return equal(a.owner, b.owner) && equal(a.name, b.name);
}

}  // namespace

std::string FolderName(const std::string& name, const std::string& url) {
  std::string folder;
  for (const char c : name.substr(name.size() - std::min<size_t>(name.size(), 60))) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    folder += plain ? c : '-';
  }
  return folder + "-" + base::Sha256(url).substr(0, 8);
}

Pipeline::Pipeline(PipelinePorts ports, PipelineSettings settings)
    : ports_(std::move(ports)), breaker_(ports_.clock), settings_(std::move(settings)) {}

Status Pipeline::Apply(PipelineSettings settings) {
  std::vector<TrackedRepository> before;
  {
    const std::lock_guard guard(mutex_);
    before = settings_.repositories;
    settings_ = std::move(settings);
  }
  StoreLimits limits;
  limits.queue = this->limits().queue;
  ports_.store.SetLimits(limits);
  std::set<std::string> names;
  for (const TrackedRepository& place : Repositories()) {
    names.insert(place.name);
    WW_TRY(ports_.store.Watch(place.name, place.remote.url));
    ports_.store.SetPullRequestLimits(place.name, this->limits().max_open,
                                      this->limits().max_per_day);  // until a manifest lowers it
  }
  for (const auto& shown : ports_.store.Snapshot().repositories)
    if (names.count(shown.name) == 0) WW_TRY(ports_.store.Forget(shown.name));
  return {};
}

std::vector<TrackedRepository> Pipeline::Repositories() const {
  const std::lock_guard guard(mutex_);
  return settings_.repositories;
}
config::Ceilings Pipeline::limits() const {
  const std::lock_guard guard(mutex_);
  return settings_.limits;
}
std::optional<TrackedRepository> Pipeline::FindPlace(const std::string& repository) const {
  const std::lock_guard guard(mutex_);
  for (const TrackedRepository& place : settings_.repositories)
    if (place.name == repository) return place;
  return std::nullopt;
}
std::optional<TrackedRepository> Pipeline::FindPlace(const forge::RepositoryName& repository) const {
  const std::lock_guard guard(mutex_);
  for (const TrackedRepository& place : settings_.repositories)
    if (place.on_forge && SameName(*place.on_forge, repository)) return place;
  return std::nullopt;
}

Result<bool> Pipeline::Poll(const std::string& repository) {
  const auto place = FindPlace(repository);
  if (!place) return false;
  const auto look = [&]() -> Result<int> {
    WW_ASSIGN(repo::Mirror mirror, place->OpenMirror());
    WW_TRY(mirror.Fetch());
    WW_ASSIGN(const repo::Refs known, mirror.Known());
    WW_ASSIGN(const std::string main_branch, mirror.MainBranch());
    const repo::Refs watched = Watched(known, place->branches, main_branch);
    for (const auto& branch : place->branches)
      if (watched.count(std::string(kHeads) + branch) == 0)
        base::Log(base::LogLevel::kDebug, "branch_missing", "a watched branch does not exist",
                  {{"repo", repository}, {"branch", branch}});
    return ports_.store.RecordTips(repository, watched);
  };
  const Result<int> events = look();
  if (!events) {
    base::LogError("look_failed", events.error(), {{"repo", repository}});
    WW_TRY(ports_.store.RecordPollFailure(repository, events.error().Format()));
    return Fail(events.error());
  }
  if (*events > 0)
    base::Log(base::LogLevel::kInfo, "refs_moved", "branches moved", {{"repo", repository}, {"branches", *events}});
  return *events > 0;
}

Result<bool> Pipeline::DetectNextEvent(const std::atomic<bool>& stop) {
  WW_ASSIGN(const auto event, ports_.store.NextEvent());
  if (!event) return false;
  const base::LogScope scope({{"repo", event->repository}});
  const auto place = FindPlace(event->repository);
  if (!place) {
    WW_TRY(ports_.store.EventFailed(event->id, "the repository is not in the configuration", 1));
    return true;
  }
  const Status detected = Detect(*event, *place, stop);
  if (detected || stop) return true;
  base::LogError("detection_failed", detected.error(), {{"commit", event->to}});
  // A commit with a missing or invalid manifest results in no work; a retry makes no sense until it changes.
  const bool theirs = detected.error().code == ErrorCode::kConfig || detected.error().code == ErrorCode::kUsage;
  if (theirs && event->answer_issue != 0)
    WW_TRY(ports_.store.QueueReply(event->repository, event->answer_issue, event->answer_comment,
                                   "Nothing was started: " + detected.error().message));
  WW_TRY(ports_.store.EventFailed(event->id, detected.error().Format(), theirs ? 1 : kDetectionTries));
  return true;
}

Status Pipeline::Detect(const Event& event, const TrackedRepository& place, const std::atomic<bool>& stop) {
  DetectRequest request;
  request.place = {place.mirror(), place.folder, {}};
  {
    const std::lock_guard guard(mutex_);
    if (!settings_.devices.empty()) request.place.device = settings_.devices.front();
  }
  request.to = event.to;
  // If the earlier commit no longer exists (a forced push, then garbage collection), everything counts as changed; keys
  // identify work done before.
  request.from = event.attempts > 0 ? "" : event.from;
  request.kernel = event.kernel;
  ChildWatch watch;
  watch.stop = &stop;
  watch.deadline = kDetectionDeadline;
  const auto start = ports_.clock.Steady();
  WW_ASSIGN(const auto entries, ports_.runner.Detect(request, watch));
  WW_ASSIGN(const repo::Repository mirror, repo::Repository::Open(place.mirror()));
  std::vector<NewJob> jobs;
  for (const DetectedEntry& entry : entries) {
    if (!(entry.changed || request.from.empty()) || entry.job.key.empty()) continue;
    if (!event.kernel.empty() && entry.job.kernel != event.kernel) continue;
    WW_ASSIGN(const bool merged, IsOurMergedResult(request, entry.job, place, watch));
    if (merged) continue;
    NewJob job = entry.job;
    const auto hash = FileHash(mirror, event.to, job.file);  // an LFS pointer has none
    job.file_hash = hash ? *hash : job.key;
    jobs.push_back(std::move(job));
  }
  if (jobs.empty() && event.answer_issue != 0)
    WW_TRY(ports_.store.QueueReply(event.repository, event.answer_issue, event.answer_comment,
                                   "Nothing was started: the kernel is not in the manifest, or none changed."));
  WW_ASSIGN(const Detected detected, ports_.store.FinishEvent(event, jobs));
  const double seconds = std::chrono::duration<double>(ports_.clock.Steady() - start).count();
  base::Log(base::LogLevel::kInfo, "detected", "looked for changed entries",
            {{"commit", event.to},
             {"entries", entries.size()},
             {"changed", jobs.size()},
             {"queued", detected.queued},
             {"repeated", detected.repeated},
             {"superseded", detected.superseded},
             {"ignored", detected.ignored},
             {"seconds", seconds}});
  return CarryOver(place);
}

Result<bool> Pipeline::IsOurMergedResult(const DetectRequest& request, const NewJob& job,
                                         const TrackedRepository& place, const ChildWatch& watch) {
  if (!request.kernel.empty()) return false;  // somebody asked for this one
  WW_ASSIGN(const auto published, ports_.store.FindPublication(place.name, job.kernel));
  if (!published || published->commit.empty()) return false;
  WW_ASSIGN(const repo::Repository mirror, repo::Repository::Open(place.mirror()));
  const auto ours = FileHash(mirror, published->commit, job.file), now = FileHash(mirror, request.to, job.file);
  if (!ours || !now) return false;
  if (*ours == *now) return true;
  DetectRequest against = request;  // the merge may have brought other changes of the file along
  against.from = published->commit;
  against.kernel = job.kernel;
  const auto entries = ports_.runner.Detect(against, watch);
  if (!entries) return false;
  return std::any_of(entries->begin(), entries->end(),
                     [&](const DetectedEntry& entry) { return entry.job.kernel == job.kernel && !entry.changed; });
}

Status Pipeline::CarryOver(const TrackedRepository& place) {
  if (ports_.forge == nullptr || !place.on_forge || place.publish != config::PublishTo::kPullRequest) return {};
  WW_ASSIGN(const auto rows, ports_.store.Publications(place.name));
  WW_ASSIGN(const auto tips, ports_.store.Tips(place.name));
  for (const PublicationRow& row : rows) {
    if (row.state != PublicationState::kOpen || row.commit.empty()) continue;
    const auto job = ports_.store.FindJob(row.job);
    const auto tip = job ? tips.find(job->ref) : tips.end();
    if (tip == tips.end() || tip->second == row.base_commit) continue;
    WW_ASSIGN(const auto ignored, ports_.store.FindIgnored(place.name, row.kernel));
    if (ignored) continue;
    WW_ASSIGN(const repo::Repository mirror, repo::Repository::Open(place.mirror()));
    const auto then = FileHash(mirror, row.base_commit, job->what.file);
    const auto now = FileHash(mirror, tip->second, job->what.file);
    if (!then || !now || *then == *now) continue;
    const auto clean = mirror.MergesCleanly(tip->second, row.commit);
    if (!clean || *clean) continue;
    NewJob next = job->what;
    next.kind = JobKind::kCarry;
    next.key = base::Sha256(fmt::format("carry {} {}", row.commit, *now));
    next.file_hash = *now;
    Event onto;
    onto.repository = place.name;
    onto.ref = tip->first;
    onto.to = tip->second;
    WW_ASSIGN(const bool queued, ports_.store.QueueCarry(onto, next, row.job));
    if (queued)
      base::Log(base::LogLevel::kInfo, "carry_queued", "a pull request conflicts with its base",
                {{"repo", place.name}, {"kernel", row.kernel}, {"commit", tip->second}});
  }
  return {};
}

Result<std::set<std::string>> Pipeline::TriageDeliveries() {
  std::set<std::string> moved;
  while (true) {
    WW_ASSIGN(const auto deliveries, ports_.store.WaitingDeliveries(kDeliveriesAtOnce, false));
    if (deliveries.empty()) return moved;
    std::vector<TriagedDelivery> sorted;
    for (const StoredDelivery& delivery : deliveries) {
      const auto event = forge::ParseWebhook(delivery.event, delivery.body);
      if (!event) {
        base::Log(base::LogLevel::kWarning, "delivery_malformed", event.error().message, {{"delivery", delivery.id}});
        sorted.push_back({delivery.id, static_cast<int64_t>(delivery.body.size()), "malformed"});
        continue;
      }
      std::string outcome;  // empty: the forge must be queried
      const auto of = [&](const forge::RepositoryName& name) {
        const auto place = FindPlace(name);
        if (!place) outcome = "unknown repository";
        return place;
      };
      std::visit(Overload{[&](const forge::PushEvent& push) {
                            const auto place = of(push.repository);
                            if (place) outcome = "push";
                            if (place && !repo::IsOwnBranch(push.ref)) moved.insert(place->name);
                          },
                          [&](const forge::PullRequestEvent& request) { (void)of(request.repository); },
                          [&](const forge::CommentEvent& comment) { (void)of(comment.repository); },
                          [&](const forge::CheckRerequested& check) { (void)of(check.repository); },
                          [&](const forge::Ping&) { outcome = "ping"; },
                          [&](const forge::IgnoredEvent& ignored) { outcome = "ignored: " + ignored.reason; }},
                 *event);
      if (outcome.empty() && ports_.conversation == nullptr) outcome = "ignored: there is no access to the forge";
      sorted.push_back({delivery.id, static_cast<int64_t>(delivery.body.size()), std::move(outcome)});
    }
    WW_TRY(ports_.store.TriageDeliveries(sorted));
  }
}

Status Pipeline::StartNight(UnixMs due) {
  for (const TrackedRepository& place : Repositories()) {
    WW_ASSIGN(const auto tips, ports_.store.Tips(place.name));
    if (tips.empty()) continue;
    auto tip = tips.begin();
    if (!place.branches.empty() && tips.count(std::string(kHeads) + place.branches.front()) == 1)
      tip = tips.find(std::string(kHeads) + place.branches.front());
    WW_TRY(ports_.store.StartNight(place.name, due, tip->first, tip->second));
  }
  return {};
}

}  // namespace warpwright::service
