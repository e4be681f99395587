// git over ssh through the ssh program, as git itself does it: its configuration, its agents, its key types and above
// all its check of the host's key hold. (Debian's libgit2 has libssh2 inside, which knows no time limit and only one
// place for known hosts.)
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "repo/remote_url.h"

struct git_remote;
struct git_transport;

namespace warpwright::repo {

struct SshOptions {
  SshTarget target;
  std::filesystem::path key;          // empty: the agent
  std::filesystem::path known_hosts;  // empty: the user's
  std::filesystem::path stderr_path;  // where the program's messages go
};

// ssh's arguments for a service such as "git-upload-pack". It asks nothing and trusts no unknown host.
std::vector<std::string> SshArguments(const SshOptions& options, const std::string& service);

// A transport of libgit2; `options` must outlive it. 0, or an error code of libgit2.
int MakeSshTransport(git_transport** out, git_remote* owner, SshOptions* options);

}  // namespace warpwright::repo
