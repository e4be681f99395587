// config check, config print: the repository's file, the operator's file, and the effective value if both set it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/key_places.h"
#include "cli/serve.h"
#include "config/manifest.h"
#include "config/operator_file.h"
#include "config/yaml_reader.h"
#include "forge/app_auth.h"
#include "http/address.h"
#include "report/format.h"

namespace warpwright::cli {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// One line of `config print`.
struct Value {
  std::string key;
  json value;
  std::string source;  // "config.yml:11", "default"
};

class Printer {
 public:
  explicit Printer(bool effective) : effective_(effective) {}

  void Add(std::string key, json value, const Places& places) {
    std::string source = places.Of(key);
    if (source.empty() && !effective_) return;
    values_.push_back({std::move(key), std::move(value), source.empty() ? "default" : source});
  }
  // A value of the repository under a limit of the operator.
  template <typename T>
  void AddLimited(std::string key, T wanted, T holds, const Places& places, const std::string& limit,
                  const Places* limits) {
    if (!effective_) holds = wanted;
    if (holds == wanted || limits == nullptr) return Add(std::move(key), wanted, places);
    const std::string place = limits->Of(limit);
    std::string source = places.Of(key);
    values_.push_back({std::move(key), holds,
                       fmt::format("{} ({}); {} {}", limit, place.empty() ? "default" : place,
                                   source.empty() ? "default" : source + " requests", wanted)});
  }
  void AddRow(std::string key, json value, std::string source) {
    values_.push_back({std::move(key), std::move(value), std::move(source)});
  }

  void Print(bool as_json) const {
    if (as_json) {
      json rows = json::array();
      for (const Value& v : values_) rows.push_back({{"key", v.key}, {"value", v.value}, {"source", v.source}});
      std::puts(base::DumpJson(json({{"values", rows}}), 2).c_str());
      return;
    }
    size_t keys = 0, texts = 0;
    for (const Value& v : values_)
      keys = std::max(keys, v.key.size()), texts = std::max(texts, std::min<size_t>(Text(v).size(), 48));
    for (const Value& v : values_) fmt::print("{:{}}  {:{}}  # {}\n", v.key, keys, Text(v), texts, v.source);
  }

