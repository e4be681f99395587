#include "service/http_listener.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/fd.h"

namespace warpwright {
namespace {

using std::chrono::steady_clock;

constexpr auto kDrainDeadline = std::chrono::milliseconds(1'000);
constexpr size_t kDrainBytes = 1u << 20;
constexpr int kTickMs = 250;  // how late a deadline may be noticed

// Signals are the main thread's.
void BlockAllSignals() {
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

Result<Fd> Listen(const HostPort& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  if (const int code = ::getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found); code != 0)
    return Fail(ErrorCode::kEnvironment, fmt::format("cannot listen on {}:{}: {}", address.host, port, ::gai_strerror(code)), "give an address of this machine, or 0.0.0.0 for all");
  const std::unique_ptr<addrinfo, FreeAddresses> owner(found);
  Fd fd(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return FailErrno("socket");
  // Not SO_REUSEPORT: with it a second daemon would take half of the deliveries without anybody noticing.
  const int yes = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(fd.get(), found->ai_addr, found->ai_addrlen) != 0 || ::listen(fd.get(), 1024) != 0)
    return Fail(ErrorCode::kEnvironment, fmt::format("cannot listen on {}:{}: {}", address.host, port, std::strerror(errno)),
                "end the program that has the port, or give another one");
  return fd;
}

Result<int> PortOf(const Fd& fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return FailErrno("getsockname");
  sockaddr_in6 internet{};  // the port stands at the same place in both families
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  std::memcpy(&internet, &address, sizeof internet);
  return ntohs(internet.sin6_port);
}

struct Waiting {
  steady_clock::time_point deadline;
  bool draining = false;
  size_t drained = 0;
};

}  // namespace

Result<HostPort> ParseHostPort(std::string_view text) {
  const auto fail = [&](std::string_view why) { return Fail(ErrorCode::kConfig, fmt::format("\"{}\" is no address to listen on: {}", text, why), "write it as 127.0.0.1:8421 or [::1]:8421"); };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return fail("the port is missing");
  HostPort out;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']'))
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string_view::npos)
    return fail("an IPv6 address stands in brackets");
  if (host.empty()) return fail("the host is missing");
  const auto [end, code] = std::from_chars(port.data(), port.data() + port.size(), out.port);
  if (port.empty() || code != std::errc() || end != port.data() + port.size() || out.port < 0 || out.port > 65535) return fail("the port is no number up to 65535");
  out.host = host;
  return out;
}

struct HttpListener::State {
  State(Options o, Hooks h) : options(std::move(o)), hooks(std::move(h)) {}

  Options options;
  Hooks hooks;
  int port = 0;
  Fd listening, epoll, wake;
  std::atomic<bool> stopping = false;
  std::vector<char> peeked;                  // reactor's
  std::unordered_map<int, Waiting> waiting;  // reactor's
  std::atomic<size_t> open = 0;

  std::mutex mutex;
  std::condition_variable ready;
  std::deque<int> work;                         // sockets with a head
  std::vector<std::pair<int, Next>> returned;   // from the threads to the reactor
  bool no_more_work = false;
  std::vector<std::thread> threads;
  std::thread reactor;

  void Wake() {
    const uint64_t one = 1;
    while (::write(wake.get(), &one, sizeof one) < 0 && errno == EINTR) {
    }
  }

