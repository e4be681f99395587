#include "cli/serve.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/file.h"
#include "base/log.h"
#include "cli/exit_code.h"
#include "cli/key_places.h"
#include "cli/models.h"
#include "cli/session.h"
#include "cli/version.h"
#include "config/chip_file.h"
#include "core/device_name.h"
#include "http/client.h"
#include "nights/cron.h"
#include "service/daemon.h"
#include "service/endpoints.h"
#include "service/job_runner.h"
#include "service/notify.h"

namespace warpwright::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kProbeEvery = 5s, kCountEvery = 60s;

// Secrets are in this process's memory: no other process may read it, and no core file may contain it.
void HideMemory() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0);
}

// Some thirty threads, each of which allocates little: an arena for each of them keeps what that thread once needed,
// and the process grows for days until all have seen their worst. Few arenas share it; and a threshold that is set does
// not rise with the largest buffer that was ever freed.
void KeepHeapSmall() {
  ::mallopt(M_ARENA_MAX, 2);
  ::mallopt(M_MMAP_THRESHOLD, 256 << 10);
  ::mallopt(M_TRIM_THRESHOLD, 256 << 10);
}

double ResidentBytes() {
  const auto statm = base::ReadFile("/proc/self/statm");
  if (!statm) return 0;
  const size_t space = statm->find(' ');
  return space == std::string::npos ? 0
                                    : std::atof(statm->c_str() + space) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

int64_t CountLines(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 65536> buffer;
  int64_t lines = 0;
  while (file.read(buffer.data(), buffer.size()) || file.gcount() > 0)
    lines += std::count(buffer.data(), buffer.data() + file.gcount(), '\n');
  return lines;
}

class Server {
 public:
  Server(const ServeOptions& options, config::OperatorConfig config)
      : options_(options), config_(std::move(config)), facts_(options) {}

  Result<int> Run() {
    service::StoreLimits limits;
    limits.queue = config_.limits.queue;
    WW_ASSIGN(store_, service::Store::Open(config_.state, clock_, limits));
    if (config_.github) WW_TRY(ConnectGithub());
    service::ProcessJobRunner runner({fs::canonical("/proc/self/exe").string()}, ChildOptions(), JobModels());
    const service::PipelinePorts ports{
        .store = *store_,
        .runner = runner,
        .clock = clock_,
        .forge = github_.get(),
        .conversation = github_.get(),
        .read_facts = [this](const service::TrackedRepository& place, const service::Job& job) {
          return facts_.Read(place, job);
        }};
    pipeline_ = std::make_unique<service::Pipeline>(ports, Settings());
    WW_TRY(pipeline_->Apply(Settings()));

    service::DaemonOptions daemon_options;
    daemon_options.devices = config_.devices;
    daemon_options.nights_at = config_.nights_at;
    daemon_options.nights_zone = config_.nights_zone;
    service::DaemonHooks hooks;
    hooks.ready = [this] {
      service::NotifyReady(fmt::format("watching {} repositories", config_.repositories.size()));
    };
    hooks.status_line = [](const std::string& line) { service::NotifyStatus(line); };
    hooks.watchdog = [] { service::NotifyAlive(); };
    hooks.draining = [this] {
      stopping_ = true;
      service::NotifyStopping("draining");
      if (endpoints_) endpoints_->RefuseWebhooks();
    };
    hooks.reload = [this]() -> Status {
      service::NotifyReloading();
      const Status done = Reload();
      service::NotifyReady(done ? "reloaded" : "the new configuration is invalid; the old one remains in effect");
      return done;
    };
    WW_ASSIGN(watcher_, repo::RefWatcher::Create(
                            {config_.poll_every, config_.poll_at_most, static_cast<uint64_t>(::getpid())}, clock_));
    daemon_ = std::make_unique<service::Daemon>(daemon_options, *store_, *pipeline_, *watcher_, clock_, hooks);
    WW_TRY(StartEndpoints());
    const Status done = daemon_->Run();
    if (endpoints_) endpoints_->Stop();
    if (!done) return Fail(done.error());
    return kExitDone;
  }

 private:
  std::vector<std::string> ChildOptions() const {
    std::vector<std::string> extra;
    if (!options_.worker.empty()) extra.insert(extra.end(), {"--worker", options_.worker});
    if (!options_.cache.empty()) extra.insert(extra.end(), {"--cache", options_.cache});
    return extra;
  }
  // Jobs read the file themselves, and get the keys from here: a key may be in this process's environment alone.
  service::ModelAccess JobModels() const {
    if (!AsksModels(config_.agents)) return {};
    return {.options = {"--config", fs::absolute(options_.config).string(), "--model-keys"},
            .keys = [this]() -> Result<std::string> {
              WW_ASSIGN(const config::OperatorConfig config, config::LoadOperatorConfig(options_.config));
              return EncodeModelKeys(config);
            }};
  }
  service::PipelineSettings Settings() const {
    return {TrackedRepositoriesOf(config_, tokens_), config_.limits, config_.devices, kVersion};
  }

  void Sleep(std::chrono::milliseconds time) const {
    const auto until = clock_.Steady() + time;
    while (!stopping_ && clock_.Steady() < until)
      std::this_thread::sleep_for(std::min<std::chrono::milliseconds>(time, 50ms));
  }

  Status ConnectGithub() {
    const config::GithubAccess& access = *config_.github;
    const auto stopping = [this] { return stopping_.load(); };
    const auto sleep = [this](std::chrono::milliseconds time) { Sleep(time); };
    http::ClientOptions http;
    http.user_agent = std::string("warpwright/") + kVersion;
    http.stopping = stopping;
    WW_ASSIGN(http_, http::CurlClient::Create(http));
    const auto read = [](const config::SecretSource& source) {
      return [source]() -> Result<std::string> {
        auto secret = config::ReadSecret(source);
        if (secret) base::RegisterSecret(*secret);
        return secret;
      };
    };
    if (access.app_id.empty()) {
      // It may come later, as secrets of some machines do; until then /readyz says so.
      if (const auto token = config::ReadSecret(access.token); !token) base::LogError("token_missing", token.error());
      tokens_ = forge::FixedToken(read(access.token));
    } else {
      forge::AppOptions app;
      app.api = access.api;
      app.app_id = access.app_id;
      app.private_key = read(access.app_key);
      app.sleep = sleep;
      app.stopping = stopping;
      WW_ASSIGN(tokens_, forge::AppTokens(app, *http_, clock_));
    }
    forge::GithubOptions options;
    options.api = access.api;
    options.cache = config_.state / "etags";
    options.sleep = sleep;
    options.stopping = stopping;
    options.warn = [](const std::string& text) { base::Log(base::LogLevel::kWarning, "github", text); };
    options.observe = [this](const forge::GithubCall& call) {
      store_->Count("github_requests_total", call.limited       ? "limited"
                                             : call.status == 0 ? "no_answer"
                                                                : std::to_string(call.status));
      if (call.remaining >= 0) github_remaining_ = call.remaining;
    };
    forge::UseTokens(tokens_, options);
    WW_ASSIGN(github_, forge::GithubClient::Create(options, *http_, clock_));
    if (!access.app_id.empty()) FindOwnAuthor();
    TakeOwnAuthor(config_);
    return {};
  }

  // Where nothing else is configured, an App's commits are its own.
  void FindOwnAuthor() {
    for (const service::TrackedRepository& place : TrackedRepositoriesOf(config_, tokens_)) {
      if (!place.on_forge) continue;
      auto author = github_->OwnAuthor(*place.on_forge);
      if (author) own_author_ = repo::Signature{std::move(author->name), std::move(author->email)};
      else base::LogError("no_own_author", author.error());
      return;
    }
  }
  void TakeOwnAuthor(config::OperatorConfig& config) const {
    const config::OperatorConfig unset;
    if (!own_author_ || config.author_name != unset.author_name || config.author_email != unset.author_email) return;
    config.author_name = own_author_->name;
    config.author_email = own_author_->email;
  }

  Result<std::string> WebhookSecret() const {
    if (!config_.github || !config_.github->webhook_secret.given()) return std::string();
    auto secret = config::ReadSecret(config_.github->webhook_secret);
    if (secret) base::RegisterSecret(*secret);
    return secret;
  }

  Status StartEndpoints() {
    if (config_.listen_webhooks.empty() && config_.listen_status.empty()) return {};
    service::EndpointOptions options;
    options.webhooks = config_.listen_webhooks;
    options.status = config_.listen_status;
    WW_ASSIGN(options.webhook_secret, WebhookSecret());
    service::EndpointHooks hooks;
    hooks.accept = [this](const service::Delivery& delivery) -> Result<bool> {
      auto accepted = store_->RememberDelivery(delivery.id, delivery.event, delivery.body);
      if (accepted && *accepted) daemon_->Wake();
      return accepted;
    };
    hooks.snapshot = [this] { return Snapshot(); };
    hooks.trajectory = [this](int64_t id) -> Result<std::string> {
      const auto job = store_->FindJob(id);
      if (!job) return std::string();
      for (const service::TrackedRepository& place : pipeline_->Repositories())
        if (place.name == job->repository) return facts_.Trajectory(place, *job);
      return std::string();
    };
    hooks.heartbeat_age = [this] { return daemon_->HeartbeatAge(); };
    WW_ASSIGN(endpoints_, service::Endpoints::Start(options, hooks));
    base::Log(base::LogLevel::kInfo, "listening", "endpoints are up",
              {{"webhook_port", endpoints_->webhook_port()}, {"status_port", endpoints_->status_port()}});
    return {};
  }

  service::DaemonSnapshot Snapshot() {
    service::DaemonSnapshot snapshot = store_->Snapshot();
    snapshot.version = kVersion;
    snapshot.started = started_;
    snapshot.gauges["resident_bytes"] = ResidentBytes();
    if (github_remaining_ >= 0) snapshot.gauges["github_rate_remaining"] = static_cast<double>(github_remaining_);
    const auto resting = pipeline_->Resting();
    snapshot.gauges["devices_resting"] = static_cast<double>(resting.size());
    if (resting.size() == config_.devices.size())
      snapshot.not_ready.insert(snapshot.not_ready.end(), resting.begin(), resting.end());
    if (daemon_->draining()) snapshot.not_ready.emplace_back("draining");
    const std::lock_guard guard(probe_mutex_);
    if (const auto now = clock_.Steady(); now >= next_probe_) {
      next_probe_ = now + kProbeEvery;
      problems_.clear();
      if (!store_->Writable()) problems_.push_back("the state folder cannot be written");
      if (config_.github && config_.github->app_id.empty() && !config::ReadSecret(config_.github->token))
        problems_.push_back("the token cannot be read");
    }
    if (const auto now = clock_.Steady(); now >= next_count_) {
      next_count_ = now + kCountEvery;
      experiences_ = 0;
      for (const service::TrackedRepository& place : pipeline_->Repositories())
        experiences_ += CountLines(place.folder / "experience.jsonl");
    }
    snapshot.experiences = experiences_;
    snapshot.not_ready.insert(snapshot.not_ready.end(), problems_.begin(), problems_.end());
    snapshot.ready = snapshot.not_ready.empty();
    return snapshot;
  }

  // Applies only what can change without a restart; an invalid configuration changes nothing.
  Status Reload() {
    WW_ASSIGN(config::OperatorConfig next, config::LoadOperatorConfig(options_.config));
    const auto same_access = [](const std::optional<config::GithubAccess>& a,
                                const std::optional<config::GithubAccess>& b) {
      return a.has_value() == b.has_value() && (!a || (a->api == b->api && a->app_id == b->app_id));
    };
    if (next.state != config_.state || next.devices != config_.devices ||
        next.listen_webhooks != config_.listen_webhooks || next.listen_status != config_.listen_status ||
        next.nights_at != config_.nights_at || next.nights_zone != config_.nights_zone ||
        next.poll_every != config_.poll_every || next.poll_at_most != config_.poll_at_most ||
        AsksModels(next.agents) != AsksModels(config_.agents) || !same_access(next.github, config_.github))
      return Fail(Error{
          .code = ErrorCode::kConfig,
          .message =
              "state, devices, listen, poll, nights, github's api and app, and whether agents ask models cannot change "
              "while the daemon runs",
          .file = options_.config,
          .remedy = "restart the daemon; running jobs are resumed"});
    {
      const std::lock_guard guard(probe_mutex_);
      TakeOwnAuthor(next);
      config_ = std::move(next);
    }
    if (endpoints_) {
      WW_ASSIGN(std::string secret, WebhookSecret());
      endpoints_->SetWebhookSecret(std::move(secret));
    }
    if (const auto level = base::ParseLogLevel(config_.log_level))
      base::ConfigureLog(config_.json_logs ? base::LogFormat::kJson : base::LogFormat::kText, *level);
    return pipeline_->Apply(Settings());
  }

  const ServeOptions options_;
  config::OperatorConfig config_;
  const base::SystemClock clock_;
  const std::string started_ = base::FormatUtc(clock_.Now());
  FactsReader facts_;
  std::atomic<bool> stopping_{false};
  std::atomic<int64_t> github_remaining_{-1};
  std::unique_ptr<service::Store> store_;
  std::unique_ptr<http::CurlClient> http_;
  std::shared_ptr<forge::TokenSource> tokens_;
  std::optional<repo::Signature> own_author_;
  std::unique_ptr<forge::GithubClient> github_;
  std::unique_ptr<service::Pipeline> pipeline_;
  std::unique_ptr<repo::RefWatcher> watcher_;
  std::unique_ptr<service::Daemon> daemon_;
  std::unique_ptr<service::Endpoints> endpoints_;
  std::mutex probe_mutex_;
  std::chrono::steady_clock::time_point next_probe_{}, next_count_{};
  std::vector<std::string> problems_;
  int64_t experiences_ = 0;
};

}  // namespace

