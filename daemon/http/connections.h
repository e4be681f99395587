// What libmicrohttpd leaves open about connections. Its timeout restarts with every byte; here a head, a body and a
// response each have a deadline, and a body a minimum rate, so that a slow trickle of bytes gains nothing. At its
// limits it stops accepting, or refuses the newcomer; here the unfinished request that is oldest makes room, of all or
// of its address: whoever is served in milliseconds is never that one, also behind a proxy where all have one address.
// And it closes immediately; here a refused sender may first read why.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/fd.h"

struct sockaddr;

namespace warpwright::http {

struct ConnectionLimits {
  size_t connections = 512;
  size_t connections_per_address = 0;  // 0: as many as there are
  size_t body_bytes = 0;               // received and not yet answered, of all connections
  size_t body_bytes_per_address = 0;   // 0: as many as there are
  size_t least_bytes_per_second = 0;   // of a body, on average since its head
  std::chrono::milliseconds rate_grace{1'000};
};

// The network that one sender has: an IPv4 address, or the first 64 bits of an IPv6 one.
std::string SenderOf(const sockaddr* address);

// Thread-safe. The sockets are libmicrohttpd's: between Opened and Closed one may be shut down here, which the library
// then detects, but it is never closed here.
class Connections {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Phase {
    kWaiting,    // for the head of a request
    kReceiving,  // its body
    kHandled,    // has no deadline: a handler's time is our own
    kAnswering,
  };

  // `made_room`: a connection was dropped because a limit was reached.
  Connections(ConnectionLimits limits, std::function<void()> made_room);
  ~Connections();

  void Opened(int fd, const std::string& sender, Time deadline);
  void Enter(int fd, Phase phase, Time deadline);
  // A part of a body has come, and is kept until Answered.
  void Received(int fd, size_t bytes);
  void Answered(int fd);
  // After the close the peer still gets a second to read the response: unread data would make the kernel reset the
  // connection, and the response would be lost. If such data has already arrived, this happens without a call.
  void Linger(int fd);
  void Closed(int fd);  // must be called before close()

  // Whether a body of that size has room beside those that are being handled, which cannot be dropped.
  bool HasRoomFor(size_t body_bytes);
  void CloseWaiting();          // those without a request
  void WaitUntilAllAnswered();  // no connection has a request

 private:
  struct Connection {
    std::string sender;
    Phase phase = Phase::kWaiting;
    Time since, deadline;  // of the phase
    size_t body_bytes = 0;
    bool linger = false;
    bool dropped = false;  // shut down; Closed will follow
  };
  struct Sender {
    size_t connections = 0, body_bytes = 0;  // of connections that are not dropped
  };
  // Half closed: what the client still sends is drained, so that it sees the answer and no reset.
  struct LingeringClose {
    base::Fd fd;
    Time deadline;
    size_t drained = 0;
  };

  void Drop(int fd, Connection& connection);
  void MakeRoom(int newcomer, const std::string* sender);
  void Watch();
  void DropLate(Time now);
  bool IsTooSlow(const Connection& connection, Time now) const;
  void Release(Connection& connection);
  void Wake();

  const ConnectionLimits limits_;
  const std::function<void()> made_room_;
  base::Fd wake_;
  std::mutex mutex_;
  std::condition_variable answered_;
  std::unordered_map<int, Connection> open_;
  std::unordered_map<std::string, Sender> senders_;
  size_t alive_ = 0;  // of open_: not dropped
  size_t body_bytes_ = 0, handled_bytes_ = 0;
  size_t lingering_count_ = 0;
  std::vector<LingeringClose> to_linger_;  // to be passed to the watching thread
  bool ending_ = false;
  std::thread watcher_;
};

}  // namespace warpwright::http
