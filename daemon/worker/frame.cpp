#include "worker/frame.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>

#include "base/pipe_signal.h"
#include "worker/shared_area.h"

namespace warpwright::worker {
namespace {

using Clock = std::chrono::steady_clock;
static_assert(std::endian::native == std::endian::little, "frames are little endian");

constexpr char kMagic[4] = {'W', 'W', 'F', '1'};
constexpr uint32_t kMaxHeaderBytes = 64u << 20;
constexpr uint32_t kMaxAttachments = 4096;
constexpr uint64_t kMaxAttachmentBytes = 8ull << 30;
constexpr uint64_t kChunkBytes = 1u << 20, kReserved = 1ull << 30;
constexpr uint64_t kInArea = 1ull << 63;
constexpr uint64_t kMinSharedBytes = 128u << 10;  // smaller ones are faster through the pipe

struct Head {
  char magic[4];
  uint32_t kind, header_bytes, attachments;
};
static_assert(sizeof(Head) == 16);

using Reader = std::function<Status(void*, size_t)>;

tl::unexpected<Error> Corrupt(const char* what) {
  return Fail(ErrorCode::kCorrupt, std::string("malformed frame: ") + what);
}

// Memory is touched as bytes arrive, not because a size field claims them. A piece that resize() has just cleared is
// still in the cache when it is read into; address space is reserved up front, so that nothing is copied when the
// buffer grows.
template <typename Buffer>
Status ReadInto(const Reader& read, Buffer& buffer, uint64_t size) {
  buffer.reserve(std::min(size, kReserved));
  while (buffer.size() < size) {
    const uint64_t begin = buffer.size();
    const uint64_t step = std::min(size - begin, kChunkBytes);
    buffer.resize(begin + step);
    WW_TRY(read(buffer.data() + begin, step));
  }
  return {};
}

// Where the attachments of one frame are in the area.
class Places {
 public:
  uint64_t Next(uint64_t size) {
    const uint64_t at = end_;
    end_ += (size + SharedArea::kAlignment - 1) / SharedArea::kAlignment * SharedArea::kAlignment;
    return at;
  }

 private:
  uint64_t end_ = 0;
};
bool GoesToArea(std::span<const std::byte> attachment, const SharedArea* area) {
  return area != nullptr && attachment.size() >= kMinSharedBytes;
}

Result<Frame> ReadWith(const Reader& read, SharedArea* area) {
  Head head;
  WW_TRY(read(&head, sizeof head));
  if (std::memcmp(head.magic, kMagic, sizeof kMagic) != 0)
    return Corrupt("wrong magic number: this is not a worker, or one of another version");
  if (head.kind > static_cast<uint32_t>(FrameKind::kStage)) return Corrupt("unknown kind");
  if (head.header_bytes > kMaxHeaderBytes) return Corrupt("a header of more than 64 MiB");
  if (head.attachments > kMaxAttachments) return Corrupt("more than 4,096 attachments");
  std::vector<uint64_t> sizes(head.attachments);
  if (!sizes.empty()) WW_TRY(read(sizes.data(), sizes.size() * sizeof(uint64_t)));
  uint64_t total = 0;
  for (const uint64_t field : sizes) {
    const uint64_t size = field & ~kInArea;
    if (size > kMaxAttachmentBytes - total) return Corrupt("more than 8 GiB of attachments");
    total += size;
    if (field != size && area == nullptr)
      return Corrupt("an attachment in shared memory, which this worker does not share");
  }
  Frame frame;
  frame.kind = static_cast<FrameKind>(head.kind);
  WW_TRY(ReadInto(read, frame.header, head.header_bytes));
  Places places;
  for (const uint64_t field : sizes) {
    if ((field & kInArea) != 0) {
      const uint64_t size = field & ~kInArea;
      WW_ASSIGN(frame.attachments.emplace_back(), area->Get(places.Next(size), size));
      continue;
    }
    std::vector<std::byte> bytes;
    WW_TRY(ReadInto(read, bytes, field));
    frame.attachments.emplace_back(std::move(bytes));
  }
  return frame;
}

// Everything that precedes the attachments.
Result<std::string> EncodeHead(const FrameView& frame, const SharedArea* area) {
  if (frame.header.size() > kMaxHeaderBytes || frame.attachments.size() > kMaxAttachments)
    return Corrupt("too large to send");
  Head head{{},
            static_cast<uint32_t>(frame.kind),
            static_cast<uint32_t>(frame.header.size()),
            static_cast<uint32_t>(frame.attachments.size())};
  std::memcpy(head.magic, kMagic, sizeof kMagic);
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  uint64_t total = 0;
  for (const auto& attachment : frame.attachments) {
    uint64_t size = attachment.size();
    total += size;
    if (total > kMaxAttachmentBytes)
      return Fail(ErrorCode::kUnsupported, "the buffers of this case take more than 8 GiB in total",
                  "use a smaller case");
    if (GoesToArea(attachment, area)) size |= kInArea;
    bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
  }
  return bytes + frame.header;
}

Status WaitFor(int fd, short events, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return Fail(ErrorCode::kTimeout, "deadline exceeded");
    pollfd watched{fd, events, 0};
    const int ready = ::poll(&watched, 1, static_cast<int>(std::min<int64_t>(left, 1'000'000)));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return FailErrno("poll");
  }
}

Status WriteAll(int fd, std::span<const std::byte> bytes, Clock::time_point deadline) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written > 0) {
      bytes = bytes.subspan(static_cast<size_t>(written));
      continue;
    }
    if (errno == EPIPE) return Fail(ErrorCode::kWorkerDied, "the peer closed its pipe");
    if (errno == EAGAIN) WW_TRY(WaitFor(fd, POLLOUT, deadline));
    else if (errno != EINTR) return FailErrno("write a frame");
  }
  return {};
}

}  // namespace

