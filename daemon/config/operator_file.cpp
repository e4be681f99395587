#include "config/operator_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/fields.h"
#include "base/file.h"
#include "base/hash.h"
#include "config/chip_file.h"
#include "config/remote_text.h"
#include "config/yaml_reader.h"
#include "core/device_name.h"

namespace warpwright::config {
namespace {

constexpr uint64_t kMaxFileBytes = 256 << 10;
constexpr size_t kMaxRepositories = 1000, kMaxDevices = 64, kMaxBranches = 100;

// Reads one operator file. No message ever repeats a value that is in the position of a secret: users paste tokens
// there.
class OperatorReader {
 public:
  explicit OperatorReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void Read(const YamlNode& root, OperatorConfig& config) {
    YamlObject map(root, "an operator file",
                   {"version", "state", "devices", "listen", "poll", "github", "nights", "limits", "author", "log",
                    "models", "agents", "repositories"},
                   diagnostics_);
    if (!root.IsMap()) return;
    map.Integer("version", 1, 1);
    if (const YamlNode* state = map.Find("state")) config.state = ReadPath(*state, "'state'");
    if (const YamlNode* devices = map.Require("devices")) ReadDevices(*devices, config);
    if (const YamlNode* github = map.Find("github")) config.github = ReadGithub(*github);
    if (const YamlNode* listen = map.Find("listen")) ReadListen(*listen, config);
    if (const YamlNode* poll = map.Find("poll")) ReadPoll(*poll, config);
    if (const YamlNode* nights = map.Find("nights")) ReadNights(*nights, config);
    if (const YamlNode* limits = map.Find("limits")) ReadLimits(*limits, config.limits);
    if (const YamlNode* models = map.Find("models")) config.models = ReadModels(*models, diagnostics_);
    if (const YamlNode* agents = map.Find("agents")) config.agents = ReadAgents(*agents, config.models, diagnostics_);
    CheckModelPrices(root, config);
    if (const YamlNode* author = map.Find("author")) ReadAuthor(*author, config);
    if (const YamlNode* log = map.Find("log")) ReadLog(*log, config);
    if (const YamlNode* repositories = map.Require("repositories")) ReadRepositories(*repositories, config);
  }

 private:
  void Note(const YamlNode& node, std::string message, std::string remedy = {}) {
    diagnostics_.Add(node, std::move(message), std::move(remedy));
  }
  std::optional<std::string> Text(const YamlNode& node) { return diagnostics_.Take(node.AsString()); }

  std::filesystem::path ReadPath(const YamlNode& node, std::string_view what) {
    const auto text = Text(node);
    if (!text) return {};
    const std::filesystem::path path = std::filesystem::path(*text).lexically_normal();
    if (!path.is_absolute()) Note(node, fmt::format("{} must be an absolute path", what), "begin it with '/'");
    return path;
  }

  GithubAccess ReadGithub(const YamlNode& node) {
    GithubAccess access;
    YamlObject map(node, "github", {"api", "token", "app", "webhook_secret"}, diagnostics_);
    if (!node.IsMap()) return access;
    if (const YamlNode* api = map.Find("api"))
      if (auto text = Text(*api)) {
        if (Status good = CheckApiUrl(*text); !good) Note(*api, good.error().message, good.error().remedy);
        while (text->ends_with('/')) text->pop_back();
        access.api = *text;
      }
    const YamlNode *token = map.Find("token"), *app = map.Find("app");
    if ((token != nullptr) == (app != nullptr))
      Note(node, token ? "'token' and 'app' are given; one of them is used" : "github needs 'token' or 'app'",
           "an App's tokens are limited to what they are for; see config/README.md");
    if (token != nullptr) access.token = ReadSecretSource(*token, "the token", diagnostics_);
    if (app != nullptr) {
      YamlObject values(*app, "an app", {"id", "key"}, diagnostics_);
      access.app_id = values.String("id");
      if (const YamlNode* id = values.Find("id");
          id && !access.app_id.empty() && (!OnlyHas(access.app_id, ".") || access.app_id.size() > 64))
        Note(*id, "'id' must be an App's client id or number", "it is on the App's settings page");
      if (const YamlNode* key = values.Require("key"))
        access.app_key = ReadSecretSource(*key, "the App's private key", diagnostics_);
    }
    if (const YamlNode* secret = map.Find("webhook_secret"))
      access.webhook_secret = ReadSecretSource(*secret, "the webhook's secret", diagnostics_);
    return access;
  }

  // --- machine ---

