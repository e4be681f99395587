// One connection to a remote: its transport, its credentials, its limits, and what its failures mean to the user.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/file.h"
#include "repo/git_handle.h"
#include "repo/remote.h"
#include "repo/ssh_transport.h"

namespace warpwright::repo {

struct PushOutcome {
  bool done = false;
  std::string rejected;
};

class Connection {
 public:
  // `repository` is null if only refs are listed. `address` must outlive the connection.
  static Result<std::unique_ptr<Connection>> Open(git_repository* repository, const RemoteAddress& address,
                                                  git_direction direction);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // As the remote reported them when the connection was opened.
  Result<Refs> Branches() const;
  std::string MainBranch() const;
  // The objects that these refs of the remote reach.
  Status Download(const std::vector<std::string>& refs);
  // Sends `commit`, to which `source` points here, to `ref` if the remote reports, in this connection, that `ref` is at
  // `expected` (empty: absent).
  Result<PushOutcome> Push(const std::string& source, const std::string& commit, const std::string& ref,
                           const std::string& expected);

 private:
  Connection(const RemoteAddress& address, RemoteUrl place) : address_(address), place_(std::move(place)) {}
  git_remote_callbacks Callbacks();
  Status Connect(git_repository* repository, git_direction direction);
  tl::unexpected<Error> FailRemote(const std::string& what);
  std::optional<Error> SshFailure() const;

  static int OnTransport(git_transport** out, git_remote* owner, void* self);
  static int OnCredential(git_credential** out, const char* url, const char* user, unsigned allowed, void* self);
  static int OnTransfer(const git_indexer_progress* progress, void* self);
  static int OnSideband(const char* text, int length, void* self);
  static int OnNegotiation(const git_push_update** updates, size_t count, void* self);
  static int OnPushed(const char* ref, const char* status, void* self);
  int CheckTime();

  const RemoteAddress& address_;
  RemoteUrl place_;
  SshOptions ssh_;
  std::optional<base::TemporaryDirectory> ssh_messages_;
  GitRemote remote_;
  std::chrono::steady_clock::time_point deadline_;
  int asked_for_token_ = 0;
  std::optional<Error> failure_;  // of a callback; libgit2 cannot pass it on
  std::string push_expected_, push_commit_;
  PushOutcome push_;
};

}  // namespace warpwright::repo
