#include "sim/cache_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "config/chip_file.h"

namespace warpwright::sim {
namespace {

uint64_t FirstSector() { return kGlobalBase / 32; }  // drawn when the program begins

// A kernel as a list of requests, replayed into the models as a device would.
class Caches {
 public:
  explicit Caches(uint64_t l1_share = 32 << 10, const core::Chip& chip = *config::LoadChip("h200"))
      : l1_(chip, l1_share), l2_(chip) {}

  void Request(MemoryRequest::Kind kind, uint64_t block, uint32_t warp, const std::vector<uint64_t>& sectors,
               uint32_t line = 1, bool cached = true, uint32_t collisions = 0) {
    std::vector<uint32_t> tags;
    std::vector<uint8_t> masks;
    for (const uint64_t sector : sectors) {
      if (tags.empty() || tags.back() != LineTag(sector / 4)) {
        tags.push_back(LineTag(sector / 4));
        masks.push_back(0);
      }
      masks.back() |= static_cast<uint8_t>(1u << (sector & 3));
    }
    MemoryRequest request;
    request.count = static_cast<uint32_t>(tags.size());
    tags.resize(tags.size() + MemoryRequest::kPadding);
    masks.resize(tags.size());
    request.kind = kind;
    request.block = block;
    request.warp = warp;
    request.lines = tags.data();
    request.sectors = masks.data();
    request.line = line;
    request.cached_in_l1 = cached;
    request.collisions = collisions;
    l1_.OnRequest(request);
  }
  void Read(uint64_t block, uint32_t warp, const std::vector<uint64_t>& sectors) {
    Request(MemoryRequest::Kind::kRead, block, warp, sectors);
  }
  void Write(uint64_t block, uint32_t warp, const std::vector<uint64_t>& sectors) {
    Request(MemoryRequest::Kind::kWrite, block, warp, sectors);
  }
  void EndBlock(uint64_t block) {
    l1_.FinishBlock(block);
    for (const auto& misses : l1_.blocks()) l2_.Consume(l1_.misses(misses));
    l1_.ClearMisses();
  }
  core::Counters EndKernel() {
    result_ = l2_.FinishKernel();
    core::Counters counters = result_.counters;
    counters.Add(l1_.counters());
    return counters;
  }
  const L2Model::KernelResult& result() const { return result_; }
  L1Model& l1() { return l1_; }
  L2Model& l2() { return l2_; }

