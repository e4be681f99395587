// The publisher of one run: GitHub over libcurl, with a token or as an App, and a mirror of the remote.
#pragma once

#include <memory>
#include <string>

#include "app/publication.h"
#include "base/clock.h"
#include "cli/publication_options.h"
#include "cli/workflow_commands.h"
#include "forge/app_auth.h"
#include "forge/github_client.h"
#include "http/client.h"

namespace warpwright::cli {

// Outlives the publishers that it created. Removes the credentials from the environment, masks and checks them.
class GithubPublisher {
 public:
  // All of them outlive it.
  GithubPublisher(const PublicationOptions& options, const app::Workspace& workspace, WorkflowCommands& commands)
      : options_(options), workspace_(workspace), commands_(commands) {}
  Result<std::unique_ptr<app::ResultPublisher>> Connect(config::PublishTo to, const repo::Signature& author);

 private:
  Status ConnectForge();

  const PublicationOptions& options_;
  const app::Workspace& workspace_;
  WorkflowCommands& commands_;
  const base::SystemClock clock_;
  std::unique_ptr<http::CurlClient> http_;
  std::shared_ptr<forge::TokenSource> tokens_;
  std::unique_ptr<forge::GithubClient> forge_;
};

}  // namespace warpwright::cli
