// A remote's address, taken apart. config/remote_text.h decides what is allowed in one.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "config/remote_text.h"

namespace warpwright::repo {

struct SshTarget {
  std::string user, host, port;  // user and port may be empty
  std::string path;              // on the host
};
struct RemoteUrl {
  config::RemoteKind kind = config::RemoteKind::kLocal;
  std::string url;  // for libgit2; a local one is its path
  SshTarget ssh;
};

Result<RemoteUrl> ParseRemoteUrl(const std::string& url);
// The repository's directory for a local remote; empty for others and for text that is not an address.
std::filesystem::path LocalPath(const std::string& url);

}  // namespace warpwright::repo
