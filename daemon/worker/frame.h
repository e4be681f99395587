// Frames between the supervisor and a worker, on a pair of pipes. A frame is
//
//   "WWF1"            4 bytes
//   header size       u32, little endian, at most 64 MiB
//   attachments       u32, count, at most 4,096
//   sizes             u64 each; together at most 8 GiB
//   header            JSON, UTF-8
//   attachments       raw bytes, in order
//
// Tensors travel as attachments, which costs one copy and no encoding. One call is in flight at a time; the answer to a frame is one frame.
// Both sides treat what they read as untrusted.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace warpwright {

struct Frame {
  std::string header;
  std::vector<std::vector<std::byte>> attachments;
};

// Errors: kWorkerDied when the peer closed the pipe, kTimeout when the deadline passed, kCorrupt when the bytes are no frame.
Result<Frame> ReadFrame(int fd, std::chrono::steady_clock::time_point deadline);
Status WriteFrame(int fd, const Frame& frame, std::chrono::steady_clock::time_point deadline);

// The same from memory; trailing bytes are an error. For tests and the fuzzer.
Result<Frame> DecodeFrame(std::string_view bytes);

}  // namespace warpwright
