// TCP connections of libgit2 with time limits: its own wait indefinitely. TLS runs on top of them.
#pragma once

namespace warpwright::repo {

inline constexpr int kConnectTimeoutMs = 20'000;  // to one address
inline constexpr int kIdleTimeoutMs = 120'000;    // without a byte in either direction

// Call once, before the first connection.
void RegisterTimedStreams();

}  // namespace warpwright::repo
