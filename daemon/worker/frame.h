// Frames between the supervisor and a worker, on a pair of pipes. A frame is
//
//   "WWF1"            4 bytes; another protocol has another magic
//   kind              u32, little endian like all numbers here
//   header size       u32, at most 64 MiB
//   attachments       u32, count, at most 4,096
//   sizes             u64 each; together at most 8 GiB. With the highest bit set, the bytes are not in the pipe but in
//                     the memory that both sides share (shared_area.h), in order from its beginning, each at a
//                     multiple of 64
//   header            of a message: JSON, UTF-8; of a hello or a stage: plain text
//   attachments       raw bytes, in order
//
// Tensors and file texts travel as attachments, large ones in shared memory if there is any: no encoding, and bytes
// that are not UTF-8 arrive unchanged. A worker sends a hello once it is ready. Then one call is in flight at a time;
// the reply to a message is any number of stages and one message. Stages announce what the worker is about to do
// ("compile"), so that the supervisor knows what a worker was doing when it died, and may set a deadline for it. Both
// sides treat what they read as untrusted.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace warpwright::worker {

enum class FrameKind : uint32_t { kMessage, kHello, kStage };

struct Frame {
  FrameKind kind = FrameKind::kMessage;
  std::string header;
  std::vector<base::Bytes> attachments;
};

class SharedArea;

// What is sent: the attachments stay where they are, and must live until the frame is written.
struct FrameView {
  FrameKind kind = FrameKind::kMessage;
  std::string header;
  std::vector<std::span<const std::byte>> attachments;

  // The number by which the header refers to it.
  size_t Attach(std::string_view text) { return Attach(std::as_bytes(std::span(text.data(), text.size()))); }
  size_t Attach(std::span<const std::byte> bytes) {
    attachments.push_back(bytes);
    return attachments.size() - 1;
  }
};

// Errors: kWorkerDied when the peer closed the pipe, kTimeout when the deadline passed, kCorrupt when the bytes are not
// a frame. A deadline holds against any peer only if the descriptor is non-blocking. `area`: the memory shared with the
// peer in this direction; null if there is none.
Result<Frame> ReadFrame(int fd, std::chrono::steady_clock::time_point deadline, SharedArea* area = nullptr);
Status WriteFrame(int fd, const FrameView& frame, std::chrono::steady_clock::time_point deadline,
                  SharedArea* area = nullptr);

// From and to memory; trailing bytes are an error. For tests and the fuzzer.
Result<Frame> DecodeFrame(std::string_view bytes);
Result<std::string> EncodeFrame(const FrameView& frame);

}  // namespace warpwright::worker
