// Accepts TCP connections and gives those on which a whole head of a request has arrived to a fixed number of threads. Connections that
// say nothing, or say it slowly, wait in one epoll set: they cost a descriptor, no thread. When all places are taken the one that waits for its
// head the longest makes room.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace warpwright {

struct HostPort {
  std::string host;  // a name or an address, without brackets
  int port = 0;
};
// "127.0.0.1:8421", "localhost:0", "[::1]:8421". kConfig with what is wrong.
Result<HostPort> ParseHostPort(std::string_view text);

class HttpListener {
 public:
  struct Options {
    HostPort address;
    int threads = 4;
    size_t max_connections = 512;
    size_t max_head_bytes = 16u << 10;
    std::chrono::milliseconds head_deadline{5'000};   // from the connection's begin to the end of its first head
    std::chrono::milliseconds idle_deadline{15'000};  // between requests
  };
  enum class Next {
    kKeep,   // wait for another request
    kClose,
    kDrain,  // answered without having read everything: close when the other side has seen the answer
  };
  struct Hooks {
    std::function<Next(int fd)> serve;    // non-blocking socket with a whole head (or max_head_bytes) to read; called by several threads
    std::function<void()> made_room;      // a connection was dropped because all places were taken
  };

  static Result<std::unique_ptr<HttpListener>> Start(Options options, Hooks hooks);
  ~HttpListener();
  int port() const;
  // Accepts nothing more, closes what waits, and returns when the requests under way are answered.
  void Stop();

 private:
  struct State;
  explicit HttpListener(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace warpwright
