#include "http/address.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <memory>

namespace warpwright::http {
namespace {

constexpr const char* kNotOurs = "give an address of this machine, or 0.0.0.0 for all";

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

}  // namespace

Result<HostPort> ParseHostPort(std::string_view text) {
  const auto fail = [&](std::string_view why) {
    return Fail(ErrorCode::kConfig, fmt::format("\"{}\" is not a listen address: {}", text, why),
                "write it as 127.0.0.1:8421 or [::1]:8421");
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return fail("the port is missing");
  HostPort out;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string_view::npos) return fail("an IPv6 address must be in brackets");
  if (host.empty()) return fail("the host is missing");
  const auto [end, code] = std::from_chars(port.data(), port.data() + port.size(), out.port);
  const bool number = !port.empty() && code == std::errc() && end == port.data() + port.size();
  if (!number || out.port < 0 || out.port > 65535) return fail("the port must be a number up to 65535");
  out.host = host;
  return out;
}

Result<base::Fd> Listen(const HostPort& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  if (const int code = ::getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found); code != 0)
    return Fail(ErrorCode::kEnvironment,
                fmt::format("cannot listen on {}:{}: {}", address.host, port, ::gai_strerror(code)), kNotOurs);
  const std::unique_ptr<addrinfo, FreeAddresses> owner(found);
  base::Fd fd(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return FailErrno("socket");
  // Not SO_REUSEPORT: with it a second daemon would silently take half of the deliveries.
  const int yes = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(fd.get(), found->ai_addr, found->ai_addrlen) != 0 || ::listen(fd.get(), 1024) != 0)
    return Fail(ErrorCode::kEnvironment,
                fmt::format("cannot listen on {}:{}: {}", address.host, port, std::strerror(errno)),
                errno == EADDRNOTAVAIL ? kNotOurs : "end the program that has the port, or give another one");
  return fd;
}

Result<int> PortOf(const base::Fd& listening) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(listening.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return FailErrno("getsockname");
  sockaddr_in6 internet{};  // the port is at the same offset in both families
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  std::memcpy(&internet, &address, sizeof internet);
  return ntohs(internet.sin6_port);
}

}  // namespace warpwright::http
