// The operator's file, /etc/warpwright/config.yml or --config. It lists what the daemon watches, with which
// credentials, on which devices, and the limits that no repository can exceed: .warpwright.yml, read from the base
// branch, may only tighten them.
//
//   version: 1
//   state: /var/lib/warpwright
//   devices: [cuda:0, cuda:1]              # one job at a time on each; [sim:h200] without a GPU
//   listen: {webhooks: "0.0.0.0:8420", status: "127.0.0.1:8421"}   # polling only: omit webhooks; status: off
//   poll: {every: 60, at_most: 900}        # seconds; backs off while nothing happens
//   github:                                # omit if branches are sufficient
//     api: https://api.github.com          # or https://ghe.example.com/api/v3
//     token: {file: /run/credentials/github-token}        # or {env: NAME}, or
//     app: {id: "Iv23abc", key: {file: /run/credentials/app.pem}}
//     webhook_secret: {file: /run/credentials/webhook-secret}
//   nights: {at: "23 2 * * *", zone: Europe/Berlin}
//   limits: {max_minutes: 60, max_rounds: 20, max_open: 10, max_per_day: 20, queue: 1000, model_dollars_per_day: 0}
//   models: ..., agents: ...               # config/model_settings.h
//   author: {name: warpwright, email: warpwright@example.com}
//   log: {format: json, level: info}
//   repositories:
//     - url: https://github.com/acme/kernels.git          # also ssh://, git@host:..., file://, a path
//       branches: [main]                                  # default: the remote's HEAD
//       ssh: {key: {file: /run/credentials/id}, known_hosts: /etc/warpwright/known_hosts}
//       publish: pull_request                             # or branch, none; default: pull_request if github is set
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/model_settings.h"
#include "config/secret_source.h"
#include "core/kernel_spec.h"

namespace warpwright::config {

struct GithubAccess {
  std::string api = "https://api.github.com";
  SecretSource token;
  std::string app_id;
  SecretSource app_key;
  SecretSource webhook_secret;
};
enum class PublishTo { kNone, kBranch, kPullRequest };
std::string_view Name(PublishTo publish);  // "pull_request"
constexpr PublishTo Last(PublishTo) { return PublishTo::kPullRequest; }
struct WatchedRepository {
  std::string url;
  std::vector<std::string> branches;  // empty: the remote's HEAD
  SecretSource ssh_key;               // a file
  std::filesystem::path known_hosts;
  PublishTo publish = PublishTo::kPullRequest;
  int line = 0;
};
struct Ceilings {
  double max_minutes = 60;
  int max_rounds = 20, max_open = 10, max_per_day = 20, queue = 1000;
  double model_dollars_per_day = 0;
  ModelCaps models;
};
struct OperatorConfig {
  std::string path, digest;
  std::filesystem::path state = "/var/lib/warpwright";
  std::vector<std::string> devices;
  std::string listen_webhooks, listen_status = "127.0.0.1:8421";  // "host:port"; empty: off
  std::chrono::seconds poll_every{60}, poll_at_most{900};
  std::optional<GithubAccess> github;
  std::string nights_at, nights_zone = "UTC";  // cron syntax; empty: no nights
  Ceilings limits;
  std::vector<ModelSettings> models;
  std::map<core::AgentRole, AgentSettings> agents;  // without an entry: built in
  std::string author_name = "warpwright", author_email = "warpwright@localhost";
  bool json_logs = true;
  std::string log_level = "info";
  std::vector<WatchedRepository> repositories;
};

// `path` is used in messages only and need not exist. The error (kConfig) lists everything that is wrong, each with its
// location.
Result<OperatorConfig> ParseOperatorConfig(std::string_view text, std::string path);
// A world-writable file is refused.
Result<OperatorConfig> LoadOperatorConfig(const std::filesystem::path& path);

// The policy in force for a repository: the stricter of the two, value by value.
core::Policy Tighten(core::Policy policy, const Ceilings& ceilings);
core::PullRequestPolicy Tighten(core::PullRequestPolicy policy, const Ceilings& ceilings);

}  // namespace warpwright::config
