// The issue that shows the state of a repository.
#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "base/log.h"
#include "report/dashboard.h"
#include "service/night_message.h"
#include "service/pipeline.h"

namespace warpwright::service {
namespace {

constexpr std::chrono::seconds kDashboardEvery{20};

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
    shown.kernel = line.substr(0, line.find_first_of(" :"));  // a row of before may be "softmax (code): "
    const size_t colon = line.find(": ");
    shown.reason = colon == std::string::npos ? "" : line.substr(colon + 2);
    input.regressed.push_back(std::move(shown));
  }
}

report::DashboardInput MakeDashboard(const DaemonSnapshot& snapshot, const RepositorySnapshot& repository,
                                     const std::vector<PublicationRow>& publications) {
  report::DashboardInput input;
  input.repository = repository.name;
  input.version = snapshot.version;
  input.ignored = repository.ignored;
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
  input.open_pull_requests = static_cast<int>(input.open.size());  // as many as are listed
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
