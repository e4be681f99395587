#include "repo/timed_stream.h"

#include <fcntl.h>
#include <git2.h>
#include <git2/sys/stream.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "base/fd.h"

namespace warpwright::repo {
namespace {

struct TimedStream {
  git_stream parent{};  // first: libgit2 passes a pointer to it
  std::string host, port;
  base::Fd socket;
};

TimedStream* Self(git_stream* stream) { return reinterpret_cast<TimedStream*>(stream); }

int FailNet(const std::string& message) {
  git_error_set_str(GIT_ERROR_NET, message.c_str());
  return -1;
}

// 0 when the socket is ready (or broken, which the next call reports).
int Wait(const TimedStream& stream, short events, int timeout_ms) {
  pollfd waiting{stream.socket.get(), events, 0};
  for (;;) {
    const int ready = ::poll(&waiting, 1, timeout_ms);
    if (ready > 0) return 0;
    if (ready == 0) return FailNet(stream.host + " did not answer for " + std::to_string(timeout_ms / 1000) + " s");
    if (errno != EINTR) return FailNet(std::string("poll: ") + std::strerror(errno));
  }
}

int ConnectTo(TimedStream& stream, const addrinfo& address) {
  stream.socket =
      base::Fd(::socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol));
  if (!stream.socket.valid()) return FailNet(std::string("socket: ") + std::strerror(errno));
  if (::connect(stream.socket.get(), address.ai_addr, address.ai_addrlen) == 0) return 0;
  int failure = errno;
  if (failure == EINPROGRESS) {
    if (Wait(stream, POLLOUT, kConnectTimeoutMs) != 0) return -1;
    socklen_t size = sizeof failure;
    ::getsockopt(stream.socket.get(), SOL_SOCKET, SO_ERROR, &failure, &size);
  }
  return failure == 0 ? 0 : FailNet("connect to " + stream.host + ":" + stream.port + ": " + std::strerror(failure));
}

int Connect(git_stream* base) {
  TimedStream& stream = *Self(base);
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  if (const int code = ::getaddrinfo(stream.host.c_str(), stream.port.c_str(), &hints, &found); code != 0)
    return FailNet("find the host " + stream.host + ": " + ::gai_strerror(code));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, ::freeaddrinfo);
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next)
    if (ConnectTo(stream, *address) == 0) return 0;
  return -1;
}

ssize_t Read(git_stream* base, void* data, size_t size) {
  TimedStream& stream = *Self(base);
  for (;;) {
    const ssize_t got = ::recv(stream.socket.get(), data, size, 0);
    if (got >= 0) return got;
    if (errno == EAGAIN && Wait(stream, POLLIN, kIdleTimeoutMs) != 0) return -1;
    if (errno != EAGAIN && errno != EINTR) return FailNet("read from " + stream.host + ": " + std::strerror(errno));
  }
}

ssize_t Write(git_stream* base, const char* data, size_t size, int) {
  TimedStream& stream = *Self(base);
  for (;;) {
    const ssize_t sent = ::send(stream.socket.get(), data, size, MSG_NOSIGNAL);
    if (sent >= 0) return sent;
    if (errno == EAGAIN && Wait(stream, POLLOUT, kIdleTimeoutMs) != 0) return -1;
    if (errno != EAGAIN && errno != EINTR) return FailNet("write to " + stream.host + ": " + std::strerror(errno));
  }
}

int Close(git_stream* base) {
  Self(base)->socket.Close();
  return 0;
}
void Free(git_stream* base) { delete Self(base); }

int Make(git_stream** out, const char* host, const char* port) {
  auto stream = std::unique_ptr<TimedStream>(new (std::nothrow) TimedStream);
  if (stream == nullptr) return -1;
  stream->host = host;
  stream->port = port;
  stream->parent.version = GIT_STREAM_VERSION;
  stream->parent.connect = Connect;
  stream->parent.read = Read;
  stream->parent.write = Write;
  stream->parent.close = Close;
  stream->parent.free = Free;
  *out = &stream.release()->parent;
  return 0;
}

}  // namespace

void RegisterTimedStreams() {
  git_stream_registration registration{};
  registration.version = GIT_STREAM_VERSION;
  registration.init = Make;
  git_stream_register(GIT_STREAM_STANDARD, &registration);
}

}  // namespace warpwright::repo
