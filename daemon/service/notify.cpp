#include "service/notify.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace warpwright {
namespace {

std::string TakeVariable(const char* name) {
  const char* value = std::getenv(name);
  std::string text = value == nullptr ? "" : value;
  ::unsetenv(name);
  return text;
}

std::optional<int64_t> ParsePositive(const std::string& text) {
  int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value <= 0) return std::nullopt;
  return value;
}

// One assignment per line: a line break in the text would begin another one.
std::string OneLine(std::string_view text) {
  std::string line(text.substr(0, 500));
  std::replace_if(line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; }, ' ');
  return line;
}

}  // namespace

Notifier::Notifier(std::string socket, std::optional<std::chrono::microseconds> watchdog) : socket_(std::move(socket)), watchdog_(watchdog) {}

Notifier Notifier::FromEnvironment() {
  const std::string socket = TakeVariable("NOTIFY_SOCKET"), period = TakeVariable("WATCHDOG_USEC"), pid = TakeVariable("WATCHDOG_PID");
  const auto usec = ParsePositive(period);
  const bool for_us = pid.empty() || ParsePositive(pid) == ::getpid();
  return Notifier(socket, usec && for_us ? std::optional(std::chrono::microseconds(*usec)) : std::nullopt);
}

Status Notifier::Ready(std::string_view status) const { return Send("READY=1\nSTATUS=" + OneLine(status)); }

Status Notifier::Reloading() const {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);  // which Type=notify-reload compares with the moment of its signal
  return Send(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", now.tv_sec * 1'000'000 + now.tv_nsec / 1000));
}

Status Notifier::Stopping(std::string_view status) const { return Send("STOPPING=1\nSTATUS=" + OneLine(status)); }
Status Notifier::Ping() const { return Send("WATCHDOG=1"); }
Status Notifier::Say(std::string_view status) const { return Send("STATUS=" + OneLine(status)); }

Status Notifier::Send(std::string_view assignments) const {
  if (!active()) return {};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if ((socket_[0] != '/' && socket_[0] != '@') || socket_.size() >= sizeof address.sun_path)
    return Fail(ErrorCode::kEnvironment, fmt::format("NOTIFY_SOCKET is neither a path nor an abstract name: {}", socket_));
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_[0] == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size() + (socket_[0] == '@' ? 0 : 1));
  const Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return FailErrno("socket");
  // Not waiting: a service manager that does not read must not stop the loop whose life is told here.
  while (::sendto(fd.get(), assignments.data(), assignments.size(), MSG_NOSIGNAL | MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&address), size) < 0)
    if (errno != EINTR) return FailErrno("notify the service manager");
  return {};
}

}  // namespace warpwright
