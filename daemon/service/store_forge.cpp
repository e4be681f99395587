// What is published on the forge, and the users' decisions about it.
#include "base/fields.h"
#include "service/store_state.h"

namespace warpwright::service {

constexpr int64_t kMergedShown = 200;

std::string_view Name(PublicationState state) {
  switch (state) {
    case PublicationState::kBranchOnly: return "";
    case PublicationState::kOpen: return "open";
    case PublicationState::kMerged: return "merged";
    case PublicationState::kClosed: return "closed";
  }
  return "";
}

void Store::State::PutPublicationRow(const PublicationRow& row) {
  if (row.pull_request != 0 && row.state == PublicationState::kOpen)
    Do("INSERT OR IGNORE INTO openings VALUES(?, ?, ?)", row.repository, row.pull_request,
       row.opened != 0 ? row.opened : Now());
  TouchDashboard(row.repository);
  Do("INSERT OR REPLACE INTO publications VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row.repository, row.kernel,
     row.branch, row.commit, row.base_commit, row.file_hash, row.pull_request, row.url, row.state,
     row.opened != 0 ? row.opened : Now(), row.job);
  PutProposal(row);
}

void Store::State::PutProposal(const PublicationRow& row) {
  if (row.pull_request == 0) return;
  Do("INSERT INTO proposals(repository, pull_request, kernel, url, base_commit) VALUES(?, ?, ?, ?, ?) ON CONFLICT DO "
     "UPDATE SET url = excluded.url, base_commit = excluded.base_commit",
     row.repository, row.pull_request, row.kernel, row.url, row.base_commit);
  Do("UPDATE proposals SET gain = j.gain, gain_low = j.gain_low, gain_high = j.gain_high, modelled = j.modelled FROM "
     "jobs AS j WHERE j.id = ? AND j.gain > 0 AND proposals.repository = ? AND proposals.pull_request = ?",
     row.job, row.repository, row.pull_request);
  if (row.state == PublicationState::kMerged) SetMerged(row.repository, row.pull_request);
}

void Store::State::SetMerged(const std::string& repository, int64_t pull_request) {
  Do("UPDATE proposals SET merged = ? WHERE repository = ? AND pull_request = ? AND merged = 0", Now(), repository,
     pull_request);
}

Status Store::RecordMerged(const std::string& repository, int64_t pull_request) {
  return state_->Write([&] {
    state_->TouchDashboard(repository);
    state_->SetMerged(repository, pull_request);
  });
}

Result<std::vector<MergedProposal>> Store::Merged(const std::string& repository) {
  return state_->Read([&] {
    std::vector<MergedProposal> all;
    SQLite::Statement rows = state_->Ask(
        "SELECT kernel, url, base_commit, gain, gain_low, gain_high, modelled, merged FROM proposals WHERE repository "
        "= "
        "? AND merged <> 0 ORDER BY merged DESC, pull_request DESC LIMIT ?",
        repository, kMergedShown);
    while (rows.executeStep())
      all.push_back({.kernel = rows.getColumn(0),
                     .url = rows.getColumn(1),
                     .base_commit = rows.getColumn(2),
                     .gain = rows.getColumn(3),
                     .gain_low = rows.getColumn(4),
                     .gain_high = rows.getColumn(5),
                     .modelled = rows.getColumn(6).getInt() != 0,
                     .merged = rows.getColumn(7)});
    return all;
  });
}

Status Store::PutPublication(const PublicationRow& row) {
  return state_->Write([&] { state_->PutPublicationRow(row); });
}

Result<std::vector<PublicationRow>> Store::Publications(const std::string& repository) {
  return state_->Read([&]() -> Result<std::vector<PublicationRow>> {
    std::vector<PublicationRow> all;
    SQLite::Statement rows = state_->Ask(
        "SELECT repository, kernel, branch, commit_id, base_commit, file_hash, pull_request, url, state, opened, job "
        "FROM publications WHERE repository = ? ORDER BY kernel",
        repository);
    while (rows.executeStep()) {
      const auto state = base::ParseName<PublicationState>(rows.getColumn(8).getString());
      if (!state) return Fail(ErrorCode::kCorrupt, "a publication has a state that is unknown");
      all.push_back({.repository = rows.getColumn(0),
                     .kernel = rows.getColumn(1),
                     .branch = rows.getColumn(2),
                     .commit = rows.getColumn(3),
                     .base_commit = rows.getColumn(4),
                     .file_hash = rows.getColumn(5),
                     .pull_request = rows.getColumn(6),
                     .url = rows.getColumn(7),
                     .state = *state,
                     .opened = rows.getColumn(9),
                     .job = rows.getColumn(10)});
    }
    return all;
  });
}

Result<std::optional<PublicationRow>> Store::FindPublication(const std::string& repository, const std::string& kernel) {
  WW_ASSIGN(auto rows, Publications(repository));
  for (PublicationRow& row : rows)
    if (row.kernel == kernel) return std::optional<PublicationRow>(std::move(row));
  return std::optional<PublicationRow>();
}

Store::Usage Store::State::CountRequests(const std::string& repository, const std::string& kernel) {
  const UnixMs day = 24LL * 3600 * 1000;
  return {.open = static_cast<int>(
              Number("SELECT count(*) FROM publications WHERE repository = ? AND state = 'open' AND kernel <> ?",
                     repository, kernel)),
          .opened_today = static_cast<int>(Number("SELECT count(*) FROM openings WHERE repository = ? AND opened >= ?",
                                                  repository, Now() / day * day))};
}

Result<Store::Usage> Store::PullRequests(const std::string& repository, const std::string& kernel) {
  return state_->Read([&] { return state_->CountRequests(repository, kernel); });
}

void Store::SetPullRequestLimits(const std::string& repository, int max_open, int max_per_day) {
  const std::lock_guard guard(state_->mutex);
  state_->request_limits[repository] = {max_open, max_per_day};
}

void Store::State::PutIgnored(const IgnoredKernel& kernel) {
  TouchDashboard(kernel.repository);
  Do("INSERT OR REPLACE INTO ignored VALUES(?, ?, ?, ?, ?)", kernel.repository, kernel.kernel, kernel.file_hash,
     Bounded(kernel.reason, kMaxNoteBytes), kernel.since != 0 ? kernel.since : Now());
}

Status Store::Ignore(const IgnoredKernel& kernel) {
  return state_->Write([&] { state_->PutIgnored(kernel); });
}

Status Store::Unignore(const std::string& repository, const std::string& kernel) {
  return state_->Write([&] {
    state_->TouchDashboard(repository);
    state_->Do("DELETE FROM ignored WHERE repository = ? AND kernel = ?", repository, kernel);
  });
}

Result<std::optional<IgnoredKernel>> Store::FindIgnored(const std::string& repository, const std::string& kernel) {
  return state_->Read([&]() -> std::optional<IgnoredKernel> {
    SQLite::Statement rows = state_->Ask(
        "SELECT repository, kernel, file_hash, reason, since FROM ignored WHERE repository = ? AND kernel = ?",
        repository, kernel);
    if (!rows.executeStep()) return std::nullopt;
    return rows.getColumns<IgnoredKernel, 5>();
  });
}

Result<std::map<std::string, int64_t>> Store::StaleDashboards() {
  return state_->Read([&] {
    std::map<std::string, int64_t> stale;
    SQLite::Statement rows = state_->Ask(
        "SELECT name, dashboard_mark FROM repositories WHERE watched = 1 AND dashboard_mark <> dashboard_shown");
    while (rows.executeStep()) stale[rows.getColumn(0).getString()] = rows.getColumn(1).getInt64();
    return stale;
  });
}

Status Store::DashboardShown(const std::string& repository, int64_t mark, const std::string& digest) {
  return state_->Write([&] {
    state_->Do("UPDATE repositories SET dashboard_shown = ?, dashboard_digest = ? WHERE name = ?", mark, digest,
               repository);
  });
}

Result<std::string> Store::DashboardDigest(const std::string& repository) {
  return state_->Read([&] {
    SQLite::Statement rows = state_->Ask("SELECT dashboard_digest FROM repositories WHERE name = ?", repository);
    return rows.executeStep() ? rows.getColumn(0).getString() : std::string();
  });
}

Status Store::Spend(int64_t job, double gpu_minutes, const ModelCost& models) {
  State& s = *state_;
  return s.Write([&] {
    ModelCost more = models;
    SQLite::Statement row = s.Ask(
        "SELECT repository, model_dollars, model_questions, model_unknown, model_gains FROM jobs WHERE id = ?", job);
    if (!row.executeStep()) return;
    const std::string repository = row.getColumn(0).getString();
    // Fewer questions than before: the task was begun anew, and what was counted is of another.
    if (const int counted = row.getColumn(2).getInt(); counted <= models.questions) {
      more.dollars = std::max(0.0, models.dollars - row.getColumn(1).getDouble());
      more.questions -= counted;
      more.unknown = std::max(0, models.unknown - row.getColumn(3).getInt());
      more.gains = std::max(0, models.gains - row.getColumn(4).getInt());
    }
    s.Do("UPDATE jobs SET model_dollars = ?, model_questions = ?, model_unknown = ?, model_gains = ? WHERE id = ?",
         models.dollars, models.questions, models.unknown, models.questions > 0 ? models.gains : 0, job);
    if (models.questions == 0) more = {};  // its gains are not what models were asked for
    if (gpu_minutes == 0 && more.questions == 0 && more.gains == 0) return;
    s.Do(
        "INSERT INTO spend(day, repository, gpu_minutes, model_dollars, model_questions, model_unknown, model_gains) "
        "VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET gpu_minutes = gpu_minutes + excluded.gpu_minutes, "
        "model_dollars = model_dollars + excluded.model_dollars, model_questions = model_questions + "
        "excluded.model_questions, model_unknown = model_unknown + excluded.model_unknown, model_gains = model_gains + "
        "excluded.model_gains",
        s.Today(), repository, gpu_minutes, more.dollars, more.questions, more.unknown, more.gains);
  });
}

Result<UnixMs> Store::NightStarted(const std::string& repository) {
  return state_->Read([&] { return state_->Number("SELECT night FROM repositories WHERE name = ?", repository); });
}

Status Store::StartNight(const std::string& repository, UnixMs due, const std::string& ref, const std::string& commit) {
  State& s = *state_;
  return s.Write([&] {
    if (s.Number("SELECT night FROM repositories WHERE name = ?", repository) >= due) return;
    s.Do("UPDATE repositories SET night = ? WHERE name = ?", due, repository);
    if (commit.empty()) return;  // only the time from which nightly runs are due
    const int64_t unfinished = s.Number(
        "SELECT count(*) FROM jobs WHERE repository = ? AND kind = 'nightly' AND state IN ('queued', 'failed', "
        "'running')",
        repository);
    if (unfinished > 0) return;  // the last run is still unfinished
    s.Do(
        "INSERT INTO jobs(repository, ref, commit_id, kind, kernel, file, entry, content_key, file_hash, priority, "
        "state, again, answer_issue, answer_comment, queued) "
        "VALUES(?, ?, ?, 'nightly', '', '', '', ?, '', ?, 'queued', 0, 0, 0, ?)",
        repository, ref, commit, "night:" + FormatUnixMs(due), JobPriority::kNightly, s.Now());
  });
}

}  // namespace warpwright::service
