#include "sim/memory.h"

#include <gtest/gtest.h>

#include <array>

namespace warpwright {
namespace {

constexpr uint64_t kHuge = 40ull << 30;  // more than a machine that runs tests has

std::vector<std::byte> Tile() {
  std::vector<std::byte> tile(1009);
  for (size_t i = 0; i < tile.size(); ++i) tile[i] = static_cast<std::byte>(i % 251 + 1);
  return tile;
}

TEST(SparseMemory, MakesItsContentWhereItIsTouched) {
  const std::vector<std::byte> tile = Tile();
  sim::Memory memory;
  const auto base = memory.Allocate("x", kHuge, {.sparse = true, .content = tile});
  ASSERT_TRUE(base) << base.error().Format();
  const sim::Allocation* x = memory.Find(*base + kHuge - 1);
  ASSERT_NE(x, nullptr);
  EXPECT_TRUE(sim::Memory::Values(*x, 1 << 20).empty());
  for (const uint64_t at : std::array<uint64_t, 3>{5, (1ull << 32) + 3, kHuge - 4}) {
    sim::NoteFound(*x, at, 4);
    for (uint64_t i = at; i < at + 4; ++i) EXPECT_EQ(x->data[i], tile[i % tile.size()]) << i;
  }
  memory.MarkWritten(*base + 7, 1);
  x->data[7] = std::byte{255};
  sim::NoteFound(*x, 0, 16);
  EXPECT_EQ(x->data[7], std::byte{255}) << "what was written stays";
  memory.MarkWritten(*base + 2000, 1);
  x->data[2000] = std::byte{255};
  sim::NoteFound(*x, 1990, 40);
  for (uint64_t i = 1990; i < 2030; ++i)  // of which some stand in another repetition
    EXPECT_EQ(x->data[i], i == 2000 ? std::byte{255} : tile[i % tile.size()]) << i;
}

// Of inputs: whether one file is mapped over and over or, where no multiple of the content is whole pages, each is
// made.
TEST(SparseMemory, RepeatsInputs) {
  constexpr uint64_t kBytes = (1ull << 34) + 4099;
  for (const size_t length : {1009ul, 7ul * 1024, 250'007ul}) {
    std::vector<std::byte> tile = Tile();
    tile.resize(length);
    for (size_t i = 1009; i < length; ++i) tile[i] = static_cast<std::byte>(i % 239 + 1);
    for (const uint64_t misalignment : {0, 4, 252}) {
      sim::Memory memory;
      const auto base = memory.Allocate(
          "x", kBytes, {.read_only = true, .misalignment = misalignment, .sparse = true, .content = tile});
      ASSERT_TRUE(base) << base.error().Format();
      const sim::Allocation* x = memory.Find(*base);
      ASSERT_NE(x, nullptr);
      EXPECT_EQ(x->written == nullptr, length != 250'007);
      for (const uint64_t begin : std::array<uint64_t, 3>{0, (1ull << 33) + 4090, kBytes - 20'000})
        for (uint64_t at = begin; at < std::min(begin + 20'000, kBytes); at += 4) {
          const uint64_t bytes = std::min<uint64_t>(4, kBytes - at);
          memory.NoteRead(*base + at, bytes);
          for (uint64_t i = at; i < at + bytes; ++i) ASSERT_EQ(x->data[i], tile[i % tile.size()]) << i;
        }
    }
  }
}

TEST(SparseMemory, TellsWhatWasWritten) {
  sim::Memory memory;
  const auto base = memory.Allocate("out", kHuge, {.initialized = false, .sparse = true});
  ASSERT_TRUE(base) << base.error().Format();
  const std::array<core::ByteRange, 3> ranges = {{{0, 8}, {4096, 4100}, {(33ull << 30) + 1, (33ull << 30) + 9}}};
  for (const core::ByteRange& range : ranges) memory.MarkWritten(*base + range.begin, range.end - range.begin);
  const sim::Allocation& out = *memory.Find(*base);
  const auto values = sim::Memory::Values(out, 1 << 20);
  EXPECT_TRUE(std::equal(values.begin(), values.end(), ranges.begin(), ranges.end()));
  const std::vector<core::ByteRange> few = sim::Memory::Values(out, 10);
  const std::array<core::ByteRange, 3> first = {{{0, 8}, {4096, 4098}, {ranges[2].end - 1, ranges[2].end}}};
  EXPECT_TRUE(std::equal(few.begin(), few.end(), first.begin(), first.end())) << "the first bytes, and the last one";
}

// In every bit that allocators leave open, within few runs.
TEST(ScatteredMemory, LiesElsewhereInEachRun) {
  uint64_t varies = 0, windows = 0, first = 0, shift = 0, at_pages = 0;
  for (int run = 0; run < 128; ++run) {
    sim::Memory memory;
    memory.Scatter();
    const auto a = memory.Allocate("a", 1000), b = memory.Allocate("b", 1000);
    ASSERT_TRUE(a && b);
    EXPECT_EQ(*a % 512, 0u);
    at_pages += *a % (2u << 20) == 0 && *b % (2u << 20) == 0;
    EXPECT_GT(*b, *a + 1000);
    EXPECT_LT(*b >> 44, 8u);
    if (run == 0) first = *b, shift = memory.window_shift();
    varies |= *b ^ first;
    windows |= memory.window_shift() ^ shift;
  }
  EXPECT_GT(at_pages, 20u);
  EXPECT_LT(at_pages, 108u);
  EXPECT_EQ(varies & ((1ull << 43) - 512), (1ull << 43) - 512);
  EXPECT_EQ(windows & ((1ull << 46) - (1ull << 24)), (1ull << 46) - (1ull << 24));
}

TEST(SparseMemory, HasItsOwnLimit) {
  sim::Memory memory;
  EXPECT_FALSE(memory.Allocate("dense", 65ull << 30));
  EXPECT_FALSE(memory.Allocate("sparse", 513ull << 30, {.sparse = true}));
}

}  // namespace
}  // namespace warpwright
