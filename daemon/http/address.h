// The address that a server listens on.
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace warpwright::http {

struct HostPort {
  std::string host;  // a name or an address, without brackets
  int port = 0;
};
// "127.0.0.1:8421", "localhost:0", "[::1]:8421". kConfig with what is wrong.
Result<HostPort> ParseHostPort(std::string_view text);

// A non-blocking socket that listens there. kEnvironment: the port is in use, or the host is not this machine's.
Result<base::Fd> Listen(const HostPort& address);
Result<int> PortOf(const base::Fd& listening);  // the actual port if 0 was requested

}  // namespace warpwright::http
