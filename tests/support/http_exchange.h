// HTTP as raw bytes on a loopback socket, so that a test can also send what no client library would.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"

namespace warpwright::testing {

struct HttpReply {
  int status = 0;    // 0: the peer sent nothing that is a response
  std::string head;  // with the status line
  std::string body;
  std::string Header(std::string_view name) const;  // empty: missing
};

// -1 if nothing listens there.
base::Fd ConnectLoopback(int port, const char* from = nullptr);  // `from`: another address of loopback
bool SendAll(const base::Fd& fd, std::string_view bytes);
// Reads one response, by its Content-Length, or up to the end of the connection.
HttpReply ReadReply(const base::Fd& fd, std::chrono::milliseconds limit = std::chrono::seconds(10));
// True if the peer closed it within `limit`; what it sends meanwhile is discarded.
bool WaitClosed(const base::Fd& fd, std::chrono::milliseconds limit);

HttpReply Exchange(int port, std::string_view request);
HttpReply Get(int port, std::string_view path, std::string_view headers = {});

// A signed delivery as GitHub sends it. Empty `secret`: without a signature.
std::string WebhookRequest(std::string_view secret, std::string_view id, std::string_view body,
                           std::string_view event = "push");
std::string SignWebhook(std::string_view secret, std::string_view body);  // "sha256=..."

}  // namespace warpwright::testing
