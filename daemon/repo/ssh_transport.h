// git over ssh through the ssh program, as git itself does: its configuration, its agents, its key types and above all
// its host key verification apply. (Debian's libgit2 contains libssh2, which has no time limit and only one location
// for known hosts.)
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
  std::filesystem::path stderr_path;  // file for the program's messages
};

// ssh's arguments for a service such as "git-upload-pack". It never prompts and trusts no unknown host.
std::vector<std::string> SshArguments(const SshOptions& options, const std::string& service);

// A libgit2 transport; `options` must outlive it. Returns 0, or a libgit2 error code.
int MakeSshTransport(git_transport** out, git_remote* owner, SshOptions* options);

}  // namespace warpwright::repo