  void ReadDevices(const YamlNode& node, OperatorConfig& config) {
    if (!node.IsList() || node.items().empty() || node.items().size() > kMaxDevices)
      return Note(node, fmt::format("'devices' must be a list of 1 to {} devices", kMaxDevices),
                  "for example [cuda:0], or [sim:h200] without a GPU");
    const std::vector<std::string> chips = ChipIds();
    const std::vector<std::string_view> names(chips.begin(), chips.end());
    std::set<std::string> seen;
    for (const YamlNode& item : node.items()) {
      const auto text = Text(item);
      if (!text) continue;
      const auto name = core::DeviceName::Parse(*text);
      if (!name)
        Note(item, fmt::format("'{}' is not a device", text->substr(0, 40)),
             "write cuda:0, cuda:1, " + SimulatedDevices());
      else if (name->kind == core::DeviceKind::kSim && std::find(names.begin(), names.end(), name->chip) == names.end())
        diagnostics_.Add(UnknownName(item, "chip", name->chip, names));
      std::string device = name ? name->Text() : *text;
      if (!seen.insert(device).second)
        Note(item, fmt::format("'{}' is listed twice", device.substr(0, 40)), "each device does one job at a time");
      config.devices.push_back(std::move(device));
    }
  }

  std::string ReadAddress(const YamlNode& node, std::string_view key) {
    const auto text = Text(node);
    if (!text || *text == "off") return {};
    const size_t colon = text->rfind(':');
    int port = -1;
    const char* end = text->data() + text->size();
    const bool good = colon != text->npos && colon > 0 && colon + 1 < text->size() &&
                      std::from_chars(text->data() + colon + 1, end, port).ptr == end && port >= 0 && port <= 65535 &&
                      OnlyHas(std::string_view(*text).substr(0, colon), ".-:[]");
    if (!good)
      Note(node, fmt::format("'{}' must be host:port or off", key),
           "for example \"127.0.0.1:8421\"; port 0 takes a free one");
    return *text;
  }

  void ReadListen(const YamlNode& node, OperatorConfig& config) {
    YamlObject map(node, "listen", {"webhooks", "status"}, diagnostics_);
    const YamlNode* webhooks = map.Find("webhooks");
    if (webhooks != nullptr) config.listen_webhooks = ReadAddress(*webhooks, "webhooks");
    if (const YamlNode* status = map.Find("status")) config.listen_status = ReadAddress(*status, "status");
    if (config.listen_webhooks.empty()) return;
    if (!config.github || !config.github->webhook_secret.given())
      Note(*webhooks, "webhooks need github.webhook_secret",
           "without it anybody could send them; add it, or leave 'webhooks' out and poll");
    if (config.listen_webhooks == config.listen_status && !config.listen_status.ends_with(":0"))
      Note(*webhooks, "'webhooks' and 'status' listen on the same address",
           "the status page and /metrics are not for the public: give it another port");
  }

