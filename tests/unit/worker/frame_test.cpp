#include "worker/frame.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "base/fd.h"

namespace warpwright {
namespace {

using Clock = std::chrono::steady_clock;
Clock::time_point In(int ms) { return Clock::now() + std::chrono::milliseconds(ms); }

std::vector<std::byte> Bytes(size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 131 + (i >> 8));
  return bytes;
}

struct Pipe {
  Fd read, write;
  Pipe() {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("pipe");
    read = Fd(ends[0]);
    write = Fd(ends[1]);
  }
};

TEST(Frame, SurvivesMemory) {
  const auto large = Bytes(100'000), none = Bytes(0);
  FrameView sent{FrameKind::kStage, "{\"a\": 1}", {}};
  EXPECT_EQ(sent.Attach(large), 0u);
  EXPECT_EQ(sent.Attach(none), 1u);
  EXPECT_EQ(sent.Attach(std::string_view("text\xff")), 2u);
  const auto received = DecodeFrame(EncodeFrame(sent).value());
  ASSERT_TRUE(received) << received.error().Format();
  EXPECT_EQ(received->kind, FrameKind::kStage);
  EXPECT_EQ(received->header, sent.header);
  ASSERT_EQ(received->attachments.size(), 3u);
  EXPECT_EQ(received->attachments[0], large);
  EXPECT_TRUE(received->attachments[1].empty());
  EXPECT_EQ(received->attachments[2].size(), 5u);
}

TEST(Frame, EveryCutIsAnError) {
  FrameView sent{FrameKind::kMessage, "header", {}};
  const auto bytes = Bytes(10);
  sent.Attach(bytes);
  const std::string whole = EncodeFrame(sent).value();
  ASSERT_TRUE(DecodeFrame(whole));
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(DecodeFrame(whole.substr(0, size))) << size;
  EXPECT_FALSE(DecodeFrame(whole + "x"));
}

struct BadHead {
  const char* name;
  std::string bytes;
  const char* message;
};
std::string Number(uint32_t value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }
class BrokenFrame : public ::testing::TestWithParam<BadHead> {};
TEST_P(BrokenFrame, IsRefused) {
  const auto frame = DecodeFrame(GetParam().bytes);
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(frame.error().message.find(GetParam().message), std::string::npos) << frame.error().message;
}
INSTANTIATE_TEST_SUITE_P(
    All, BrokenFrame,
    ::testing::Values(BadHead{"magic", "WWF2" + Number(0) + Number(0) + Number(0), "wrong magic"},
                      BadHead{"text", "Segmentation fault at 0x1234", "wrong magic"},
                      BadHead{"kind", "WWF1" + Number(3) + Number(0) + Number(0), "unknown kind"},
                      BadHead{"header", "WWF1" + Number(0) + Number(0xffffffff) + Number(0), "over 64 MiB"},
                      BadHead{"count", "WWF1" + Number(0) + Number(0) + Number(4097), "over 4,096"},
                      BadHead{"attachment", "WWF1" + Number(0) + Number(0) + Number(1) + std::string(8, '\xff'), "over 8 GiB"},
                      // Each is allowed, and together they overflow.
                      BadHead{"sum", "WWF1" + Number(0) + Number(0) + Number(2) + Number(0) + Number(1) + Number(0) + Number(2), "over 8 GiB"},
                      // A size is not believed: no memory is claimed for bytes that do not come.
                      BadHead{"promise", "WWF1" + Number(0) + Number(0) + Number(1) + Number(0) + Number(1), "ends early"}),
    [](const auto& info) { return info.param.name; });

TEST(Frame, PassesAPipeInPieces) {
  Pipe pipe;
  const auto large = Bytes(3'000'000);  // many times what a pipe holds
  std::thread writer([&] {
    FrameView frame{FrameKind::kMessage, "h", {}};
    frame.Attach(large);
    EXPECT_TRUE(WriteFrame(pipe.write.get(), frame, In(5000)));
  });
  const auto frame = ReadFrame(pipe.read.get(), In(5000));
  writer.join();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->attachments.at(0), large);
}

TEST(Frame, ADeadlineHoldsForBothDirections) {
  Pipe pipe;
  EXPECT_EQ(ReadFrame(pipe.read.get(), In(30)).error().code, ErrorCode::kTimeout);
  ASSERT_EQ(::write(pipe.write.get(), "WWF1", 4), 4);  // and in the middle of a frame
  EXPECT_EQ(ReadFrame(pipe.read.get(), In(30)).error().code, ErrorCode::kTimeout);
  ::fcntl(pipe.write.get(), F_SETFL, O_NONBLOCK);
  const auto large = Bytes(3'000'000);
  FrameView frame;
  frame.Attach(large);
  EXPECT_EQ(WriteFrame(pipe.write.get(), frame, In(30)).error().code, ErrorCode::kTimeout);
}

TEST(Frame, AClosedPipeIsAnErrorAndNotASignal) {
  Pipe pipe;
  pipe.read.Close();
  EXPECT_EQ(WriteFrame(pipe.write.get(), {FrameKind::kMessage, "h", {}}, In(1000)).error().code, ErrorCode::kWorkerDied);
  Pipe other;
  other.write.Close();
  EXPECT_EQ(ReadFrame(other.read.get(), In(1000)).error().code, ErrorCode::kWorkerDied);
}

}  // namespace
}  // namespace warpwright
