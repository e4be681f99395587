#include "worker/frame.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "base/fd.h"
#include "worker/shared_area.h"

namespace warpwright {
namespace {

using Clock = std::chrono::steady_clock;
Clock::time_point In(int ms) { return Clock::now() + std::chrono::milliseconds(ms); }

std::vector<std::byte> Numbered(size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 131 + (i >> 8));
  return bytes;
}

struct Pipe {
  base::Fd read, write;
  Pipe() {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("pipe");
    read = base::Fd(ends[0]);
    write = base::Fd(ends[1]);
  }
};

TEST(Frame, SurvivesMemory) {
  const auto large = Numbered(100'000), none = Numbered(0);
  worker::FrameView sent{worker::FrameKind::kStage, "{\"a\": 1}", {}};
  EXPECT_EQ(sent.Attach(large), 0u);
  EXPECT_EQ(sent.Attach(none), 1u);
  EXPECT_EQ(sent.Attach(std::string_view("text\xff")), 2u);
  const auto received = worker::DecodeFrame(worker::EncodeFrame(sent).value());
  ASSERT_TRUE(received) << received.error().Format();
  EXPECT_EQ(received->kind, worker::FrameKind::kStage);
  EXPECT_EQ(received->header, sent.header);
  ASSERT_EQ(received->attachments.size(), 3u);
  EXPECT_EQ(received->attachments[0], large);
  EXPECT_TRUE(received->attachments[1].empty());
  EXPECT_EQ(received->attachments[2].size(), 5u);
}

TEST(Frame, EveryCutIsAnError) {
  worker::FrameView sent{worker::FrameKind::kMessage, "header", {}};
  const auto bytes = Numbered(10);
  sent.Attach(bytes);
  const std::string whole = worker::EncodeFrame(sent).value();
  ASSERT_TRUE(worker::DecodeFrame(whole));
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(worker::DecodeFrame(whole.substr(0, size))) << size;
  EXPECT_FALSE(worker::DecodeFrame(whole + "x"));
}

struct BadHead {
  const char* name;
  std::string bytes;
  const char* message;
};
std::string Number(uint32_t value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }
class BrokenFrame : public ::testing::TestWithParam<BadHead> {};
TEST_P(BrokenFrame, IsRefused) {
  const auto frame = worker::DecodeFrame(GetParam().bytes);
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(frame.error().message.find(GetParam().message), std::string::npos) << frame.error().message;
}
INSTANTIATE_TEST_SUITE_P(
    All, BrokenFrame,
    ::testing::Values(
        BadHead{"magic", "WWF2" + Number(0) + Number(0) + Number(0), "wrong magic"},
        BadHead{"text", "Segmentation fault at 0x1234", "wrong magic"},
        BadHead{"kind", "WWF1" + Number(3) + Number(0) + Number(0), "unknown kind"},
        BadHead{"header", "WWF1" + Number(0) + Number(0xffffffff) + Number(0), "more than 64 MiB"},
        BadHead{"count", "WWF1" + Number(0) + Number(0) + Number(4097), "more than 4,096"},
        BadHead{"attachment", "WWF1" + Number(0) + Number(0) + Number(1) + std::string(8, '\xff'), "more than 8 GiB"},
        // Each is allowed, but their sum overflows.
        BadHead{"sum", "WWF1" + Number(0) + Number(0) + Number(2) + Number(0) + Number(1) + Number(0) + Number(2),
                "more than 8 GiB"},
        // A size is not trusted: no memory is claimed for bytes that do not arrive.
        BadHead{"promise", "WWF1" + Number(0) + Number(0) + Number(1) + Number(0) + Number(1), "truncated"}),
    [](const auto& info) { return info.param.name; });

TEST(Frame, PassesAPipeInPieces) {
  Pipe pipe;
  const auto large = Numbered(3'000'000);  // many times what a pipe holds
  std::thread writer([&] {
    worker::FrameView frame{worker::FrameKind::kMessage, "h", {}};
    frame.Attach(large);
    EXPECT_TRUE(worker::WriteFrame(pipe.write.get(), frame, In(5000)));
  });
  const auto frame = worker::ReadFrame(pipe.read.get(), In(5000));
  writer.join();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->attachments.at(0), large);
}

// What one side writes through an area, the other reads, as `use` selects.
class SharedFrame : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = worker::SharedArea::Create(worker::SharedArea::Use::kWrite);
    ASSERT_TRUE(made) << made.error().Format();
    writes = std::move(*made);
    in_place = worker::SharedArea::Adopt(::dup(writes->descriptor()), worker::SharedArea::Use::kReadInPlace);
    copies = worker::SharedArea::Adopt(::dup(writes->descriptor()), worker::SharedArea::Use::kReadCopies);
    ASSERT_TRUE(in_place && copies);
  }
  Result<worker::Frame> Pass(const worker::FrameView& frame, worker::SharedArea* reads) {
    EXPECT_TRUE(worker::WriteFrame(pipe.write.get(), frame, In(5000), &*writes));
    return worker::ReadFrame(pipe.read.get(), In(5000), reads);
  }
  Pipe pipe;
  std::optional<worker::SharedArea> writes, in_place, copies;
};