Result<Frame> ReadFrame(int fd, Clock::time_point deadline, SharedArea* area) {
  return ReadWith(
      [&](void* data, size_t size) -> Status {
        auto* bytes = static_cast<char*>(data);
        while (size > 0) {
          WW_TRY(WaitFor(fd, POLLIN, deadline));
          const ssize_t got = ::read(fd, bytes, size);
          if (got == 0) return Fail(ErrorCode::kWorkerDied, "the peer closed its pipe");
          if (got < 0 && errno != EINTR && errno != EAGAIN) return FailErrno("read a frame");
          if (got > 0) {
            bytes += got;
            size -= static_cast<size_t>(got);
          }
        }
        return {};
      },
      area);
}

Status WriteFrame(int fd, const FrameView& frame, Clock::time_point deadline, SharedArea* area) {
  WW_ASSIGN(const std::string head, EncodeHead(frame, area));
  Places places;  // filled before the peer learns of them
  for (const auto& attachment : frame.attachments)
    if (GoesToArea(attachment, area)) WW_TRY(area->Put(places.Next(attachment.size()), attachment));
  const base::PipeSignalBlocked no_signal;
  WW_TRY(WriteAll(fd, std::as_bytes(std::span(head.data(), head.size())), deadline));
  for (const auto& attachment : frame.attachments)
    if (!GoesToArea(attachment, area)) WW_TRY(WriteAll(fd, attachment, deadline));
  return {};
}

Result<Frame> DecodeFrame(std::string_view bytes) {
  auto frame = ReadWith(
      [&](void* data, size_t size) -> Status {
        if (size > bytes.size()) return Corrupt("truncated");
        std::memcpy(data, bytes.data(), size);
        bytes.remove_prefix(size);
        return {};
      },
      nullptr);
  if (frame && !bytes.empty()) return Corrupt("trailing bytes");
  return frame;
}

Result<std::string> EncodeFrame(const FrameView& frame) {
  WW_ASSIGN(std::string bytes, EncodeHead(frame, nullptr));
  for (const auto& attachment : frame.attachments)
    bytes.append(reinterpret_cast<const char*>(attachment.data()), attachment.size());
  return bytes;
}

}  // namespace warpwright::worker
