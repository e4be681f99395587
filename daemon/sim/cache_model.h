// A model of the caches, fed with the sectors that warps request. It determines how many bytes move between the levels
// (Counters), and how long a load waits on average at each source line (LoadsByLevel, for the time model).
//
// Levels, as NVIDIA's GPUs since Volta have them: L1 per multiprocessor, 128-byte lines of four 32-byte sectors, filled
// by sector; loads allocate, stores write through and do not allocate, atomics go to L2. L2: one for the chip, same
// lines, write-back, a store that misses allocates without reading. Both are 16-way sets with hashed indices and LRU
// within the set.
//
// Blocks are simulated one after the other, but run concurrently on the chip. To make the result independent of the
// order in which the host happens to run warps:
//  - A block's requests are collected and replayed warp by warp in turns, one request each, as if its warps ran in
//    lockstep.
//  - A block has its share of L1 to itself: what shared memory leaves of L1, divided by the number of resident blocks.
//    Block b inherits the content from block b - multiprocessors, which ran on the same multiprocessor.
//  - What misses L1 is replayed into L2 block by block, in ascending order. But resident blocks run in lockstep: by the
//    time a block returns to one of its own lines, all of them have touched as much as it has. If that is more than L2
//    holds, the line has been evicted (LRU). L2 has two halves, and each keeps what its multiprocessors read from the
//    other's memory: a line that was read occupies one and a half lines of L2 on average, a written one occupies one.
// L1 therefore runs on as many host threads as there are (one L1Model each), L2 on one, and the counters do not depend
// on how many.
//
// DRAM is read in pairs of sectors, 64 bytes: a load that misses one sector alone brings its neighbour into L2.
//
// Limits: neighbours on a multiprocessor do not find each other's lines in L1; a block whose requests exceed
// kMaxHeldAccesses is replayed in pieces; sectors that are written in part count as whole; the halves of L2 count only
// when a block returns to its own lines.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

#include "core/chip.h"
#include "core/counters.h"
#include "sim/machine.h"
#include "sim/sector_cache.h"

namespace warpwright::sim {

// An array that grows at its end. Reserving space is separate from filling it, so that the code that fills it needs no
// call.
template <typename T>
class RawVector {
 public:
  T* begin() const { return data_.get(); }
  T* end() const { return data_.get() + size_; }
  size_t size() const { return size_; }
  size_t room() const { return capacity_ - size_; }
  void MakeRoom(size_t more) {
    if (room() >= more) return;
    capacity_ = 2 * capacity_ + more;
    void* larger =
        std::realloc(data_.get(), capacity_ * sizeof(T));  // moves pages instead of copying them where it can
    if (!larger) throw std::bad_alloc();
    static_cast<void>(data_.release());
    data_.reset(static_cast<T*>(larger));
  }
  void Advance(size_t count) { size_ += count; }
  void Clear() { size_ = 0; }

 private:
  static_assert(std::is_trivially_copyable_v<T>);
  struct Free {
    void operator()(T* data) const { std::free(data); }
  };
  std::unique_ptr<T[], Free> data_;
  size_t size_ = 0, capacity_ = 0;
};

// The part of one warp's request that concerns one line of L2.
class LineAccess {
 public:
  LineAccess() = default;
  // `line` of the source, `collisions` as in MemoryRequest.
  LineAccess(MemoryRequest::Kind kind, uint32_t line, uint32_t collisions = 0)
      : tag_(0), bits_(static_cast<uint32_t>(kind) << 4 | (line & kMaxLine) << 7 | (collisions & 31) << 26) {}
  LineAccess At(uint32_t tag, uint32_t sectors) const {  // the same request, for another line and its sectors
    LineAccess access;
    access.tag_ = tag;
    access.bits_ = bits_ | sectors;
    return access;
  }
  void BeginRequest() { bits_ |= 64; }

  uint32_t tag() const { return tag_; }
  uint32_t sectors() const { return bits_ & 15; }  // mask
  MemoryRequest::Kind kind() const { return static_cast<MemoryRequest::Kind>(bits_ >> 4 & 3); }
  bool first() const { return (bits_ & 64) != 0; }  // a new request begins
  uint32_t line() const { return bits_ >> 7 & kMaxLine; }
  uint32_t collisions() const { return bits_ >> 26 & 31; }

  static constexpr uint32_t kMaxLine = 0x7'ffff;

