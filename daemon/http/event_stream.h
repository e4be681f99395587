// Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), from pieces of any size. What
// a server sends is bounded, and what is not UTF-8 is replaced.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace warpwright::http {

struct ServerEvent {
  std::string type;  // "message" where the server names none
  std::string data;  // lines joined by line feeds; valid UTF-8
};

class EventStream {
 public:
  struct Limits {
    size_t event_bytes = 4u << 20;   // of one event, with its comments
    size_t total_bytes = 20u << 20;  // of the stream
  };
  using Take = std::function<Status(const ServerEvent&)>;

  EventStream(Limits limits, Take take) : limits_(limits), take_(std::move(take)) {}

  // Passes on every event that is complete now. The first error, a limit (kLimit) or one of Take, is final: it is
  // returned again for everything that follows. An event without its empty line at the end of a stream never counts.
  Status Feed(std::string_view piece);

 private:
  Status Count(size_t bytes);
  Status EndLine(char byte);
  void TakeLine();
  Status TakeEvent();

  const Limits limits_;
  const Take take_;
  std::string line_;
  std::string type_, data_;
  bool has_data_ = false, after_return_ = false, first_line_ = true;
  size_t event_bytes_ = 0, total_bytes_ = 0;
  Status status_;
};

}  // namespace warpwright::http
