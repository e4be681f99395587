// Remote repositories: reading their refs, and moving objects between them and a bare mirror in the state folder. Local
// paths, file://, https:// (token) and ssh (a key, or the agent), through libgit2's own transports.
//
// Credentials are given to libgit2 in its callback, at the moment when the server asks; they are never part of a URL, a
// configuration file, an environment or a command line. The event that matters is "ref X moved from A to B" compared
// with what the mirror last knew, so that a missed wake-up loses nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "repo/repository.h"

namespace warpwright::repo {

struct Credential {
  std::function<Result<std::string>()> token;  // for https; called for each connection: an App token lives for an hour
  std::filesystem::path ssh_key;               // private key; empty: the agent
  std::filesystem::path ssh_known_hosts;       // empty: ~/.ssh/known_hosts; unknown hosts are refused
};
// What one connection may cost us. A connection that exceeds a limit is cut.
struct TransferLimits {
  uint64_t bytes = 8ull << 30;
  uint32_t objects = 20'000'000;
  std::chrono::minutes time{60};  // of the whole connection; an idle one ends much earlier (repo/timed_stream.h)
};
struct RemoteAddress {
  std::string url;  // as config/remote_text.h accepts it
  Credential credential;
  TransferLimits limits;
};

using Refs = std::map<std::string, std::string>;  // "refs/heads/main" -> commit id
struct RefMove {
  std::string ref;
  std::string from, to;  // empty: created, deleted
  bool forced = false;   // `from` is not an ancestor of `to`
  bool operator==(const RefMove&) const = default;
};

// One round trip, no objects. Branches only. Errors: kConfig (address), kEnvironment (credentials, host key, no ssh
// program), kUnsupported (a shallow remote), kTimeout (an idle connection or a limit), kIo.
Result<Refs> ListRefs(const RemoteAddress& remote);
// "refs/heads/main": the branch that the remote's HEAD names; empty if there is no commit yet.
Result<std::string> DefaultBranch(const RemoteAddress& remote);
// Branches that we write: below warpwright/, and warpwright-history. They make no events.
bool IsOwnBranch(std::string_view ref);

class Mirror {
 public:
  // A bare repository at `path`, created if it is missing. A broken one is moved to `path`.broken and recreated. `us`
  // is the author of our commits, by which RemoteTip recognises them. Cheap; open one for each thread, and any number
  // in each process.
  static Result<Mirror> Open(const std::filesystem::path& path, RemoteAddress remote, Signature us = {});

  Repository& repository() { return repository_; }
  const Repository& repository() const { return repository_; }
  // Branches as of the last Fetch, under refs/remotes/origin/ in the mirror; named "refs/heads/..." here.
  Result<Refs> Known() const;
  // The remote's DefaultBranch as of the last Fetch.
  Result<std::string> MainBranch() const;
  // Fetches, prunes and returns what moved since the last Fetch, sorted by ref. Our own branches are not events.
  // Objects are written before refs, so that it may be interrupted anywhere; moves that it had not returned yet are
  // then lost as RefMoves, but not in Known(). The first Fetch reports all.
  Result<std::vector<RefMove>> Fetch();

  // Every Fetch leaves a pack, and lookups slow down with their number: above the limit, `git gc` joins them if there
  // is a git program. Called by Fetch. Unreferenced objects stay for three months, since events may name them.
  Status CollectGarbage(size_t packs_at_most = 64);

  // Pushes commit `commit` (in the mirror) to `branch`. The remote's tip must be `expected` (empty: absent) at the
  // moment of the push, else nothing is pushed and `rejected` says why; likewise if the server refuses. Pushing what
  // the remote already has succeeds. Outside warpwright/ only fast-forwards are pushed, and never to the remote's main
  // branch. A local remote's hooks do not run.
  struct PushResult {
    bool done = false;
    std::string rejected;
    std::string remote_tip;  // the tip that was found
  };
  Result<PushResult> Push(const std::string& branch, const std::string& commit, const std::string& expected);
  // Whether the remote's tip of `branch` is absent, ours (its message carries Repository::kTrailer and it is our
  // committer) or foreign.
  enum class Owner { kAbsent, kOurs, kForeign };
  struct Tip {
    Owner owner = Owner::kAbsent;
    std::string commit;
  };
  Result<Tip> RemoteTip(const std::string& branch);

 private:
  Mirror(Repository repository, RemoteAddress remote, Signature us)
      : repository_(std::move(repository)), remote_(std::move(remote)), us_(std::move(us)) {}
  git_repository* git() const { return repository_.repository_.get(); }
  Status UpdateTrackingRefs(const Refs& known, const Refs& now, const std::string& main);
  Repository repository_;
  RemoteAddress remote_;
  Signature us_;
};

}  // namespace warpwright::repo
