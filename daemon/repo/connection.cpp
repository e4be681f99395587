#include "repo/connection.h"

#include <fmt/format.h>
#include <git2/sys/transport.h>

#include "base/utf8.h"

namespace warpwright::repo {
namespace {

Connection* Self(void* pointer) { return static_cast<Connection*>(pointer); }

// Messages of servers and ssh are shown on one line, short, without characters that hide or reorder text.
std::string OneLine(std::string_view text) {
  std::string line = base::CleanText(text, 400);
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

}  // namespace

Connection::~Connection() {
  if (remote_.value != nullptr) git_remote_disconnect(remote_);
}

Result<std::unique_ptr<Connection>> Connection::Open(git_repository* repository, const RemoteAddress& address,
                                                     git_direction direction) {
  StartGit();
  WW_ASSIGN(RemoteUrl place, ParseRemoteUrl(address.url));
  std::unique_ptr<Connection> connection(new Connection(address, std::move(place)));
  WW_TRY(connection->Connect(repository, direction));
  return connection;
}

Status Connection::Connect(git_repository* repository, git_direction direction) {
  deadline_ = std::chrono::steady_clock::now() + address_.limits.time;
  if (place_.kind == config::RemoteKind::kLocal) {
    GitRepository local;
    if (git_repository_open_ext(local.out(), place_.url.c_str(), GIT_REPOSITORY_OPEN_NO_SEARCH, nullptr) != 0)
      return FailGit(
          "open the repository " + place_.url,
          "check the path, and that this user owns it or trusts it (git config --global --add safe.directory)");
    if (git_repository_is_shallow(local) == 1)
      return Fail(ErrorCode::kUnsupported, place_.url + " is a shallow clone: its history ends somewhere",
                  "git -C " + place_.url + " fetch --unshallow");
  }
  if (place_.kind == config::RemoteKind::kSsh) {
    WW_ASSIGN(auto folder, base::TemporaryDirectory::Create("ww-ssh"));
    ssh_messages_.emplace(std::move(folder));
    ssh_ = {place_.ssh, address_.credential.ssh_key, address_.credential.ssh_known_hosts,
            ssh_messages_->path() / "stderr"};
  }
  // The operator's address is used as it is: "url.X.insteadOf" of some git configuration must not send the token to
  // another host. And libgit2 1.5 loses the matches of that look-up, a tenth of a megabyte each time.
  git_remote_create_options address = GIT_REMOTE_CREATE_OPTIONS_INIT;
  address.repository = repository;
  address.flags = GIT_REMOTE_CREATE_SKIP_INSTEADOF;
  if (git_remote_create_with_opts(remote_.out(), place_.url.c_str(), &address) != 0) return FailGit("use the remote");
  git_remote_connect_options options = GIT_REMOTE_CONNECT_OPTIONS_INIT;
  options.callbacks = Callbacks();
  options.proxy_opts.type = GIT_PROXY_AUTO;
  options.follow_redirects = GIT_REMOTE_REDIRECT_NONE;  // the token must not follow to another host
  if (git_remote_connect_ext(remote_, direction, &options) != 0) return FailRemote("connect");
  return {};
}

git_remote_callbacks Connection::Callbacks() {
  git_remote_callbacks callbacks = GIT_REMOTE_CALLBACKS_INIT;
  callbacks.payload = this;
  callbacks.transport = OnTransport;
  callbacks.credentials = OnCredential;
  callbacks.transfer_progress = OnTransfer;
  callbacks.sideband_progress = OnSideband;
  callbacks.push_negotiation = OnNegotiation;
  callbacks.push_update_reference = OnPushed;
  return callbacks;
}

int Connection::OnTransport(git_transport** out, git_remote* owner, void* pointer) {
  Connection& self = *Self(pointer);
  switch (self.place_.kind) {
    case config::RemoteKind::kLocal: return git_transport_local(out, owner, nullptr);
    case config::RemoteKind::kSsh: return MakeSshTransport(out, owner, &self.ssh_);
    case config::RemoteKind::kHttp: break;
  }
  git_smart_subtransport_definition http{git_smart_subtransport_http, 1, nullptr};
  return git_transport_smart(out, owner, &http);
}

int Connection::OnCredential(git_credential** out, const char*, const char*, unsigned allowed, void* pointer) {
  Connection& self = *Self(pointer);
  const bool asked_before = self.asked_for_token_++ > 0;
  const auto fail = [&](ErrorCode code, std::string message, std::string remedy) {
    self.failure_ = Error{.code = code, .message = std::move(message), .remedy = std::move(remedy)};
    return -1;
  };
  if (self.place_.kind != config::RemoteKind::kHttp || (allowed & GIT_CREDENTIAL_USERPASS_PLAINTEXT) == 0)
    return fail(ErrorCode::kEnvironment,
                self.address_.url + " asks for a credential of a kind that is not ours to give",
                "use https with a token, or ssh");
  if (!self.address_.credential.token)
    return fail(ErrorCode::kEnvironment, self.address_.url + " asks for a token",
                "configure github.token or github.app");
  if (asked_before)
    return fail(ErrorCode::kEnvironment, self.address_.url + " refuses the token",
                "check that it has not expired and may read and write the contents of this repository");
  auto token = self.address_.credential.token();
  if (!token) {
    self.failure_ = std::move(token).error();
    return -1;
  }
  return git_credential_userpass_plaintext_new(out, "x-access-token", token->c_str());
}

int Connection::CheckTime() {
  if (std::chrono::steady_clock::now() < deadline_) return 0;
  failure_ =
      Error{.code = ErrorCode::kTimeout,
            .message = fmt::format("{} took longer than {} minutes", address_.url, address_.limits.time.count())};
  return -1;
}

int Connection::OnTransfer(const git_indexer_progress* progress, void* pointer) {
  Connection& self = *Self(pointer);
  const TransferLimits& limits = self.address_.limits;
  if (progress->received_bytes > limits.bytes || progress->total_objects > limits.objects) {
    self.failure_ = Error{.code = ErrorCode::kUnsupported,
                          .message = fmt::format("{} sends more than {} MiB or {} objects", self.address_.url,
                                                 limits.bytes >> 20, limits.objects)};
    return -1;
  }
  return self.CheckTime();
}

int Connection::OnSideband(const char*, int, void* pointer) { return Self(pointer)->CheckTime(); }

int Connection::OnNegotiation(const git_push_update** updates, size_t count, void* pointer) {
  Connection& self = *Self(pointer);
  if (count != 1) return -1;
  const std::string found = git_oid_is_zero(&updates[0]->src) != 0 ? std::string() : ToString(&updates[0]->src);
  if (found == self.push_commit_) {
    self.push_.done = true;  // nothing to send
    return -1;
  }
  if (found == self.push_expected_) return 0;
  self.push_.rejected = found.empty() ? "the branch is gone" : "the branch is at " + found;
  return -1;
}

int Connection::OnPushed(const char*, const char* status, void* pointer) {
  Connection& self = *Self(pointer);
  if (status == nullptr) self.push_.done = true;
  else self.push_.rejected = "the server refused: " + OneLine(status);
  return 0;
}

std::optional<Error> Connection::SshFailure() const {
  if (place_.kind != config::RemoteKind::kSsh) return std::nullopt;
  const auto text = base::ReadFile(ssh_.stderr_path, 64 << 10);
  if (!text || text->empty()) return std::nullopt;
  std::string remedy;
  if (text->find("Host key verification failed") != std::string::npos)
    remedy = fmt::format("compare the key of {} with what its owner publishes, then add it: ssh-keyscan {}{} >> {}",
                         place_.ssh.host, place_.ssh.port.empty() ? "" : "-p " + place_.ssh.port + " ", place_.ssh.host,
                         ssh_.known_hosts.empty() ? "~/.ssh/known_hosts" : ssh_.known_hosts.string());
  else if (text->find("Permission denied") != std::string::npos)
    remedy = ssh_.key.empty() ? "give the daemon an agent with the key (SSH_AUTH_SOCK), or configure ssh.key"
                              : "check that the host knows the public part of " + ssh_.key.string();
  // The last line states what ended it; the one before it often states why.
  const std::string all = text->substr(0, text->find_last_not_of("\r\n") + 1);
  const size_t line = all.rfind('\n');
  const size_t before = line == std::string::npos || line == 0 ? std::string::npos : all.rfind('\n', line - 1);
  return Error{
      .code = ErrorCode::kEnvironment,
      .message = fmt::format("{}: {}", address_.url,
                             OneLine(std::string_view(all).substr(before == std::string::npos ? 0 : before + 1))),
      .remedy = remedy};
}

tl::unexpected<Error> Connection::FailRemote(const std::string& what) {
  if (failure_) return Fail(*failure_);
  const git_error* last = git_error_last();
  const std::string message = last != nullptr ? OneLine(last->message) : "unknown error";
  const auto says = [&](const char* part) { return message.find(part) != std::string::npos; };
  if (auto ssh = SshFailure()) return Fail(std::move(*ssh));
  if (says("shallow") || says("parsing REF"))  // what its parser reports for a shallow server's first lines
    return Fail(ErrorCode::kUnsupported,
                fmt::format("{}: what the remote sends cannot be read ({})", address_.url, message),
                "if it is a shallow clone, complete it there: git fetch --unshallow");
  if (says("did not answer"))
    return Fail(ErrorCode::kTimeout, fmt::format("{}: {}", address_.url, message), "check the network and the server");
  if (says("404"))
    return Fail(ErrorCode::kEnvironment, fmt::format("{}: not found (404)", address_.url),
                "check the address, and that the token may see this repository");
  if (says("401") || says("403") || says("authentication"))
    return Fail(ErrorCode::kEnvironment, fmt::format("{}: {}", address_.url, message),
                "check the token and its permissions");
  if (says("redirect"))
    return Fail(ErrorCode::kEnvironment, fmt::format("{}: the repository has moved ({})", address_.url, message),
                "write its new address");
  return Fail(ErrorCode::kIo, fmt::format("{} with {}: {}", what, address_.url, message),
              says("certificate") ? "name the authority's certificate with SSL_CERT_FILE" : "");
}

Result<Refs> Connection::Branches() const {
  const git_remote_head** heads = nullptr;
  size_t count = 0;
  if (git_remote_ls(&heads, &count, remote_) != 0) return FailGit("list the branches of " + address_.url);
  Refs refs;
  for (size_t i = 0; i < count; ++i)
    if (std::string_view(heads[i]->name).starts_with("refs/heads/")) refs[heads[i]->name] = ToString(&heads[i]->oid);
  return refs;
}

std::string Connection::MainBranch() const {
  git_buf name = GIT_BUF_INIT;
  std::string branch;
  if (git_remote_default_branch(&name, remote_) == 0) branch.assign(name.ptr, name.size);
  git_buf_dispose(&name);
  return branch.starts_with("refs/heads/") ? branch : std::string();
}

Status Connection::Download(const std::vector<std::string>& refs) {
  std::vector<std::string> specs;
  for (const auto& ref : refs) specs.push_back("+" + ref + ":" + ref);  // git_remote_download writes no refs
  std::vector<char*> pointers;
  for (auto& spec : specs) pointers.push_back(spec.data());
  const git_strarray array{pointers.data(), pointers.size()};
  git_fetch_options options = GIT_FETCH_OPTIONS_INIT;
  options.callbacks = Callbacks();
  options.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_NONE;
  options.proxy_opts.type = GIT_PROXY_AUTO;
  options.follow_redirects = GIT_REMOTE_REDIRECT_NONE;
  if (git_remote_download(remote_, &array, &options) != 0) return FailRemote("fetch");
  return {};
}

Result<PushOutcome> Connection::Push(const std::string& source, const std::string& commit, const std::string& ref,
                                     const std::string& expected) {
  push_ = {};
  push_commit_ = commit;
  push_expected_ = expected;
  std::string spec = "+" + source + ":" + ref;
  char* pointer = spec.data();
  const git_strarray array{&pointer, 1};
  git_push_options options = GIT_PUSH_OPTIONS_INIT;
  options.callbacks = Callbacks();
  options.proxy_opts.type = GIT_PROXY_AUTO;
  options.follow_redirects = GIT_REMOTE_REDIRECT_NONE;
  options.pb_parallelism = 1;
  const int code = git_remote_upload(remote_, &array, &options);
  if (code != 0 && !push_.done && push_.rejected.empty()) return FailRemote("push");
  if (code == 0 && !push_.done && push_.rejected.empty())
    return Fail(ErrorCode::kIo, "push to " + address_.url + ": the server did not say whether it took " + ref);
  return push_;
}

}  // namespace warpwright::repo