 private:
  static std::string Text(const Value& v) {
    if (v.value.is_string()) return v.value.get<std::string>();
    return base::DumpJson(v.value);
  }
  bool effective_;
  std::vector<Value> values_;
};

// Where a secret is, never its value.
std::string Describe(const config::SecretSource& source) {
  if (!source.environment.empty()) return fmt::format("(secret, from ${})", source.environment);
  if (source.file.is_absolute()) return fmt::format("(secret, in {})", source.file.string());
  return source.given() ? fmt::format("(secret, systemd's credential {})", source.file.string()) : "none";
}

void AddCaps(Printer& out, const std::string& prefix, const config::SpendCap& cap, const Places& places) {
  if (cap.dollars) out.Add(prefix + "dollars", *cap.dollars, places);
  if (cap.tokens) out.Add(prefix + "tokens", *cap.tokens, places);
  if (cap.calls) out.Add(prefix + "calls", *cap.calls, places);
  if (cap.minutes) out.Add(prefix + "minutes", *cap.minutes, places);
}

json PriceOf(const config::ModelSettings& model) {
  if (!model.price) return "unknown";
  if (!config::IsPaid(model)) return "unmetered";
  const auto dollars = [](int64_t nanodollars) { return static_cast<double>(nanodollars) / 1000; };
  return {{"input", dollars(model.price->input)},
          {"output", dollars(model.price->output)},
          {"cache_read", dollars(model.price->cache_read)},
          {"cache_write", dollars(model.price->cache_write)}};
}

void AddModel(Printer& out, const config::ModelSettings& model, const Places& places) {
  const std::string prefix = fmt::format("models.{}.", model.name);
  out.Add(prefix + "transport", std::string(Name(model.transport)), places);
  if (!model.model.empty()) out.Add(prefix + "model", model.model, places);
  if (!model.base_url.empty()) out.Add(prefix + "base_url", model.base_url, places);
  if (model.key.given()) out.Add(prefix + "key", Describe(model.key), places);
  if (!model.key_header.empty()) out.Add(prefix + "key_header", model.key_header, places);
  if (!model.command.empty()) out.Add(prefix + "command", model.command, places);
  if (!model.folder.empty()) out.Add(prefix + "folder", model.folder.string(), places);
  out.Add(prefix + "price", PriceOf(model), places);
}

void PrintOperator(const config::OperatorConfig& config, const Places& places, Printer& out) {
  out.Add("state", config.state.string(), places);
  out.Add("devices", config.devices, places);
  out.Add("listen.webhooks", config.listen_webhooks.empty() ? "off" : config.listen_webhooks, places);
  out.Add("listen.status", config.listen_status.empty() ? "off" : config.listen_status, places);
  out.Add("poll.every", config.poll_every.count(), places);
  out.Add("poll.at_most", config.poll_at_most.count(), places);
  if (config.github) {
    out.Add("github.api", config.github->api, places);
    if (config.github->token.given()) out.Add("github.token", Describe(config.github->token), places);
    if (!config.github->app_id.empty()) {
      out.Add("github.app.id", config.github->app_id, places);
      out.Add("github.app.key", Describe(config.github->app_key), places);
    }
    if (config.github->webhook_secret.given())
      out.Add("github.webhook_secret", Describe(config.github->webhook_secret), places);
  }
  out.Add("nights.at", config.nights_at.empty() ? "off" : config.nights_at, places);
  out.Add("nights.zone", config.nights_zone, places);
  out.Add("limits.max_minutes", config.limits.max_minutes, places);
  out.Add("limits.max_rounds", config.limits.max_rounds, places);
  out.Add("limits.max_open", config.limits.max_open, places);
  out.Add("limits.max_per_day", config.limits.max_per_day, places);
  out.Add("limits.queue", config.limits.queue, places);
  out.Add("limits.model_dollars_per_day", config.limits.model_dollars_per_day, places);
  AddCaps(out, "limits.models.call.", config.limits.models.call, places);
  AddCaps(out, "limits.models.task.", config.limits.models.task, places);
  AddCaps(out, "limits.models.repository_day.", config.limits.models.repository_day, places);
  AddCaps(out, "limits.models.day.", config.limits.models.day, places);
  for (const config::ModelSettings& model : config.models) AddModel(out, model, places);
  for (const auto& [role, agent] : config.agents)
    out.Add(fmt::format("agents.{}.{}", Name(role), Name(agent.order)), agent.engines, places);
  out.Add("author.name", config.author_name, places);
  out.Add("author.email", config.author_email, places);
  out.Add("log.format", config.json_logs ? "json" : "text", places);
  out.Add("log.level", config.log_level, places);
  for (size_t i = 0; i < config.repositories.size(); ++i) {
    const config::WatchedRepository& repository = config.repositories[i];
    const std::string prefix = fmt::format("repositories[{}].", i),
                      source = fmt::format("{}:{}", config.path, repository.line);
    out.AddRow(prefix + "url", repository.url, source);
    out.AddRow(prefix + "branches", repository.branches.empty() ? json("the remote's HEAD") : json(repository.branches),
               source);
    out.AddRow(prefix + "publish", std::string(Name(repository.publish)), source);
    if (repository.ssh_key.given()) out.AddRow(prefix + "ssh.key", Describe(repository.ssh_key), source);
    if (!repository.known_hosts.empty())
      out.AddRow(prefix + "ssh.known_hosts", repository.known_hosts.string(), source);
  }
}

void PrintRepository(const core::Manifest& manifest, const Places& places, const config::OperatorConfig* config,
                     const Places* limits, Printer& out) {
  const core::Policy policy = config ? config::Tighten(manifest.policy, config->limits) : manifest.policy;
  const core::PullRequestPolicy pulls =
      config ? config::Tighten(manifest.pull_requests, config->limits) : manifest.pull_requests;
  out.Add("policy.min_speedup", policy.min_speedup, places);
  out.AddLimited("policy.max_rounds", manifest.policy.max_rounds, policy.max_rounds, places, "limits.max_rounds",
                 limits);
  out.AddLimited("policy.max_minutes", manifest.policy.max_minutes, policy.max_minutes, places, "limits.max_minutes",
                 limits);
  out.Add("policy.max_repairs", policy.max_repairs, places);
  out.Add("pull_requests.enabled", pulls.enabled, places);
  out.Add("pull_requests.draft", pulls.draft, places);
  out.Add("pull_requests.labels", pulls.labels, places);
  out.Add("pull_requests.reviewers", pulls.reviewers, places);
  out.AddLimited("pull_requests.max_open", manifest.pull_requests.max_open, pulls.max_open, places, "limits.max_open",
                 limits);
  out.AddLimited("pull_requests.max_per_day", manifest.pull_requests.max_per_day, pulls.max_per_day, places,
                 "limits.max_per_day", limits);
  out.Add("nightly.enabled", manifest.nightly.enabled, places);
  out.Add("nightly.threshold", manifest.nightly.threshold, places);
  out.Add("nightly.branch", manifest.nightly.branch, places);
  for (const core::KernelSpec& kernel : manifest.kernels) {
    std::vector<std::string> cases;
    for (const core::Case& c : kernel.cases) cases.push_back(c.name);
    out.AddRow("kernels." + kernel.name, fmt::format("{} {}: {}", kernel.file, kernel.entry, fmt::join(cases, ", ")),
               fmt::format("{}:{}", config::kManifestName, kernel.line));
    if (!kernel.build.IsDefault())
      out.AddRow("kernels." + kernel.name + ".build", kernel.build.Text(),
                 fmt::format("{}:{}", config::kManifestName, kernel.build.line));
  }
}

constexpr const char* kAppKey = "github.app.key";

struct NamedSecret {
  std::string name;
  const config::SecretSource* source;
  config::SecretReaders readers = config::SecretReaders::kGroup;
};

// Those that the file names.
std::vector<NamedSecret> SecretsOf(const config::OperatorConfig& config) {
  std::vector<NamedSecret> secrets;
  if (config.github) {
    secrets = {{"github.token", &config.github->token},
               {kAppKey, &config.github->app_key},
               {"github.webhook_secret", &config.github->webhook_secret}};
  }
  for (const config::WatchedRepository& repository : config.repositories)
    secrets.push_back({fmt::format("the key of line {}", repository.line), &repository.ssh_key});
  for (const config::ModelSettings& model : config.models)
    secrets.push_back({fmt::format("models.{}.key", model.name), &model.key, config::SecretReaders::kOwner});
  std::erase_if(secrets, [](const NamedSecret& secret) { return !secret.source->given(); });
  return secrets;
}

// Reads each once, and discards it.
Status CheckSecrets(const std::vector<NamedSecret>& secrets) {
  config::Diagnostics diagnostics;
  const auto check = [&](const NamedSecret& named) -> Status {
    WW_ASSIGN(const std::string secret, config::ReadSecret(*named.source, named.readers));
    // `serve` does not begin with a key that signs nothing.
    if (named.name == kAppKey) WW_TRY(forge::SignAppJwt(secret, "check", std::chrono::system_clock::now()));
    return {};
  };
  for (const NamedSecret& secret : secrets)
    if (const Status checked = check(secret); !checked) {
      Error error = checked.error();
      error.message = secret.name + ": " + error.message;
      diagnostics.Add(std::move(error));
    }
  return diagnostics.ToStatus();
}

// Who checks may not be the daemon's user, who alone can read them: so they are read only where that is asked for, and
// what `serve` may still refuse is said.
std::string UnreadText(const std::vector<std::string>& unread) {
  return unread.empty() ? ""
                        : fmt::format("; not read: {} (--secrets reads what the daemon's user must be able to read)",
                                      fmt::join(unread, ", "));
}

Error AtKey(const config::OperatorConfig& config, const Places& places, const char* key, Error error) {
  error.message = fmt::format("{}: {}", key, error.message);
  error.file = config.path;
  error.line = places.LineOf(key);
  return error;
}

// Makes the folder, and leaves things as they were. Who checks may lack rights that the daemon's user has.
Status TryToMake(const fs::path& folder) {
  std::error_code error, ignored;
  std::vector<fs::path> absent;
  for (fs::path at = fs::absolute(folder); !fs::exists(at, ignored) && at.has_relative_path(); at = at.parent_path())
    absent.push_back(at);
  fs::create_directories(folder, error);
  for (const fs::path& made : absent) fs::remove(made, ignored);
  const bool rights = error == std::errc::permission_denied || error == std::errc::operation_not_permitted ||
                      error == std::errc::read_only_file_system;
  if (!error || rights) return {};
  return Fail(ErrorCode::kEnvironment, fmt::format("create {}: {}", folder.string(), error.message()),
              "name a folder that the daemon can make and write");
}

// What `serve` would find here. A port is not asked for: the daemon that is running has it.
Status TryOnThisMachine(const config::OperatorConfig& config, const Places& places) {
  config::Diagnostics diagnostics;
  if (const Status made = TryToMake(config.state); !made) diagnostics.Add(AtKey(config, places, "state", made.error()));
  for (const auto& [key, address] :
       {std::pair("listen.webhooks", config.listen_webhooks), std::pair("listen.status", config.listen_status)}) {
    if (address.empty()) continue;
    WW_ASSIGN(http::HostPort place, http::ParseHostPort(address));
    place.port = 0;
    if (const auto listening = http::Listen(place); !listening)
      diagnostics.Add(AtKey(config, places, key, listening.error()));
  }
  return diagnostics.ToStatus();
}

// The manifest's folder: --repo itself, or its root according to git.
Result<fs::path> FindManifest(const std::string& repo) {
  std::error_code error;
  if (fs::exists(fs::path(repo) / config::kManifestName, error)) return fs::path(repo);
  WW_ASSIGN(const repo::Repository repository, OpenRepository(repo));
  return repository.root();
}

}  // namespace

