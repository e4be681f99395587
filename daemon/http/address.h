// Where a server listens.
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

// A socket that listens there, non-blocking. kEnvironment: the port is in use, the host is not ours.
Result<base::Fd> Listen(const HostPort& address);
Result<int> PortOf(const base::Fd& listening);  // which one it is where 0 was asked for

}  // namespace warpwright::http
