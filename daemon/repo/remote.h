// Remote repositories: what their refs are, and moving objects between them and a bare mirror in the state folder. Local paths, file://,
// https:// (token) and ssh (a key, or the agent), through libgit2's own transports.
//
// Credentials are given to libgit2 in its callback, at the moment when the server asks; they are never part of a URL, a configuration file,
// an environment or a command line. The event that matters is "ref X moved from A to B" against what the mirror last knew, so that a missed
// wake-up loses nothing.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "repo/repository.h"

namespace warpwright {

struct Credential {
  std::function<Result<std::string>()> token;  // for https; asked again for each connection, since an App's lives an hour
  std::filesystem::path ssh_key;               // private key; empty: the agent
  std::filesystem::path ssh_known_hosts;       // empty: ~/.ssh/known_hosts; a host that is not in it is refused
};
struct RemoteAddress {
  std::string url;
  Credential credential;
};

using Refs = std::map<std::string, std::string>;  // "refs/heads/main" -> commit id
struct RefMove {
  std::string ref;
  std::string from, to;  // empty: created, deleted
  bool forced = false;   // `from` is not an ancestor of `to`
  bool operator==(const RefMove&) const = default;
};

// One round trip, no objects. Branches only.
Result<Refs> ListRefs(const RemoteAddress& remote);

class Mirror {
 public:
  // A bare repository at `path`, made where it is missing; a broken one (cut off while it was made) is made anew.
  static Result<Mirror> Open(const std::filesystem::path& path, RemoteAddress remote);

  Repository& repository() { return repository_; }
  // Branches as of the last Fetch, under refs/remotes/origin/ in the mirror; named "refs/heads/..." here.
  Result<Refs> Known() const;
  // Fetches, prunes and says what moved since the last Fetch, sorted by ref. Our own branches (warpwright/...) are not events.
  Result<std::vector<RefMove>> Fetch();

  // Pushes commit `commit` (in the mirror) to `branch`. The remote's tip must be `expected` (empty: absent) at the moment of the push, else
  // nothing is pushed and `rejected` says why. Pushing what is already there succeeds.
  struct Pushed {
    bool done = false;
    std::string rejected;
    std::string remote_tip;  // what was found there
  };
  Result<Pushed> Push(const std::string& branch, const std::string& commit, const std::string& expected);
  // Whether the remote's tip of `branch` is absent, ours (its message carries Repository::kTrailer and it is our committer) or foreign.
  enum class Owner { kNobody, kOurs, kForeign };
  struct Tip {
    Owner owner = Owner::kNobody;
    std::string commit;
  };
  Result<Tip> RemoteTip(const std::string& branch);

 private:
  Mirror(Repository repository, RemoteAddress remote) : repository_(std::move(repository)), remote_(std::move(remote)) {}
  Repository repository_;
  RemoteAddress remote_;
};

}  // namespace warpwright
