// What libmicrohttpd leaves open about connections. Its timeout restarts with every byte; here a head, a body and a
// response each have a deadline, so that a slow trickle of bytes gains nothing. At its connection limit it stops
// accepting; here the connection that has waited longest for its head is dropped. And it closes immediately; here a
// refused sender may first read why.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/fd.h"

namespace warpwright::http {

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

  // `made_room`: a connection was dropped because all `most` slots were taken.
  Connections(size_t most, std::function<void()> made_room);
  ~Connections();

  void Opened(int fd, Time deadline);
  void Enter(int fd, Phase phase, Time deadline);
  // After the close the peer still gets a second to read the response: unread data would make the kernel reset the
  // connection, and the response would be lost. If such data has already arrived, this happens without a call.
  void Linger(int fd);
  void Closed(int fd);  // must be called before close()

  void CloseWaiting();          // those without a request
  void WaitUntilAllAnswered();  // no connection has a request

 private:
  struct Connection {
    Phase phase = Phase::kWaiting;
    Time deadline;
    bool linger = false;
    bool dropped = false;  // shut down; Closed will follow
  };
  struct Lingering {
    base::Fd fd;
    Time deadline;
    size_t drained = 0;
  };

  void Drop(int fd, Connection& connection);
  void MakeRoom(int newcomer);
  void Watch();
  void DropLate(Time now);
  void Wake();

  const size_t most_;
  const std::function<void()> made_room_;
  base::Fd wake_;
  std::mutex mutex_;
  std::condition_variable answered_;
  std::unordered_map<int, Connection> open_;
  size_t alive_ = 0;  // of open_: not dropped
  size_t lingering_count_ = 0;
  std::vector<Lingering> to_linger_;  // to be passed to the watching thread
  bool ending_ = false;
  std::thread watcher_;
};

}  // namespace warpwright::http
