#include "http/event_stream.h"

#include <gtest/gtest.h>

#include <vector>

namespace warpwright {
namespace {

using Events = std::vector<std::pair<std::string, std::string>>;

struct Read {
  Events events;
  Status status;
};

// In pieces of `piece` bytes.
Read ReadAll(std::string_view bytes, size_t piece, http::EventStream::Limits limits = {}) {
  Read read;
  http::EventStream stream(limits, [&](const http::ServerEvent& event) -> Status {
    read.events.emplace_back(event.type, event.data);
    return {};
  });
  for (size_t at = 0; at < bytes.size(); at += piece) read.status = stream.Feed(bytes.substr(at, piece));
  return read;
}

TEST(EventStream, ReadsEventsFromPiecesOfAnySize) {
  const struct {
    const char* what;
    std::string bytes;
    Events expected;
  } rows[] = {
      {"one", "data: a\n\n", {{"message", "a"}}},
      {"named", "event: delta\ndata: {\"x\":1}\n\nevent: stop\ndata: {}\n\n", {{"delta", "{\"x\":1}"}, {"stop", "{}"}}},
      {"CR LF", "event: e\r\ndata: a\r\ndata: b\r\n\r\n", {{"e", "a\nb"}}},
      {"CR", "data: a\rdata: b\r\rdata: c\r\r", {{"message", "a\nb"}, {"message", "c"}}},
      {"no space", "data:a\n\n", {{"message", "a"}}},
      {"two spaces", "data:  a\n\n", {{"message", " a"}}},
      {"comments", ": ping\n\n:\ndata: a\n: x\n\n", {{"message", "a"}}},
      {"byte order mark",
       "\xEF\xBB\xBF"
       "data: a\n\n",
       {{"message", "a"}}},
      {"no data", "event: x\n\ndata: a\n\n", {{"message", "a"}}},
      {"empty data", "data\n\n", {{"message", ""}}},
      {"other fields", "id: 3\nretry: 10\nwhat: x\ndata: a\n\n", {{"message", "a"}}},
      {"unfinished", "data: a\n\ndata: b\n", {{"message", "a"}}},
      {"not UTF-8",
       "data: a\xff\xfe"
       "b\n\n",
       {{"message",
         "a\xEF\xBF\xBD\xEF\xBF\xBD"
         "b"}}},
      {"a cut character", "data: \xE2\x82\n\n", {{"message", "\xEF\xBF\xBD\xEF\xBF\xBD"}}},
      {"nothing", "", {}},
  };
  for (const auto& row : rows)
    for (const size_t piece : {size_t{1}, size_t{2}, size_t{3}, size_t{7}, size_t{1000}}) {
      const Read read = ReadAll(row.bytes, piece);
      EXPECT_EQ(read.events, row.expected) << row.what << " by " << piece;
      EXPECT_TRUE(read.status) << row.what;
    }
}

TEST(EventStream, IsBounded) {
  const http::EventStream::Limits limits{.event_bytes = 20, .total_bytes = 60};
  for (const size_t piece : {size_t{1}, size_t{1000}}) {
    const Read whole = ReadAll("data: 123456789012\n\n", piece, limits);  // 20 bytes
    EXPECT_TRUE(whole.status);
    EXPECT_EQ(whole.events.size(), 1u);
    for (const std::string& long_event : {std::string(21, 'x'), "data: " + std::string(13, 'x') + "\n\n"}) {
      const Read read = ReadAll("data: a\n\n" + long_event + "data: b\n\n", piece, limits);
      ASSERT_FALSE(read.status) << long_event;
      EXPECT_EQ(read.status.error().code, ErrorCode::kLimit);
      EXPECT_EQ(read.events, (Events{{"message", "a"}})) << "an error is final";
    }
    std::string many;
    for (int i = 0; i < 10; ++i) many += "data: a\n\n";
    const Read read = ReadAll(many, piece, limits);
    EXPECT_FALSE(read.status);
    EXPECT_EQ(read.events.size(), 6u);
  }
}

TEST(EventStream, EndsWithTheFirstErrorOfItsReader) {
  int taken = 0;
  http::EventStream stream({}, [&](const http::ServerEvent&) -> Status {
    ++taken;
    return Fail(ErrorCode::kCorrupt, "no");
  });
  EXPECT_FALSE(stream.Feed("data: a\n\ndata: b\n\n"));
  EXPECT_FALSE(stream.Feed("data: c\n\n"));
  EXPECT_EQ(taken, 1);
}

}  // namespace
}  // namespace warpwright
