#include "tests/support/http_exchange.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace warpwright::testing {
namespace {

bool Readable(const base::Fd& fd, std::chrono::steady_clock::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  pollfd entry{fd.get(), POLLIN, 0};
  return ::poll(&entry, 1, static_cast<int>(std::max<int64_t>(0, left))) > 0;
}

}  // namespace

std::string HttpReply::Header(std::string_view name) const {
  std::string lower = head, wanted = "\n" + std::string(name) + ":";
  const auto fold = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  std::transform(lower.begin(), lower.end(), lower.begin(), fold);
  std::transform(wanted.begin(), wanted.end(), wanted.begin(), fold);
  const size_t at = lower.find(wanted);
  if (at == std::string::npos) return {};
  const size_t begin = head.find_first_not_of(' ', at + wanted.size()), end = head.find('\r', at);
  return head.substr(begin, end - begin);
}

base::Fd ConnectLoopback(int port, const char* from) {
  base::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  if (from != nullptr && (::inet_pton(AF_INET, from, &address.sin_addr) != 1 ||
                          ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0))
    return base::Fd();
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return base::Fd();
  return fd;
}

bool SendAll(const base::Fd& fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

HttpReply ReadReply(const base::Fd& fd, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::string all;
  std::array<char, 16384> piece;
  HttpReply reply;
  size_t wanted = std::string::npos;
  while (all.size() < wanted && Readable(fd, deadline)) {
    const ssize_t count = ::recv(fd.get(), piece.data(), piece.size(), 0);
    if (count <= 0) break;
    all.append(piece.data(), static_cast<size_t>(count));
    const size_t end = all.find("\r\n\r\n");
    if (wanted != std::string::npos || end == std::string::npos) continue;
    reply.head = all.substr(0, end + 2);
    const std::string length = reply.Header("Content-Length");
    wanted = length.empty() ? end + 4 : end + 4 + static_cast<size_t>(std::atoll(length.c_str()));
  }
  if (reply.head.size() < 12 || !reply.head.starts_with("HTTP/1.1 ")) return {};
  reply.status = std::atoi(reply.head.c_str() + 9);
  reply.body = all.substr(reply.head.size() + 2);
  return reply;
}

bool WaitClosed(const base::Fd& fd, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::array<char, 16384> piece;
  while (Readable(fd, deadline))
    if (::recv(fd.get(), piece.data(), piece.size(), 0) <= 0) return true;
  return false;
}

HttpReply Exchange(int port, std::string_view request) {
  const base::Fd fd = ConnectLoopback(port);
  if (!fd.valid()) return {};
  SendAll(fd, request);  // may fail if the response comes first
  return ReadReply(fd);
}

HttpReply Get(int port, std::string_view path, std::string_view headers) {
  return Exchange(port,
                  fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{}\r\n", path, headers));
}

std::string SignWebhook(std::string_view secret, std::string_view body) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  ::HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
         reinterpret_cast<const unsigned char*>(body.data()), body.size(), digest.data(), &size);
  std::string out = "sha256=";
  for (unsigned i = 0; i < size; ++i) out += fmt::format("{:02x}", digest[i]);
  return out;
}

std::string WebhookRequest(std::string_view secret, std::string_view id, std::string_view body,
                           std::string_view event) {
  return fmt::format(
      "POST /webhook HTTP/1.1\r\nHost: hooks\r\nUser-Agent: GitHub-Hookshot/0\r\nContent-Type: "
      "application/json\r\nX-GitHub-Event: {}\r\n"
      "X-GitHub-Delivery: {}\r\n{}Content-Length: {}\r\n\r\n{}",
      event, id, secret.empty() ? "" : fmt::format("X-Hub-Signature-256: {}\r\n", SignWebhook(secret, body)),
      body.size(), body);
}

}  // namespace warpwright::testing