 private:
  L1Model l1_;
  L2Model l2_;
  L2Model::KernelResult result_;
};

std::vector<uint64_t> Row(uint64_t first, uint64_t count = 4, uint64_t stride = 1) {
  std::vector<uint64_t> sectors;
  for (uint64_t i = 0; i < count; ++i) sectors.push_back(FirstSector() + first + i * stride);
  return sectors;
}

TEST(CacheModel, AStreamMovesExactlyItsBytes) {
  Caches caches;
  constexpr uint64_t kBlocks = 4000, kWarps = 8,
                     kOut = 1 << 24;  // 4 MiB each way in 128-byte requests, far more than L1
  for (uint64_t block = 0; block < kBlocks; ++block) {
    for (uint64_t warp = 0; warp < kWarps; ++warp) {
      caches.Read(block, static_cast<uint32_t>(warp), Row((block * kWarps + warp) * 4));
      caches.Write(block, static_cast<uint32_t>(warp), Row(kOut + (block * kWarps + warp) * 4));
    }
    caches.EndBlock(block);
  }
  const core::Counters counters = caches.EndKernel();
  const uint64_t bytes = kBlocks * kWarps * 128;
  EXPECT_EQ(counters.dram_read_bytes, bytes);
  EXPECT_EQ(counters.dram_write_bytes, bytes);
  EXPECT_EQ(counters.l2_read_bytes, bytes);
  EXPECT_EQ(counters.l2_write_bytes, bytes);
  EXPECT_EQ(counters.l1_hit_sectors, 0u);
  EXPECT_EQ(counters.l1_miss_sectors, bytes / 32);
}

TEST(CacheModel, AStreamLargerThanL2MovesExactlyItsBytes) {
  core::Chip chip = *config::LoadChip("h200");
  chip.l2_bytes = 1 << 20;
  Caches caches(32 << 10, chip);
  constexpr uint64_t kRequests = 40000;  // 5 MiB each way
  for (uint64_t i = 0; i < kRequests; ++i) {
    caches.Read(i, 0, Row(i * 4));
    caches.Write(i, 0, Row((1 << 24) + i * 4));
    caches.EndBlock(i);
  }
  const core::Counters counters = caches.EndKernel();
  EXPECT_EQ(counters.dram_read_bytes, kRequests * 128);
  EXPECT_EQ(counters.dram_write_bytes, kRequests * 128);
}

TEST(CacheModel, SecondReadHits) {
  Caches caches;
  caches.Read(0, 0, Row(0));
  caches.Read(0, 0, Row(0));
  caches.EndBlock(0);
  caches.Read(132, 0, Row(0));  // the same multiprocessor
  caches.EndBlock(132);
  caches.Read(1, 0, Row(0));  // another: finds it in L2
  caches.EndBlock(1);
  const core::Counters counters = caches.EndKernel();
  EXPECT_EQ(counters.l1_hit_sectors, 8u);
  EXPECT_EQ(counters.l1_miss_sectors, 8u);
  EXPECT_EQ(counters.l2_hit_sectors, 4u);
  EXPECT_EQ(counters.dram_read_bytes, 128u);
  EXPECT_EQ(caches.l1().levels()[1].l1, 2u);
  EXPECT_EQ(caches.result().levels[1].l2, 1u);
  EXPECT_EQ(caches.result().levels[1].dram, 1u);
}

TEST(CacheModel, SectorsOfALineAreSeparate) {
  Caches caches;
  caches.Read(0, 0, Row(0, 1));
  caches.Read(0, 0, Row(1, 1));  // same line, another sector
  caches.EndBlock(0);
  EXPECT_EQ(caches.EndKernel().l1_miss_sectors, 2u);
}

TEST(CacheModel, StoresDoNotAllocateInL1AndAtomicsInvalidate) {
  Caches caches;
  caches.Write(0, 0, Row(0));
  caches.Read(0, 0, Row(0));
  caches.Request(MemoryRequest::Kind::kAtomic, 0, 0, Row(0, 1));
  caches.Read(0, 0, Row(0));
  caches.EndBlock(0);
  const core::Counters counters = caches.EndKernel();
  EXPECT_EQ(counters.l1_miss_sectors, 5u);
  EXPECT_EQ(counters.l1_hit_sectors, 3u);
  EXPECT_EQ(counters.dram_read_bytes, 0u);  // everything was written by this kernel and is in L2
  EXPECT_EQ(counters.dram_write_bytes, 128u);
  EXPECT_EQ(caches.result().hottest_atomics, 1u);
}

TEST(CacheModel, UncachedLoadsPassL1) {
  Caches caches;
  for (int i = 0; i < 3; ++i) caches.Request(MemoryRequest::Kind::kRead, 0, 0, Row(0), 1, false);
  caches.EndBlock(0);
  const core::Counters counters = caches.EndKernel();
  EXPECT_EQ(counters.l1_miss_sectors, 12u);
  EXPECT_EQ(counters.dram_read_bytes, 128u);
}

// Warps run sequentially on the host, concurrently on the chip. Eight warps that each walk their own 32 rows use 256
// lines at any time: more than a share of 128 lines holds, although one warp's 32 lines would fit.
TEST(CacheModel, WarpsOfABlockCompete) {
  const auto hits = [](uint64_t warps) {
    Caches caches(128 * 128);
    for (uint32_t warp = 0; warp < warps; ++warp)
      for (uint64_t column = 0; column < 64; ++column)  // 8 columns of 4 bytes in a sector
        caches.Read(0, warp, Row(warp * 32 * 1024 + column / 8, 32, 1024));
    caches.EndBlock(0);
    const core::Counters counters = caches.EndKernel();
    return static_cast<double>(counters.l1_hit_sectors) /
           static_cast<double>(counters.l1_hit_sectors + counters.l1_miss_sectors);
  };
  EXPECT_NEAR(hits(1), 7.0 / 8, 0.01);
  EXPECT_LT(hits(8), 0.5);
}

TEST(CacheModel, LaterKernelsFindEarlierResultsInL2) {
  Caches caches;
  caches.Write(0, 0, Row(0));
  caches.EndBlock(0);
  EXPECT_EQ(caches.EndKernel().dram_write_bytes, 128u);
  caches.Read(1, 0, Row(0));
  caches.EndBlock(1);
  EXPECT_EQ(caches.EndKernel().dram_read_bytes, 0u);
}

TEST(CacheModel, LocalAddressesDoNotMeetGlobalOnes) {
  Caches caches;
  caches.Read(0, 0, Row(0));
  caches.Read(0, 0, {(uint64_t{1} << 58) + 5, (uint64_t{1} << 58) + 6});
  caches.Read(0, 0, {(uint64_t{1} << 58) + 5});
  caches.EndBlock(0);
  const core::Counters counters = caches.EndKernel();
  EXPECT_EQ(counters.l1_miss_sectors, 6u);
  EXPECT_EQ(counters.l1_hit_sectors, 1u);
}

TEST(CacheModel, CountsTheHottestAtomicPlace) {  // an atomic location is 1 KiB: 32 sectors
  Caches caches;
  for (uint64_t i = 0; i < 5000; ++i)
    caches.Request(MemoryRequest::Kind::kAtomic, 0, 0, Row(i % 5 ? 32 * i : 7 + i % 2, 1));
  caches.EndBlock(0);
  caches.EndKernel();
  EXPECT_EQ(caches.result().hottest_atomics, 1000u);
}

// 64 KiB read, 64 KiB written and the first 64 KiB read again by each block: a thousand blocks in lockstep need 160 MB
// of L2 for that, ten need little.
TEST(CacheModel, BlocksInStepDriveEachOthersLinesOut) {
  for (const uint64_t together : {10, 1000}) {
    Caches caches(1 << 10);
    for (uint64_t i = 0; i < 512; ++i) caches.Read(0, 0, Row(i * 4));
    for (uint64_t i = 0; i < 512; ++i) caches.Write(0, 0, Row(100'000 + i * 4));
    for (uint64_t i = 0; i < 512; ++i) caches.Read(0, 0, Row(i * 4));
    caches.l1().FinishBlock(0);
    for (const auto& misses : caches.l1().blocks()) caches.l2().Consume(caches.l1().misses(misses), together);
    caches.l1().ClearMisses();
    EXPECT_EQ(caches.EndKernel().dram_read_bytes, together > 10 ? 2 * 65536u : 65536u) << together;
  }
}

TEST(CacheModel, DramIsReadInPairsOfSectors) {
  Caches caches;
  caches.Read(0, 0, Row(0, 8, 2));  // every other sector
  caches.EndBlock(0);
  EXPECT_EQ(caches.EndKernel().dram_read_bytes, 8u * 64);
  caches.Read(1, 0, Row(1, 8, 2));  // the others were fetched with them
  caches.EndBlock(1);
  EXPECT_EQ(caches.EndKernel().dram_read_bytes, 0u);
  caches.Write(2, 0, Row(100, 1));  // present because it was written: reading it fetches no neighbour
  caches.Read(2, 0, Row(100, 1));
  caches.EndBlock(2);
  EXPECT_EQ(caches.EndKernel().dram_read_bytes, 0u);
  caches.Read(3, 0, Row(101, 1));
  caches.EndBlock(3);
  EXPECT_EQ(caches.EndKernel().dram_read_bytes, 32u);
}

TEST(CacheModel, TrafficCountsLines) {
  Caches caches;
  caches.Read(0, 0, Row(0));            // one line
  caches.Read(0, 0, Row(400, 32, 4));   // 32 lines, a sector each
  caches.Write(0, 0, Row(1600));        // a whole line
  caches.Write(0, 0, Row(2000, 3, 4));  // three lines, a sector each
  caches.EndBlock(0);
  EXPECT_EQ(caches.l1().traffic().l1_tags, 1u + 32 + 1 + 3);
  EXPECT_EQ(caches.l1().traffic().l2_read_slots, 4u + 32 * 2);
  EXPECT_EQ(caches.l1().traffic().l2_write_slots, 20u + 3 * 11);
}

// A kernel of random requests: runs, strides and random sets of sectors, of all kinds, in global and local memory, from
// nine warps.
class RandomKernel {
 public:
  RandomKernel(uint64_t seed, uint64_t l1_share, int64_t l2_bytes)
      : random_(seed), caches_(l1_share, ChipWith(l2_bytes)) {
    for (uint64_t block = 0; block < 400; ++block) {
      for (int i = 0; i < 200; ++i) Request(block);
      caches_.l1().FinishBlock(block);
      if (block % 7 == 6 || block == 399) Consume();
      if (block % 100 != 50) continue;
      const uint64_t bytes = Below(300000);
      caches_.l2().Write(kGlobalBase + Below(100000), bytes);
    }
  }
  Caches& caches() { return caches_; }

 private:
  static core::Chip ChipWith(int64_t l2_bytes) {
    core::Chip chip = *config::LoadChip("h200");
    chip.l2_bytes = l2_bytes;
    return chip;
  }
  uint64_t Below(uint64_t limit) { return random_() % limit; }
  void Consume() {
    for (const auto& misses : caches_.l1().blocks()) caches_.l2().Consume(caches_.l1().misses(misses));
    caches_.l1().ClearMisses();
  }
  void Request(uint64_t block) {
    using Kind = MemoryRequest::Kind;
    const auto warp = static_cast<uint32_t>(Below(9));
    uint64_t base = FirstSector() + (Below(4) != 0 ? Below(2000) : Below(200000));
    if (Below(10) == 0) base = (1ull << 58) + Below(5000);
    const uint64_t choice = Below(8), count = 1 + Below(32);
    const uint64_t stride = Below(3) == 0 ? 1 : Below(2) != 0 ? Below(7) + 1 : 32 * (1 + Below(3));
    std::vector<uint64_t> sectors;
    for (uint64_t i = 0; i < count; ++i) sectors.push_back(base + i * stride);
    if (Below(5) == 0) {
      for (uint64_t& sector : sectors) sector = base + Below(3000);
      std::sort(sectors.begin(), sectors.end());
      sectors.erase(std::unique(sectors.begin(), sectors.end()), sectors.end());
    }
    const Kind kind = choice == 0 ? Kind::kAtomic : choice < 3 ? Kind::kWrite : Kind::kRead;
    const auto line = static_cast<uint32_t>(Below(40));
    const bool cached = Below(9) != 0 && kind != Kind::kAtomic;
    caches_.Request(kind, block, warp, sectors, line, cached,
                    kind == Kind::kAtomic ? static_cast<uint32_t>(Below(32)) : 0);
  }

  std::mt19937_64 random_;
  Caches caches_;
};

// Recorded from the first, slower version of the model, which looked up sector after sector in an array sorted by last
// use.
TEST(CacheModel, RandomKernelsCountWhatTheyAlwaysDid) {
  struct Row {
    uint64_t seed, l1_share;
    int64_t l2_bytes;
    uint64_t l1_hits, l1_misses, l2_hits, l2_misses, dram_read, dram_written, tags, read_slots, write_slots,
        atomic_slots, hottest;
  };
  for (const Row& row : {Row{1, 4608, 100 << 10, 4162, 815318, 585779, 728744, 36848224, 14256512, 871498, 1342259,
                             3023306, 322320, 3793},
                         Row{3, 17920, 1 << 20, 19494, 809228, 1050886, 246652, 12495456, 4680672, 874277, 1336823,
                             2944891, 318747, 3637},
                         Row{5, 68096, 300 << 10, 83458, 738602, 850071, 388243, 19814400, 7840960, 875105, 1228032,
                             3005053, 325077, 3601}}) {
    RandomKernel kernel(row.seed, row.l1_share, row.l2_bytes);
    const core::Counters counters = kernel.caches().EndKernel();
    const Traffic& traffic = kernel.caches().l1().traffic();
    EXPECT_EQ(counters.l1_hit_sectors, row.l1_hits) << row.seed;
    EXPECT_EQ(counters.l1_miss_sectors, row.l1_misses) << row.seed;
    EXPECT_EQ(counters.l2_hit_sectors, row.l2_hits) << row.seed;
    EXPECT_EQ(counters.l2_miss_sectors, row.l2_misses) << row.seed;
    EXPECT_EQ(counters.dram_read_bytes, row.dram_read) << row.seed;
    EXPECT_EQ(counters.dram_write_bytes, row.dram_written) << row.seed;
    EXPECT_EQ(traffic.l1_tags, row.tags) << row.seed;
    EXPECT_EQ(traffic.l2_read_slots, row.read_slots) << row.seed;
    EXPECT_EQ(traffic.l2_write_slots, row.write_slots) << row.seed;
    EXPECT_EQ(traffic.l2_atomic_slots, row.atomic_slots) << row.seed;
    EXPECT_EQ(kernel.caches().result().hottest_atomics, row.hottest) << row.seed;
  }
}

}  // namespace
}  // namespace warpwright::sim
