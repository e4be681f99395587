#include "worker/frame.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>

namespace warpwright {
namespace {

using Clock = std::chrono::steady_clock;
constexpr char kMagic[4] = {'W', 'W', 'F', '1'};
constexpr uint32_t kMaxHeaderBytes = 64u << 20;
constexpr uint32_t kMaxAttachments = 4096;
constexpr uint64_t kMaxAttachmentBytes = 8ull << 30;
constexpr size_t kGrowth = 64u << 20;  // memory is claimed as bytes arrive, not on the word of a size field

using Reader = std::function<Status(void*, size_t)>;

Status Corrupt(const char* what) { return Fail(ErrorCode::kCorrupt, std::string("a broken frame: ") + what); }

template <typename Buffer>
Status ReadInto(const Reader& read, Buffer& buffer, uint64_t size) {
  while (buffer.size() < size) {
    const size_t begin = buffer.size();
    const size_t step = static_cast<size_t>(std::min<uint64_t>(size - begin, kGrowth));
    buffer.resize(begin + step);
    WW_TRY(read(buffer.data() + begin, step));
  }
  return {};
}

Result<Frame> ReadWith(const Reader& read) {
  struct {
    char magic[4];
    uint32_t header_bytes, attachments;
  } head;
  WW_TRY(read(&head, sizeof head));
  if (std::memcmp(head.magic, kMagic, sizeof kMagic) != 0) return Fail(Corrupt("wrong magic").error());
  if (head.header_bytes > kMaxHeaderBytes) return Fail(Corrupt("a header over 64 MiB").error());
  if (head.attachments > kMaxAttachments) return Fail(Corrupt("over 4,096 attachments").error());
  std::vector<uint64_t> sizes(head.attachments);
  if (!sizes.empty()) WW_TRY(read(sizes.data(), sizes.size() * sizeof(uint64_t)));
  uint64_t total = 0;
  for (const uint64_t size : sizes)
    if (size > kMaxAttachmentBytes || (total += size) > kMaxAttachmentBytes) return Fail(Corrupt("over 8 GiB of attachments").error());
  Frame frame;
  WW_TRY(ReadInto(read, frame.header, head.header_bytes));
  for (const uint64_t size : sizes) WW_TRY(ReadInto(read, frame.attachments.emplace_back(), size));
  return frame;
}

Status WaitFor(int fd, short events, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return Fail(ErrorCode::kTimeout, "the worker did not answer in time");
    pollfd poll_fd{fd, events, 0};
    const int ready = ::poll(&poll_fd, 1, static_cast<int>(std::min<long>(left, 1'000'000)));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return FailErrno("poll");
  }
}

}  // namespace

Result<Frame> ReadFrame(int fd, Clock::time_point deadline) {
  return ReadWith([&](void* data, size_t size) -> Status {
    auto* bytes = static_cast<char*>(data);
    while (size > 0) {
      WW_TRY(WaitFor(fd, POLLIN, deadline));
      const ssize_t got = ::read(fd, bytes, size);
      if (got == 0) return Fail(ErrorCode::kWorkerDied, "the worker closed its pipe");
      if (got < 0 && errno != EINTR && errno != EAGAIN) return FailErrno("read a frame");
      if (got > 0) {
        bytes += got;
        size -= static_cast<size_t>(got);
      }
    }
    return {};
  });
}

Status WriteFrame(int fd, const Frame& frame, Clock::time_point deadline) {
  std::string head(kMagic, sizeof kMagic);
  const auto add = [&](auto value) { head.append(reinterpret_cast<const char*>(&value), sizeof value); };
  if (frame.header.size() > kMaxHeaderBytes || frame.attachments.size() > kMaxAttachments) return Corrupt("too large to send");
  add(static_cast<uint32_t>(frame.header.size()));
  add(static_cast<uint32_t>(frame.attachments.size()));
  for (const auto& attachment : frame.attachments) add(static_cast<uint64_t>(attachment.size()));
  head += frame.header;

  const auto write = [&](const char* bytes, size_t size) -> Status {
    while (size > 0) {
      WW_TRY(WaitFor(fd, POLLOUT, deadline));
      // A blocking pipe takes at most what is free without waiting only in small pieces.
      const ssize_t written = ::write(fd, bytes, std::min<size_t>(size, 1u << 20));
      if (written < 0 && errno == EPIPE) return Fail(ErrorCode::kWorkerDied, "the worker closed its pipe");
      if (written < 0 && errno != EINTR && errno != EAGAIN) return FailErrno("write a frame");
      if (written > 0) {
        bytes += written;
        size -= static_cast<size_t>(written);
      }
    }
    return {};
  };
  WW_TRY(write(head.data(), head.size()));
  for (const auto& attachment : frame.attachments)
    WW_TRY(write(reinterpret_cast<const char*>(attachment.data()), attachment.size()));
  return {};
}

Result<Frame> DecodeFrame(std::string_view bytes) {
  auto frame = ReadWith([&](void* data, size_t size) -> Status {
    if (size > bytes.size()) return Corrupt("it ends early");
    std::memcpy(data, bytes.data(), size);
    bytes.remove_prefix(size);
    return {};
  });
  if (frame && !bytes.empty()) return Fail(Corrupt("bytes behind the end").error());
  return frame;
}

}  // namespace warpwright