  bool Watch(int fd, uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.fd = fd;
    return ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) == 0;
  }

  void Close(int fd) {
    ::close(fd);
    --open;
  }
  void Forget(int fd) {  // takes it out of the reactor's set, open
    ::epoll_ctl(epoll.get(), EPOLL_CTL_DEL, fd, nullptr);
    waiting.erase(fd);
  }

  void Wait(int fd, std::chrono::milliseconds limit, bool draining) {
    waiting[fd] = {steady_clock::now() + limit, draining, 0};
    // Edge-triggered: a partial head must not wake us again until more of it arrives.
    if (!Watch(fd, EPOLLIN | EPOLLRDHUP | (draining ? 0u : static_cast<uint32_t>(EPOLLET)))) {
      waiting.erase(fd);
      Close(fd);
    }
  }

  void MakeRoom() {
    const auto oldest = std::min_element(waiting.begin(), waiting.end(), [](const auto& a, const auto& b) { return a.second.deadline < b.second.deadline; });
    if (oldest == waiting.end()) return;
    const int fd = oldest->first;
    Forget(fd);
    Close(fd);
    hooks.made_room();
  }

  void Accept() {
    while (true) {
      const int fd = ::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd < 0) {
        if (errno == EINTR || errno == ECONNABORTED || errno == EPROTO) continue;  // a connection that is gone again
        if (errno == EAGAIN) return;
        if (errno == EMFILE || errno == ENFILE) MakeRoom();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));  // no memory, no network: not in a tight loop
        return;
      }
      ++open;
      if (open > options.max_connections) MakeRoom();
      if (open > options.max_connections) {  // all of them are being served
        hooks.made_room();
        Close(fd);
        continue;
      }
      const int yes = 1;  // the head and the body of an answer are two writes
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      Wait(fd, options.head_deadline, false);
    }
  }

  void Drain(int fd, Waiting& connection) {
    const ssize_t count = ::recv(fd, peeked.data(), peeked.size(), MSG_DONTWAIT);
    if (count > 0) connection.drained += static_cast<size_t>(count);
    if (count > 0 && connection.drained < kDrainBytes) return;
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    Forget(fd);
    Close(fd);
  }

  void LookAtHead(int fd) {
    const ssize_t count = ::recv(fd, peeked.data(), peeked.size(), MSG_PEEK | MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) {
      Forget(fd);
      Close(fd);
      return;
    }
    const std::string_view head(peeked.data(), static_cast<size_t>(count));
    if (head.size() < options.max_head_bytes && head.find("\r\n\r\n") == std::string_view::npos) return;
    Forget(fd);
    {
      const std::lock_guard lock(mutex);
      work.push_back(fd);
    }
    ready.notify_one();
  }

  void TakeBack() {
    uint64_t count = 0;
    while (::read(wake.get(), &count, sizeof count) < 0 && errno == EINTR) {
    }
    std::vector<std::pair<int, Next>> back;
    {
      const std::lock_guard lock(mutex);
      back.swap(returned);
    }
    for (const auto& [fd, next] : back) {
      if (stopping || next == Next::kClose)
        Close(fd);
      else if (next == Next::kDrain)
        Wait(fd, kDrainDeadline, true);
      else
        Wait(fd, options.idle_deadline, false);
    }
  }

  void DropLate() {
    const auto now = steady_clock::now();
    std::vector<int> late;
    for (const auto& [fd, connection] : waiting)
      if (connection.deadline <= now) late.push_back(fd);
    for (const int fd : late) {
      Forget(fd);
      Close(fd);
    }
  }

  void React() {
    BlockAllSignals();
    std::array<epoll_event, 64> events;
    auto looked = steady_clock::now();
    while (!stopping) {
      const int count = ::epoll_wait(epoll.get(), events.data(), events.size(), waiting.empty() ? -1 : kTickMs);
      for (int i = 0; i < count; ++i) {
        const int fd = events[static_cast<size_t>(i)].data.fd;
        if (fd == listening.get()) {
          Accept();
        } else if (fd == wake.get()) {
          TakeBack();
        } else if (const auto found = waiting.find(fd); found != waiting.end()) {  // else: an event of one that made room meanwhile
          found->second.draining ? Drain(fd, found->second) : LookAtHead(fd);
        }
      }
      if (const auto now = steady_clock::now(); now - looked >= std::chrono::milliseconds(kTickMs)) {
        looked = now;
        DropLate();
      }
    }
    listening.Close();
    while (!waiting.empty()) {
      const int fd = waiting.begin()->first;
      Forget(fd);
      Close(fd);
    }
  }

  void Work() {
    BlockAllSignals();
    while (true) {
      int fd = -1;
      {
        std::unique_lock lock(mutex);
        ready.wait(lock, [&] { return !work.empty() || no_more_work; });
        if (work.empty()) return;
        fd = work.front();
        work.pop_front();
      }
      const Next next = hooks.serve(fd);
      if (next == Next::kClose || stopping) {
        ::shutdown(fd, SHUT_RDWR);
        Close(fd);
        continue;
      }
      if (next == Next::kDrain) ::shutdown(fd, SHUT_WR);
      {
        const std::lock_guard lock(mutex);
        returned.emplace_back(fd, next);
      }
      Wake();
    }
  }
};

HttpListener::HttpListener(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpListener::~HttpListener() { Stop(); }
int HttpListener::port() const { return state_->port; }

Result<std::unique_ptr<HttpListener>> HttpListener::Start(Options options, Hooks hooks) {
  auto state = std::make_unique<State>(std::move(options), std::move(hooks));
  State& s = *state;
  WW_ASSIGN(s.listening, Listen(s.options.address));
  WW_ASSIGN(s.port, PortOf(s.listening));
  s.epoll = Fd(::epoll_create1(EPOLL_CLOEXEC));
  s.wake = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!s.epoll.valid() || !s.wake.valid()) return FailErrno("epoll");
  if (!s.Watch(s.listening.get(), EPOLLIN) || !s.Watch(s.wake.get(), EPOLLIN)) return FailErrno("epoll_ctl");
  s.peeked.resize(s.options.max_head_bytes);
  for (int i = 0; i < s.options.threads; ++i) s.threads.emplace_back([&s] { s.Work(); });
  s.reactor = std::thread([&s] { s.React(); });
  return std::unique_ptr<HttpListener>(new HttpListener(std::move(state)));
}

void HttpListener::Stop() {
  State& s = *state_;
  if (s.stopping.exchange(true)) return;
  s.Wake();
  if (s.reactor.joinable()) s.reactor.join();
  {
    const std::lock_guard lock(s.mutex);
    s.no_more_work = true;
  }
  s.ready.notify_all();
  for (std::thread& thread : s.threads) thread.join();
  for (const auto& [fd, next] : s.returned) s.Close(fd);
  s.returned.clear();
}

}  // namespace warpwright