Status CheckServable(const config::OperatorConfig& config) {
  const auto refuse = [&](const char* key, Error error) {
    error.code = ErrorCode::kConfig;
    error.message = fmt::format("{}: {}", key, error.message);
    if (error.file.empty()) {
      error.file = config.path;
      if (const auto places = Places::Read(config.path, config.path)) error.line = places->LineOf(key);
    }
    return Fail(std::move(error));
  };
  for (const std::string& device : config.devices) {
    if (const Status known = CheckDeviceName(device); !known) return refuse("devices", known.error());
    if (!core::IsSimulated(device)) continue;
    if (const auto chip = config::LoadChip(device.substr(4)); !chip) return refuse("devices", chip.error());
  }
  service::EndpointOptions endpoints;
  endpoints.webhooks = config.listen_webhooks;
  endpoints.status = config.listen_status;
  if (const Status valid = service::Endpoints::CheckAddresses(endpoints); !valid)
    return refuse("listen", valid.error());
  if (config.nights_at.empty()) return {};
  if (const auto nights = nights::ParseCron(config.nights_at, config.nights_zone); !nights)
    return refuse("nights", nights.error());
  return {};
}

Result<int> RunServe(const ServeOptions& options) {
  HideMemory();
  KeepHeapSmall();
  service::Daemon::BlockSignals();
  WW_ASSIGN(config::OperatorConfig config, config::LoadOperatorConfig(options.config));
  base::ConfigureLog(config.json_logs ? base::LogFormat::kJson : base::LogFormat::kText,
                     base::ParseLogLevel(config.log_level).value_or(base::LogLevel::kInfo));
  WW_TRY(CheckServable(config));
  Server server(options, std::move(config));
  return server.Run();
}

}  // namespace warpwright::cli