Result<int> RunConfig(const ConfigOptions& options) {
  std::optional<config::OperatorConfig> config;
  std::optional<Places> config_places;
  if (!options.operator_file.empty()) {
    WW_ASSIGN(config, config::LoadOperatorConfig(options.operator_file));
    WW_ASSIGN(config_places, Places::Read(options.operator_file, options.operator_file));
    WW_TRY(CheckServable(*config));
  }
  // With an operator's file, the repository is read only if it was requested.
  std::optional<core::Manifest> manifest;
  std::optional<Places> manifest_places;
  if (!config || !options.repo.empty()) {
    WW_ASSIGN(const fs::path root, FindManifest(options.repo.empty() ? "." : options.repo));
    WW_ASSIGN(manifest, config::LoadManifest(root));
    WW_ASSIGN(manifest_places, Places::Read(root / config::kManifestName, std::string(config::kManifestName)));
  }
  if (config && options.action == ConfigAction::kCheck) WW_TRY(TryOnThisMachine(*config, *config_places));
  const std::vector<NamedSecret> secrets = config ? SecretsOf(*config) : std::vector<NamedSecret>();
  std::vector<std::string> unread;
  if (options.secrets) WW_TRY(CheckSecrets(secrets));
  else
    for (const NamedSecret& secret : secrets) unread.push_back(secret.name);
  if (options.action == ConfigAction::kPrint) {
    Printer printer(options.effective);
    if (config) PrintOperator(*config, *config_places, printer);
    if (manifest)
      PrintRepository(*manifest, *manifest_places, config ? &*config : nullptr, config ? &*config_places : nullptr,
                      printer);
    printer.Print(options.json);
    return kExitDone;
  }
  if (options.json) {
    json files = json::array();
    if (config) files.push_back({{"file", options.operator_file}, {"ok", true}, {"unread_secrets", unread}});
    if (manifest) files.push_back({{"file", manifest->path}, {"ok", true}});
    std::puts(base::DumpJson(json({{"ok", true}, {"files", files}}), 2).c_str());
    return kExitDone;
  }
  if (config)
    fmt::print("{}: valid: {}, {}{}\n", options.operator_file,
               report::Plural(static_cast<int>(config->repositories.size()), "repository", "repositories"),
               report::Plural(static_cast<int>(config->devices.size()), "device"),
               options.secrets ? ", every secret can be read" : UnreadText(unread));
  if (manifest)
    fmt::print("{}: valid: {}\n", manifest->path, report::Plural(static_cast<int>(manifest->kernels.size()), "kernel"));
  return kExitDone;
}

}  // namespace warpwright::cli
