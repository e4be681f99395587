// What stands on the forge, and what people said about it.
#include "service/store_state.h"

namespace warpwright {

Status Store::State::PutPublicationRow(const PublicationRow& row) {
  if (row.pull_request != 0 && row.state == "open")
    WW_TRY(Do("INSERT OR IGNORE INTO openings VALUES(?, ?, ?)", row.repository, row.pull_request, row.opened != 0 ? row.opened : Now()));
  WW_TRY(TouchDashboard(row.repository));
  return Do("INSERT OR REPLACE INTO publications VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row.repository, row.kernel, row.branch, row.commit, row.base_commit,
            row.file_hash, row.pull_request, row.url, row.state, row.opened != 0 ? row.opened : Now(), row.job);
}

Status Store::PutPublication(const PublicationRow& row) {
  return state_->Write([&]() -> Status { return state_->PutPublicationRow(row); });
}

Result<std::vector<PublicationRow>> Store::Publications(const std::string& repository) {
  const std::lock_guard guard(state_->mutex);
  std::vector<PublicationRow> all;
  WW_ASSIGN(SqliteRows rows, state_->Ask("SELECT kernel, branch, commit_id, base_commit, file_hash, pull_request, url, state, opened, job FROM publications "
                                         "WHERE repository = ? ORDER BY kernel", repository));
  while (true) {
    WW_ASSIGN(const bool more, rows.Next());
    if (!more) return all;
    all.push_back({repository, rows.Text(0), rows.Text(1), rows.Text(2), rows.Text(3), rows.Text(4), rows.Integer(5), rows.Text(6), rows.Text(7), rows.Integer(8),
                   rows.Integer(9)});
  }
}

Result<Store::Usage> Store::State::CountRequests(const std::string& repository, const std::string& kernel) {
  Usage usage;
  WW_ASSIGN(const int64_t open, Number("SELECT count(*) FROM publications WHERE repository = ? AND state = 'open' AND kernel <> ?", repository, kernel));
  const UnixMs day = 24LL * 3600 * 1000;
  WW_ASSIGN(const int64_t today, Number("SELECT count(*) FROM openings WHERE repository = ? AND opened >= ?", repository, Now() / day * day));
  usage.open = static_cast<int>(open);
  usage.opened_today = static_cast<int>(today);
  return usage;
}

Result<Store::Usage> Store::PullRequests(const std::string& repository, const std::string& kernel) {
  const std::lock_guard guard(state_->mutex);
  return state_->CountRequests(repository, kernel);
}

void Store::SetPullRequestLimits(const std::string& repository, int max_open, int max_per_day) {
  const std::lock_guard guard(state_->mutex);
  state_->request_limits[repository] = {max_open, max_per_day};
}

Status Store::State::PutIgnored(const IgnoredKernel& kernel) {
  WW_TRY(TouchDashboard(kernel.repository));
  return Do("INSERT OR REPLACE INTO ignored VALUES(?, ?, ?, ?, ?)", kernel.repository, kernel.kernel, kernel.file_hash, Bounded(kernel.reason, kMaxNoteBytes),
            kernel.since != 0 ? kernel.since : Now());
}

Status Store::Ignore(const IgnoredKernel& kernel) {
  return state_->Write([&]() -> Status { return state_->PutIgnored(kernel); });
}

Status Store::Heed(const std::string& repository, const std::string& kernel) {
  return state_->Write([&]() -> Status {
    WW_TRY(state_->TouchDashboard(repository));
    return state_->Do("DELETE FROM ignored WHERE repository = ? AND kernel = ?", repository, kernel);
  });
}

Result<std::optional<IgnoredKernel>> Store::FindIgnored(const std::string& repository, const std::string& kernel) {
  const std::lock_guard guard(state_->mutex);
  WW_ASSIGN(SqliteRows rows, state_->Ask("SELECT file_hash, reason, since FROM ignored WHERE repository = ? AND kernel = ?", repository, kernel));
  WW_ASSIGN(const bool found, rows.Next());
  if (!found) return std::optional<IgnoredKernel>();
  return std::optional<IgnoredKernel>(IgnoredKernel{repository, kernel, rows.Text(0), rows.Text(1), rows.Integer(2)});
}

Result<std::map<std::string, int64_t>> Store::StaleDashboards() {
  const std::lock_guard guard(state_->mutex);
  std::map<std::string, int64_t> stale;
  WW_ASSIGN(SqliteRows rows, state_->Ask("SELECT name, dashboard_mark FROM repositories WHERE watched = 1 AND dashboard_mark <> dashboard_shown"));
  while (true) {
    WW_ASSIGN(const bool more, rows.Next());
    if (!more) return stale;
    stale[rows.Text(0)] = rows.Integer(1);
  }
}

Status Store::DashboardShown(const std::string& repository, int64_t mark, const std::string& digest) {
  return state_->Write([&]() -> Status {
    return state_->Do("UPDATE repositories SET dashboard_shown = ?, dashboard_digest = ? WHERE name = ?", mark, digest, repository);
  });
}

Result<std::string> Store::DashboardDigest(const std::string& repository) {
  const std::lock_guard guard(state_->mutex);
  WW_ASSIGN(SqliteRows rows, state_->Ask("SELECT dashboard_digest FROM repositories WHERE name = ?", repository));
  WW_ASSIGN(const bool found, rows.Next());
  return found ? rows.Text(0) : std::string();
}

Status Store::Spend(const std::string& repository, double gpu_minutes, double model_dollars) {
  return state_->Write([&]() -> Status {
    return state_->Do("INSERT INTO spend VALUES(?, ?, ?, ?) ON CONFLICT DO UPDATE SET gpu_minutes = gpu_minutes + excluded.gpu_minutes, "
                      "model_dollars = model_dollars + excluded.model_dollars", state_->Today(), repository, gpu_minutes, model_dollars);
  });
}

Result<UnixMs> Store::NightStarted(const std::string& repository) {
  const std::lock_guard guard(state_->mutex);
  return state_->Number("SELECT night FROM repositories WHERE name = ?", repository);
}

Status Store::StartNight(const std::string& repository, UnixMs due, const std::string& ref, const std::string& commit) {
  State& s = *state_;
  return s.Write([&]() -> Status {
    WW_ASSIGN(const int64_t last, s.Number("SELECT night FROM repositories WHERE name = ?", repository));
    if (last >= due) return {};
    WW_TRY(s.Do("UPDATE repositories SET night = ? WHERE name = ?", due, repository));
    if (commit.empty()) return {};  // only the point from which nights count
    WW_ASSIGN(const int64_t unfinished, s.Number("SELECT count(*) FROM jobs WHERE repository = ? AND kind = 'nightly' AND state IN ('queued', 'failed', 'running')", repository));
    if (unfinished > 0) return {};  // the last one is still at it
    return s.Do("INSERT INTO jobs(repository, ref, commit_id, kind, kernel, file, entry, content_key, file_hash, priority, state, again, answer_issue, answer_comment, queued) "
                "VALUES(?, ?, ?, 'nightly', '', '', '', ?, '', ?, 'queued', 0, 0, 0, ?)",
                repository, ref, commit, "night:" + FormatUnixMs(due), JobPriority::kNightly, s.Now());
  });
}

}  // namespace warpwright