TEST_F(SharedFrame, CarriesLargeAttachmentsBesideThePipe) {
  const auto large = Numbered(3'000'001), other = Numbered(200'000), small = Numbered(100);
  for (worker::SharedArea* reads : {&*in_place, &*copies}) {
    worker::FrameView frame{worker::FrameKind::kMessage, "h", {}};
    for (const auto* part : {&small, &large, &small, &other}) frame.Attach(*part);
    const auto received = Pass(frame, reads);  // in one thread: the pipe could not hold the large ones
    ASSERT_TRUE(received) << received.error().Format();
    ASSERT_EQ(received->attachments.size(), 4u);
    EXPECT_EQ(received->attachments[0], small);
    EXPECT_EQ(received->attachments[1], large);
    EXPECT_EQ(received->attachments[2], small);
    EXPECT_EQ(received->attachments[3], other);
  }
}

TEST_F(SharedFrame, ACopyIsOutOfThePeersReach) {
  const auto before = Numbered(1'000'000), after = std::vector<std::byte>(1'000'000, std::byte{9});
  worker::FrameView frame{worker::FrameKind::kMessage, "h", {}};
  frame.Attach(before);
  const auto copied = Pass(frame, &*copies), seen = Pass(frame, &*in_place);
  ASSERT_TRUE(copied && seen);
  ASSERT_TRUE(writes->Put(0, after));
  EXPECT_EQ(copied->attachments[0], before);
  EXPECT_EQ(seen->attachments[0], after);
}

TEST_F(SharedFrame, NoReaderBelievesSizes) {
  EXPECT_FALSE(copies->Get(worker::SharedArea::kBytes, 1));
  EXPECT_FALSE(copies->Get(1, worker::SharedArea::kBytes));
  EXPECT_FALSE(copies->Get(~uint64_t{0}, 2));
  const auto unwritten = copies->Get(0, 3ull << 30);
  ASSERT_FALSE(unwritten);
  EXPECT_NE(unwritten.error().message.find("beyond what was written"), std::string::npos) << unwritten.error().message;
  EXPECT_NE(::ftruncate(writes->descriptor(), 4096), 0);  // it would kill whoever reads beyond it
  // The peer claims that bytes are in shared memory, and there is none.
  worker::FrameView frame{worker::FrameKind::kMessage, "h", {}};
  const auto large = Numbered(1'000'000);
  frame.Attach(large);
  const auto nowhere = Pass(frame, nullptr);
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::kCorrupt);
}

TEST_F(SharedFrame, AnOrdinaryFileIsNoArea) {
  EXPECT_FALSE(worker::SharedArea::Adopt(::dup(pipe.read.get()), worker::SharedArea::Use::kReadInPlace));
  EXPECT_FALSE(worker::SharedArea::Adopt(-1, worker::SharedArea::Use::kReadInPlace));
}

TEST_F(SharedFrame, TrimmedMemoryIsGivenBack) {
  const auto large = Numbered(1'000'000);
  for (uint64_t at = 0; at < (100u << 20); at += 1'000'000 / 64 * 64) ASSERT_TRUE(writes->Put(at, large));
  copies->Trim(200u << 20);
  struct stat kept{};
  ASSERT_EQ(::fstat(writes->descriptor(), &kept), 0);
  EXPECT_GT(kept.st_blocks * 512, 90'000'000);
  copies->Trim(50u << 20);
  struct stat info{};
  ASSERT_EQ(::fstat(writes->descriptor(), &info), 0);
  EXPECT_LT(info.st_blocks * 512, 1'000'000);
}

TEST(Frame, ADeadlineHoldsForBothDirections) {
  Pipe pipe;
  EXPECT_EQ(worker::ReadFrame(pipe.read.get(), In(30)).error().code, ErrorCode::kTimeout);
  ASSERT_EQ(::write(pipe.write.get(), "WWF1", 4), 4);  // and in the middle of a frame
  EXPECT_EQ(worker::ReadFrame(pipe.read.get(), In(30)).error().code, ErrorCode::kTimeout);
  ::fcntl(pipe.write.get(), F_SETFL, O_NONBLOCK);
  const auto large = Numbered(3'000'000);
  worker::FrameView frame;
  frame.Attach(large);
  EXPECT_EQ(worker::WriteFrame(pipe.write.get(), frame, In(30)).error().code, ErrorCode::kTimeout);
}

TEST(Frame, AClosedPipeIsAnErrorAndNotASignal) {
  Pipe pipe;
  pipe.read.Close();
  EXPECT_EQ(worker::WriteFrame(pipe.write.get(), {worker::FrameKind::kMessage, "h", {}}, In(1000)).error().code,
            ErrorCode::kWorkerDied);
  Pipe other;
  other.write.Close();
  EXPECT_EQ(worker::ReadFrame(other.read.get(), In(1000)).error().code, ErrorCode::kWorkerDied);
}

}  // namespace
}  // namespace warpwright
