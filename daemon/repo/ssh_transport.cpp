#include "repo/ssh_transport.h"

#include <git2.h>
#include <git2/sys/transport.h>
#include <poll.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "base/pipe_signal.h"
#include "base/shell.h"
#include "base/subprocess.h"
#include "repo/timed_stream.h"

namespace warpwright::repo {
namespace {

// One ssh process for one connection: libgit2 communicates with it through the stream, which it frees.
struct SshStream {
  git_smart_subtransport_stream parent{};  // first: libgit2 passes a pointer to it
  base::Child child;
};
struct SshSubtransport {
  git_smart_subtransport parent{};  // first
  SshOptions* options = nullptr;
  SshStream* open = nullptr;  // owned by libgit2
};

int FailSsh(const std::string& message) {
  git_error_set_str(GIT_ERROR_SSH, message.c_str());
  return -1;
}

int WaitFor(int fd, short events) {
  pollfd waiting{fd, events, 0};
  for (;;) {
    const int ready = ::poll(&waiting, 1, kIdleTimeoutMs);
    if (ready > 0) return 0;
    if (ready == 0) return FailSsh("the host did not answer for " + std::to_string(kIdleTimeoutMs / 1000) + " s");
    if (errno != EINTR) return FailSsh(std::string("poll: ") + std::strerror(errno));
  }
}

int Read(git_smart_subtransport_stream* base, char* buffer, size_t size, size_t* got) {
  SshStream& stream = *reinterpret_cast<SshStream*>(base);
  *got = 0;
  if (WaitFor(stream.child.from_child(), POLLIN) != 0) return -1;
  ssize_t count = 0;
  do count = ::read(stream.child.from_child(), buffer, size);
  while (count < 0 && errno == EINTR);
  if (count < 0) return FailSsh(std::string("read from ssh: ") + std::strerror(errno));
  *got = static_cast<size_t>(count);
  return 0;
}

int Write(git_smart_subtransport_stream* base, const char* buffer, size_t size) {
  SshStream& stream = *reinterpret_cast<SshStream*>(base);
  const base::PipeSignalBlocked
      blocked;  // ssh may have ended: that is an error of this connection and must not end the process
  while (size > 0) {
    if (WaitFor(stream.child.to_child(), POLLOUT) != 0) return -1;
    const ssize_t count = ::write(stream.child.to_child(), buffer,
                                  std::min<size_t>(size, 4096));  // up to PIPE_BUF bytes never block after POLLOUT
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FailSsh(std::string("write to ssh: ") + std::strerror(errno));
    buffer += count;
    size -= static_cast<size_t>(count);
  }
  return 0;
}

void FreeStream(git_smart_subtransport_stream* base) {
  auto* stream = reinterpret_cast<SshStream*>(base);
  reinterpret_cast<SshSubtransport*>(stream->parent.subtransport)->open = nullptr;
  delete stream;
}

int Action(git_smart_subtransport_stream** out, git_smart_subtransport* base, const char*,
           git_smart_service_t service) {
  SshSubtransport& transport = *reinterpret_cast<SshSubtransport*>(base);
  const bool goes_on = service == GIT_SERVICE_UPLOADPACK || service == GIT_SERVICE_RECEIVEPACK;
  if (goes_on && transport.open == nullptr) return FailSsh("the connection is not open");
  if (!goes_on) {
    base::Command command;
    command.argv =
        SshArguments(*transport.options, service == GIT_SERVICE_UPLOADPACK_LS ? "git-upload-pack" : "git-receive-pack");
    command.env = base::MinimalEnvironment();
    if (const char* agent = std::getenv("SSH_AUTH_SOCK"); agent != nullptr && transport.options->key.empty())
      command.env["SSH_AUTH_SOCK"] = agent;
    auto child = base::Child::Start(command, transport.options->stderr_path);
    if (!child) return FailSsh("start ssh: " + child.error().message);
    transport.open = new SshStream{{}, std::move(*child)};
    transport.open->parent = {base, Read, Write, FreeStream};
  }
  *out = &transport.open->parent;
  return 0;
}

int Close(git_smart_subtransport*) { return 0; }
void Free(git_smart_subtransport* base) { delete reinterpret_cast<SshSubtransport*>(base); }

int MakeSubtransport(git_smart_subtransport** out, git_transport*, void* options) {
  auto* transport = new SshSubtransport;
  transport->parent = {Action, Close, Free};
  transport->options = static_cast<SshOptions*>(options);
  *out = &transport->parent;
  return 0;
}

}  // namespace

std::vector<std::string> SshArguments(const SshOptions& options, const std::string& service) {
  std::vector<std::string> argv = {"ssh", "-T", "-x", "-a"};
  const auto option = [&](const std::string& text) { argv.insert(argv.end(), {"-o", text}); };
  option("BatchMode=yes");
  option("StrictHostKeyChecking=yes");
  option("ConnectTimeout=" + std::to_string(kConnectTimeoutMs / 1000));
  option("ServerAliveInterval=30");
  option("ServerAliveCountMax=4");
  option("ClearAllForwardings=yes");
  if (!options.known_hosts.empty()) {
    option("UserKnownHostsFile=\"" + options.known_hosts.string() + "\"");
    option("GlobalKnownHostsFile=/dev/null");
  }
  if (!options.key.empty()) {
    option("IdentitiesOnly=yes");
    argv.insert(argv.end(), {"-i", options.key.string()});
  }
  if (!options.target.port.empty()) argv.insert(argv.end(), {"-p", options.target.port});
  if (!options.target.user.empty()) argv.insert(argv.end(), {"-l", options.target.user});
  argv.insert(argv.end(), {"--", options.target.host, service + " " + base::ShellQuote(options.target.path)});
  return argv;
}

int MakeSshTransport(git_transport** out, git_remote* owner, SshOptions* options) {
  git_smart_subtransport_definition definition{MakeSubtransport, 0, options};
  return git_transport_smart(out, owner, &definition);
}

}  // namespace warpwright::repo