 private:
  uint32_t tag_, bits_;
};

// Warp loads at one source line, by the slowest level that any of their sectors came from.
struct LoadsByLevel {
  uint64_t l1 = 0, l2 = 0, dram = 0;
};

inline constexpr size_t kMaxHeldAccesses = 4 << 20;  // lines of a block's requests: 20 MiB, and the requests

// How often the data paths were used, in the units that limit them. The cost of a warp's request depends on how many
// 128-byte lines it spans; the weights were measured on an H200 (tests/unit/sim_model/calibration).
struct Traffic {
  uint64_t l1_tags = 0;          // lines of requests, loads and stores: L1 looks up one a cycle
  uint64_t l2_read_slots = 0;    // 32 bytes; one sector alone takes two
  uint64_t l2_write_slots = 0;   // twentieths of the time that a whole line takes: 8, and 3 for each sector
  uint64_t l2_atomic_slots = 0;  // sectors, plus one for each time that lanes at one address must wait
  void Add(const Traffic& other);
};

// The L1s of the multiprocessors that one host thread simulates.
class L1Model : public MemoryObserver {
 public:
  // `share_bytes`: one block's share of L1.
  L1Model(const core::Chip& chip, uint64_t share_bytes);
  ~L1Model() override;

  void OnRequest(const MemoryRequest& request) override;  // all of one block
  void FinishBlock(uint64_t block);                       // the block whose requests were received

  // What the finished blocks sent to L2, each block's accesses one after the other, until ClearMisses.
  struct BlockMisses {
    uint64_t block = 0;
    size_t first = 0, last = 0;  // in misses()
  };
  const std::vector<BlockMisses>& blocks() const { return blocks_; }
  std::span<const LineAccess> misses(const BlockMisses& block) const {
    return {misses_.begin() + block.first, block.last - block.first};
  }
  void ClearMisses();

  const core::Counters& counters() const { return counters_; }  // l1_* and l2_*_bytes
  const Traffic& traffic() const { return traffic_; }
  const std::vector<LoadsByLevel>& levels() const { return levels_; }  // by line; only l1 is filled

 private:
  // What one warp of the running block has requested: the requests, and the lines of all of them in sequence.
  struct Request {
    uint32_t line;  // of the source
    uint8_t lines;  // how many
    uint8_t kind;   // MemoryRequest::Kind
    bool cached;
    uint8_t collisions;
  };
  struct WarpLog {
    RawVector<Request> requests;
    RawVector<uint32_t> tags;
    RawVector<uint8_t> sectors;
  };
  // The rest of a warp's log.
  struct Cursor {
    const Request *next, *end;
    const uint32_t* tags;
    const uint8_t* sectors;
  };
  WarpLog& LogOf(const MemoryRequest& request);  // with room for the request
  void Replay();
  void ReplayRounds(SectorCache& cache, std::vector<Cursor>& warps);
  void ReplayRead(SectorCache& cache, const Request& request, const Cursor& lines);
  void ReplayWrite(SectorCache& cache, const Request& request, const Cursor& lines);
  LoadsByLevel& LevelsOf(uint32_t line);
  SectorCache& CacheOf(uint64_t block);

  const int multiprocessors_;
  const uint64_t share_bytes_;
  std::vector<std::unique_ptr<SectorCache>> caches_;  // by multiprocessor; created on first use
  std::vector<WarpLog> warps_;                        // of the running block
  size_t held_ = 0;                                   // lines in warps_
  uint64_t block_ = 0;
  RawVector<LineAccess> misses_;
  std::vector<BlockMisses> blocks_;
  core::Counters counters_;
  Traffic traffic_;
  std::vector<LoadsByLevel> levels_;
};

// The chip's L2. Lives as long as a plan runs: later kernels find what earlier ones left.
class L2Model {
 public:
  explicit L2Model(const core::Chip& chip);
  // The misses of one block, of which `together` are resident. In cache_replay.cpp.
  void Consume(std::span<const LineAccess> misses, uint64_t together = 1);
  void WriteBack();  // dirty sectors count as written, and become clean
  const core::Counters& counters() const { return result_.counters; }
  // The kernel has ended: writes back, returns the kernel's counters and forgets them.
  struct KernelResult {
    core::Counters counters;           // l2_*_sectors and dram_*
    std::vector<LoadsByLevel> levels;  // l2 and dram
    uint64_t hottest_atomics = 0;      // sectors of requests to the same 1 KiB
  };
  KernelResult FinishKernel();
  // A memset or a copy between kernels.
  void Write(uint64_t address, uint64_t bytes);

 private:
  // When the running block last touched a line; open-addressed.
  struct LastAccess {
    uint32_t tag = 0, block = 0;  // `block` identifies stale entries of earlier blocks
    uint32_t when = 0;
    uint32_t dirty = 0;  // sectors
  };
  void BeginBlock(size_t accesses);
  bool IsEvictedBeforeReuse(const LineAccess& access, uint64_t together, uint64_t& evicted_sectors);

  const uint64_t capacity_;
  SectorCache cache_;
  KernelResult result_;
  std::vector<LastAccess> touches_;
  uint32_t block_ = 0;                                        // counts
  uint32_t touched_ = 0;                                      // by it so far, in kTouchUnit bytes of L2
  std::vector<std::pair<uint64_t, uint64_t>> atomic_counts_;  // open-addressed: index of the 1 KiB + 1, sectors
  size_t atomic_used_ = 0;
  void CountAtomics(uint32_t tag, uint64_t sectors);
  LoadsByLevel& LevelsOf(uint32_t line);
};

}  // namespace warpwright::sim
