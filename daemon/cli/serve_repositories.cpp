// From the operator's file to repositories, and from a job to its explanation.
#include <fmt/format.h>

#include <algorithm>

#include "app/task_explanation.h"
#include "base/log.h"
#include "cli/serve.h"
#include "cli/session.h"
#include "cli/version.h"
#include "config/remote_text.h"
#include "report/explain.h"
#include "service/status_json.h"

namespace warpwright::cli {

namespace fs = std::filesystem;

std::string HostOf(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) {
    url.remove_prefix(scheme + 3);
    url = url.substr(0, url.find('/'));
    if (const size_t at = url.rfind('@'); at != std::string_view::npos) url.remove_prefix(at + 1);
    if (url.starts_with('[')) return std::string(url.substr(0, url.find(']') + 1));
    return std::string(url.substr(0, url.find(':')));
  }
  const size_t colon = url.find(':'), at = url.find('@');
  if (url.starts_with('/') || colon == std::string_view::npos || at == std::string_view::npos || at > colon) return {};
  return std::string(url.substr(at + 1, colon - at - 1));
}

std::vector<service::TrackedRepository> TrackedRepositoriesOf(const config::OperatorConfig& config,
                                                              const std::shared_ptr<forge::TokenSource>& tokens) {
  const std::string api_host = config.github ? HostOf(config.github->api) : std::string();
  std::vector<service::TrackedRepository> places;
  for (const config::WatchedRepository& watched : config.repositories) {
    service::TrackedRepository place;
    place.remote.url = watched.url;
    place.branches = watched.branches;
    place.publish = watched.publish;
    place.author = {config.author_name, config.author_email};
    const std::string host = HostOf(watched.url);
    const auto name = forge::RepositoryName::FromUrl(watched.url);
    if (tokens != nullptr && name && !host.empty() && (host == api_host || "api." + host == api_host)) {
      place.on_forge = *name;
      if (const auto kind = config::CheckRemoteUrl(watched.url); kind && *kind == config::RemoteKind::kHttp)
        place.remote.credential.token = forge::TokenFor(tokens, *name);
    }
    place.name = place.on_forge ? place.on_forge->Full() : watched.url;
    if (watched.ssh_key.given())
      if (auto path = config::SecretPath(watched.ssh_key)) place.remote.credential.ssh_key = *path;
    place.remote.credential.ssh_known_hosts = watched.known_hosts;
    place.folder = config.state / "repos" / service::FolderName(place.name, watched.url);
    places.push_back(std::move(place));
  }
  return places;
}

Result<std::string> FactsReader::Toolchain(const Session& session) {
  const std::lock_guard guard(mutex_);
  if (toolchain_.empty()) {
    WW_ASSIGN(toolchain_, session.Toolchain()());
  }
  return toolchain_;
}

Result<service::JobFacts> FactsReader::Read(const service::TrackedRepository& place, const service::Job& job) {
  CommonOptions common;
  common.repo = place.mirror().string();
  common.state = place.folder.string();
  common.device = job.device;
  common.worker = options_.worker;
  common.cache = options_.cache;
  common.kernels = {job.what.kernel};
  WW_ASSIGN(const Session session, Session::Open(common));
  const app::Workspace& workspace = session.workspace();
  const app::TargetDevice& device = workspace.device();
  WW_ASSIGN(const core::Manifest manifest, workspace.ManifestAt(job.commit));
  WW_ASSIGN(auto trajectory, workspace.OpenTrajectory());
  WW_ASSIGN(const memory::TrajectoryView view, trajectory.View(job.result.trajectory_task));
  const core::KernelSpec& spec = manifest.kernels.front();
  report::ExplainContext context;
  context.file = spec.file;
  context.entry = spec.entry;
  context.chip = device.chip;
  context.base_commit = job.commit;
  context.version = kVersion;
  WW_ASSIGN(context.toolchain, Toolchain(session));
  context.allow = spec.allow;
  context.tolerance = spec.tolerance;
  const auto text = [&](const std::string& commit) {
    const auto content = commit.empty() ? Result<std::optional<std::string>>(std::nullopt)
                                        : workspace.repository().Read(commit, spec.file);
    return content ? content->value_or("") : std::string();
  };
  context.original_text = text(job.commit);
  context.result_text = text(job.result.branch_commit);
  context.models = app::ModelUseOf(view);
  service::JobFacts facts;
  facts.explanation = report::Explain(view, context);
  facts.policy = manifest.pull_requests;
  if (device.gpu) {
    facts.provenance.device_uuid = device.gpu->uuid;
    facts.provenance.driver = app::DriverText(*device.gpu);
    facts.provenance.gpu_minutes = job.result.seconds / 60;
  }
  return facts;
}

Result<std::string> FactsReader::Trajectory(const service::TrackedRepository& place, const service::Job& job) const {
  const fs::path path = place.folder / "trajectory.sqlite";
  std::error_code error;
  if (!fs::exists(path, error)) return std::string();
  WW_ASSIGN(auto trajectory, warpwright::memory::Trajectory::Open(path));
  int64_t task = job.result.trajectory_task;
  if (task == 0) {  // it is running: the kernel's newest unfinished task
    WW_ASSIGN(const auto tasks, trajectory.Tasks());
    for (const auto& summary : tasks)
      if (task == 0 && summary.key.kernel == job.what.kernel && !summary.result) task = summary.id;
  }
  if (task == 0) return std::string();
  WW_ASSIGN(const memory::TrajectoryView view, trajectory.View(task));
  return service::TrajectoryJson(view);
}

}  // namespace warpwright::cli