  void ReadPoll(const YamlNode& node, OperatorConfig& config) {
    YamlObject map(node, "poll", {"every", "at_most"}, diagnostics_);
    config.poll_every = std::chrono::seconds(map.IntegerOr("every", config.poll_every.count(), 1, 86'400));
    config.poll_at_most = std::chrono::seconds(
        map.IntegerOr("at_most", std::max(config.poll_at_most, config.poll_every).count(), 1, 86'400));
    if (config.poll_at_most < config.poll_every)
      Note(*map.Find("at_most"), "'at_most' is shorter than 'every'",
           "it is what 'every' grows to while nothing happens");
  }

  // nights/cron.h parses the fields; this only rejects what no schedule can contain.
  void ReadNights(const YamlNode& node, OperatorConfig& config) {
    YamlObject map(node, "nights", {"at", "zone"}, diagnostics_);
    if (!node.IsMap()) return;
    config.nights_at = map.String("at");
    config.nights_zone = map.StringOr("zone", config.nights_zone);
    const YamlNode *at = map.Find("at"), *zone = map.Find("zone");
    if (at && !config.nights_at.empty() && (!OnlyHas(config.nights_at, "*/,-@ ") || config.nights_at.size() > 200))
      Note(*at, "'at' is not a cron schedule", "five fields: minute hour day month weekday, as in \"23 2 * * *\"");
    if (zone && !config.nights_zone.empty() && (!OnlyHas(config.nights_zone, "/_+-") || config.nights_zone.size() > 64))
      Note(*zone, "'zone' is not a time zone", "as in Europe/Berlin, or UTC");
  }

  void ReadLimits(const YamlNode& node, Ceilings& limits) {
    YamlObject map(node, "limits",
                   {"max_minutes", "max_rounds", "max_open", "max_per_day", "queue", "model_dollars_per_day", "models"},
                   diagnostics_);
    limits.max_minutes = map.DoubleOr("max_minutes", limits.max_minutes, 0.01, 100'000);
    limits.max_rounds = static_cast<int>(map.IntegerOr("max_rounds", limits.max_rounds, 1, 10'000));
    limits.max_open = static_cast<int>(map.IntegerOr("max_open", limits.max_open, 0, 100));
    limits.max_per_day = static_cast<int>(map.IntegerOr("max_per_day", limits.max_per_day, 0, 1000));
    limits.queue = static_cast<int>(map.IntegerOr("queue", limits.queue, 1, 100'000));
    limits.model_dollars_per_day = map.DoubleOr("model_dollars_per_day", limits.model_dollars_per_day, 0, 100'000);
    if (const YamlNode* models = map.Find("models")) limits.models = ReadModelCaps(*models, diagnostics_);
  }

  // What a limit in dollars cannot hold is said here, and not when the first question is asked.
  void CheckModelPrices(const YamlNode& root, const OperatorConfig& config) {
    const YamlNode* const models = root.Find("models");
    for (const ModelSettings& model : config.models) {
      const YamlNode* const node = models->Find(model.name);
      if (node == nullptr || !IsPaid(model) || AsksNobody(model.transport)) continue;
      if (!model.price)
        Note(*node, fmt::format("the price of '{}' is not known, so that no limit in dollars holds", model.model),
             "add price: {input: ..., output: ...} in dollars per million tokens, or price: unmetered");
      else if (config.limits.model_dollars_per_day == 0)
        Note(*node, "this model costs money, and limits.model_dollars_per_day is 0",
             "set that limit; with 0 no question is sent");
    }
  }

  void ReadAuthor(const YamlNode& node, OperatorConfig& config) {
    YamlObject map(node, "author", {"name", "email"}, diagnostics_);
    config.author_name = map.StringOr("name", config.author_name);
    config.author_email = map.StringOr("email", config.author_email);
    for (const auto& [key, value] : node.entries())
      if (value.text().find_first_of("<>\n\r") != std::string::npos || value.text().size() > 200)
        Note(value, fmt::format("'{}' must be one short line without < and >", key.text().substr(0, 40)),
             "it becomes the author of commits");
    const YamlNode* email = map.Find("email");
    if (email != nullptr && config.author_email.find_first_of("@<>") == std::string::npos)
      Note(*email, "this is no mail address", "write it as name@example.com");
  }

  void ReadLog(const YamlNode& node, OperatorConfig& config) {
    YamlObject map(node, "log", {"format", "level"}, diagnostics_);
    config.json_logs = Choice(map, "format", {"json", "text"}, "json") == "json";
    config.log_level = Choice(map, "level", {"debug", "info", "warning", "error"}, config.log_level);
  }

  std::string Choice(const YamlObject& map, std::string_view key, std::initializer_list<std::string_view> choices,
                     std::string fallback) {
    std::string value = map.StringOr(key, fallback);
    if (std::find(choices.begin(), choices.end(), value) != choices.end()) return value;
    if (!value.empty())
      diagnostics_.Add(UnknownName(*map.Find(key), key, value, std::span(choices.begin(), choices.size())));
    return fallback;
  }

  // --- repositories ---

  void ReadRepositories(const YamlNode& node, OperatorConfig& config) {
    if (!node.IsList() || node.items().empty() || node.items().size() > kMaxRepositories)
      return Note(node, fmt::format("'repositories' must be a list of 1 to {} repositories", kMaxRepositories),
                  "begin each with '- url: ...'");
    std::set<std::string> seen;
    for (const YamlNode& item : node.items()) {
      WatchedRepository repository = ReadRepository(item, config.github.has_value());
      if (!repository.url.empty() && !seen.insert(repository.url).second)
        Note(*item.Find("url"), "this repository is listed twice", "list its branches in one entry");
      config.repositories.push_back(std::move(repository));
    }
  }

  WatchedRepository ReadRepository(const YamlNode& node, bool has_github) {
    WatchedRepository repository;
    repository.line = node.line();
    YamlObject map(node, "a repository", {"url", "branches", "ssh", "publish"}, diagnostics_);
    if (!node.IsMap()) return repository;
    repository.url = map.String("url");
    bool local = false;
    if (const YamlNode* url = map.Find("url"); url && !repository.url.empty()) {
      const auto kind = CheckRemoteUrl(repository.url);
      if (!kind) Note(*url, kind.error().message, kind.error().remedy);
      local = kind && *kind == RemoteKind::kLocal;
      if (const YamlNode* ssh = map.Find("ssh"); ssh && kind && *kind != RemoteKind::kSsh)
        Note(*ssh, "'ssh' is given, but the url is not one of ssh",
             "write ssh://git@host/path or git@host:path, or remove it");
    }
    if (const YamlNode* branches = map.Find("branches")) ReadBranches(*branches, repository);
    if (const YamlNode* ssh = map.Find("ssh")) {
      YamlObject values(*ssh, "ssh", {"key", "known_hosts"}, diagnostics_);
      if (const YamlNode* key = values.Find("key")) {
        repository.ssh_key = ReadSecretSource(*key, "the key", diagnostics_);
        if (!repository.ssh_key.environment.empty()) Note(*key, "an ssh key must be in a file", "write {file: /path}");
      }
      if (const YamlNode* hosts = values.Find("known_hosts"))
        repository.known_hosts = ReadPath(*hosts, "'known_hosts'");
    }
    const bool can_open = has_github && !local;
    const std::string publish =
        Choice(map, "publish", {"none", "branch", "pull_request"}, can_open ? "pull_request" : "branch");
    repository.publish = base::ParseName<PublishTo>(publish).value_or(PublishTo::kPullRequest);
    if (repository.publish == PublishTo::kPullRequest && !can_open)
      Note(*map.Find("publish"), has_github ? "a local repository has no pull requests" : "pull requests need 'github'",
           has_github ? "write 'publish: branch'" : "add 'github', or write 'publish: branch'");
    return repository;
  }

  void ReadBranches(const YamlNode& node, WatchedRepository& repository) {
    const auto names = diagnostics_.Take(node.AsStrings());
    if (!names) return;
    if (names->empty() || names->size() > kMaxBranches)
      return Note(node, fmt::format("'branches' must name 1 to {} branches", kMaxBranches),
                  "leave it out to watch the remote's HEAD");
    std::set<std::string> seen;
    for (size_t i = 0; i < names->size(); ++i) {
      const std::string& name = (*names)[i];
      if (Status good = CheckBranchName(name); !good) Note(node.items()[i], good.error().message, good.error().remedy);
      if (name.starts_with("warpwright/"))
        Note(node.items()[i], "warpwright's own branches are never watched", "remove it");
      if (!seen.insert(name).second) Note(node.items()[i], "this branch is listed twice", "remove one of them");
    }
    repository.branches = *names;
  }

  Diagnostics& diagnostics_;
};

}  // namespace

std::string_view Name(PublishTo publish) {
  switch (publish) {
    case PublishTo::kNone: return "none";
    case PublishTo::kBranch: return "branch";
    case PublishTo::kPullRequest: return "pull_request";
  }
  return "?";
}

Result<OperatorConfig> ParseOperatorConfig(std::string_view text, std::string path) {
  WW_ASSIGN(const YamlNode root, ParseYaml(text, path));
  OperatorConfig config;
  config.path = std::move(path);
  config.digest = base::Sha256(text);
  Diagnostics diagnostics;
  OperatorReader(diagnostics).Read(root, config);
  WW_TRY(diagnostics.ToStatus());
  return config;
}

Result<OperatorConfig> LoadOperatorConfig(const std::filesystem::path& path) {
  const auto refuse = [&](std::string message, std::string remedy) {
    return Fail(Error{
        .code = ErrorCode::kConfig, .message = std::move(message), .file = path.string(), .remedy = std::move(remedy)});
  };
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (!std::filesystem::exists(status))
    return refuse("the file does not exist", "copy config/operator.example.yml there and edit it, or give --config");
  if (!std::filesystem::is_regular_file(status))
    return refuse("the operator file is not a regular file", "replace it by a file");
  if ((status.permissions() & std::filesystem::perms::others_write) != std::filesystem::perms::none)
    return refuse("everybody may write this file", fmt::format("chmod o-w {}", path.string()));
  auto text = base::ReadFile(path, kMaxFileBytes);
  if (!text) return refuse(text.error().message, text.error().remedy);
  return ParseOperatorConfig(*text, path.string());
}

core::Policy Tighten(core::Policy policy, const Ceilings& ceilings) {
  policy.max_minutes = std::min(policy.max_minutes, ceilings.max_minutes);
  policy.max_rounds = std::min(policy.max_rounds, ceilings.max_rounds);
  return policy;
}

core::PullRequestPolicy Tighten(core::PullRequestPolicy policy, const Ceilings& ceilings) {
  policy.max_open = std::min(policy.max_open, ceilings.max_open);
  policy.max_per_day = std::min(policy.max_per_day, ceilings.max_per_day);
  return policy;
}

}  // namespace warpwright::config
