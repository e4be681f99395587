// HTTP as raw bytes on a loopback socket, so that a test can also say what no client library would.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"

namespace warpwright::testing {

struct HttpReply {
  int status = 0;    // 0: the other side said nothing that is an answer
  std::string head;  // with the status line
  std::string body;
  std::string Header(std::string_view name) const;  // empty: not there
};

// -1 where nobody listens.
base::Fd ConnectLoopback(int port);
bool SendAll(const base::Fd& fd, std::string_view bytes);
// Reads one answer, by its Content-Length, or up to the end of the connection.
HttpReply ReadReply(const base::Fd& fd, std::chrono::milliseconds limit = std::chrono::seconds(10));
// True when the other side closed it within `limit`; what it sends meanwhile is dropped.
bool WaitClosed(const base::Fd& fd, std::chrono::milliseconds limit);

HttpReply Exchange(int port, std::string_view request);
HttpReply Get(int port, std::string_view path, std::string_view headers = {});

// A signed delivery as GitHub sends it. `secret`: empty: without a signature.
std::string WebhookRequest(std::string_view secret, std::string_view id, std::string_view body,
                           std::string_view event = "push");
std::string SignWebhook(std::string_view secret, std::string_view body);  // "sha256=..."

}  // namespace warpwright::testing
