// How long a server asks to be left alone.
#pragma once

#include <chrono>
#include <optional>

#include "http/client.h"

namespace warpwright::http {

// From retry-after-ms, or from retry-after in seconds or as a date; not negative and at most a day. None: not said, or
// not understood.
std::optional<std::chrono::milliseconds> RetryAfter(const ClientResponse& response,
                                                    std::chrono::system_clock::time_point now);

}  // namespace warpwright::http
