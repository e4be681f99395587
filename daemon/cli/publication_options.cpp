#include "cli/publication_options.h"

#include <algorithm>

#include "cli/named_paths.h"
#include "config/remote_text.h"

namespace warpwright::cli {

std::vector<std::string> SplitList(const std::string& text) {
  std::vector<std::string> items;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    std::string item = text.substr(begin, end - begin);
    item.erase(0, item.find_first_not_of(" \t\r\n"));
    item.erase(item.find_last_not_of(" \t\r\n") + 1);
    if (!item.empty()) items.push_back(std::move(item));
    begin = end + 1;
  }
  return items;
}

std::string_view Name(DryRun dry_run) {
  switch (dry_run) {
    case DryRun::kDetect: return "detect";
    case DryRun::kOptimize: return "optimize";
    case DryRun::kFull: return "full";
  }
  return "?";
}

std::string_view Name(FailOn fail_on) {
  switch (fail_on) {
    case FailOn::kRegression: return "regression";
    case FailOn::kUnverified: return "unverified";
    case FailOn::kNever: return "never";
  }
  return "?";
}

Status CheckPublication(const PublicationOptions& options, config::PublishTo publish) {
  const auto usage = [](std::string message, std::string remedy) {
    return Fail(ErrorCode::kUsage, std::move(message), std::move(remedy));
  };
  if (!options.shard.empty() && !app::ParseShard(options.shard))
    return usage("'" + options.shard.substr(0, 40) + "' is not a shard", "write --shard 2/8 for the second of eight");
  if (!options.repository.empty()) WW_TRY(forge::RepositoryName::Parse(options.repository));
  if (Status good = config::CheckApiUrl(options.api); !good)
    return usage("--github-api: " + good.error().message, good.error().remedy);
  if (!options.remote.empty())
    if (const auto good = config::CheckRemoteUrl(options.remote); !good)
      return usage("--remote: " + good.error().message, good.error().remedy);
  if (!options.base_branch.empty())
    if (Status good = config::CheckBranchName(options.base_branch); !good)
      return usage("--base-branch: " + good.error().message, good.error().remedy);
  if (publish == config::PublishTo::kPullRequest && options.repository.empty())
    return usage("--publish pull-request needs --github-repository", "write --github-repository owner/name");
  if (options.app_id.empty() != options.app_key_env.empty())
    return usage("--app-id and --app-key-env must be given together", "give both, or a token with --token-env");
  WW_TRY(CheckNamedOutput("--summary", options.summary));
  return CheckNamedOutput("--output", options.output);
}

}  // namespace warpwright::cli
