// Which writes of a launch to global memory a read of the same launch may see. All blocks share one memory here, which
// shows a write at once, and a warp's lanes run in step; what a GPU may answer otherwise is a fault instead:
//   - a read of what another block wrote by an ordinary store, unless the writing thread has executed a fence of the
//     device's scope since, or one of its block with a barrier between the write and the fence (__threadfence, a
//     release of that scope, the barrier of a cooperative grid), and the reading block has seen since, by an atomic or
//     a volatile read, what the writing one said then (exec/block_clocks.h). Volatile reads are no exception: they do
//     not make the other block's stores arrive;
//   - an atomic operation of the block's scope (atomicAdd_block) on what another block has changed by one, or of which
//     this one's is: they may both see what was there before;
//   - an ordinary store to what another block has read before, of the last two that did, unless this one has seen
//     that it is done with it: in another order of the blocks the read has the new value;
//   - a read through the read-only path (ld.global.nc, __ldg) of anything that the launch has written;
//   - two threads of a block at the same bytes, one of which writes them by an ordinary store after the other read
//     them, or reads what the other wrote so, without a barrier in between, or a fence of the block, as a lock has it.
// In blocks that order their threads by locks or by barriers of a part, every fence counts for all threads.
//
// What is stored atomically or as volatile needs no fence to arrive, as a flag that somebody waits for does, but
// nothing says that it has: a read may have an older value, unless the store is released and heard of like any other.
// That is no fault: such a read, if it is no atomic operation, gets the oldest value that it may have
// (exec/old_values.h), a few times at each place. Who waits for a flag waits a little longer; who takes it for data has
// a wrong result.
//
// One per launch, of which the blocks run on one thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/exec/block_clocks.h"
#include "sim/exec/context.h"
#include "sim/exec/old_values.h"
#include "sim/exec/services.h"
#include "sim/touched.h"

namespace warpwright::sim {

class Visibility {
  using Access = BlockAccess;

 public:
  explicit Visibility(uint64_t blocks) : fences_(blocks), clocks_(blocks) {}
  void NoteFence(const Context& c);  // by the active lanes
  // One lane's access of `bytes`. False after a fault. `old`, unless it is null, gets the value that the read has in
  // place of what is in memory; it stays empty where that is what it reads.
  bool Read(Context& c, const Instruction* i, uint32_t lane, uint64_t address, uint32_t bytes,
            std::span<const std::byte>* old);
  bool Write(Context& c, const Instruction* i, uint32_t lane, uint64_t address, uint32_t bytes);
  Touched WhatWasTouched() const;  // of global memory so far
  // The first read that got an older value, as the fault that it is where the result is wrong for it.
  const std::optional<core::Fault>& old_read() const { return old_read_; }

 private:
  // Of two bytes: no two threads of a block share them but where elements are bytes, of which races are not looked for.
  struct Cell {
    Access write, read, other_read;   // of reads the last ones, by different threads
    Access read_elsewhere;            // the last one by another block than that of `read`
    uint32_t exchanged_by = 0;        // the block that did the last atomic operation, and one
    bool exchanged_in_block = false;  // which was of its scope
  };
  static constexpr uint32_t kStrong = UINT32_MAX;  // in place of a block
  static constexpr uint64_t kCellBytes = 2, kPageCells = 2048;
  using Page = std::array<Cell, kPageCells>;
  // Of one block: how many, up to which time all threads' writes are released, and by warp those of its lanes; and the
  // number of each thread's own last one.
  struct Fences {
    uint32_t count = 0, released = 0;
    std::vector<uint32_t> by_warp, by_thread;
  };
  bool IsReleased(const Access& write) const;
  bool HasArrived(uint64_t block, const Access& write) const;
  Cell& At(uint64_t address);
  Access Now(const Context& c, uint32_t lane) const;
  bool IsRace(const Context& c, uint32_t lane, const Access& other) const;
  bool CheckScope(Context& c, const Instruction* i, uint32_t lane, uint64_t address);
  // By another block, which in another order of the blocks may do it after what this one does now.
  bool IsUnordered(const Context& c, const Access& other) const;

  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  uint64_t last_number_ = UINT64_MAX;
  Page* last_ = nullptr;
  std::vector<Fences> fences_;  // by block
  BlockClocks clocks_;
  OldValues old_values_;
  std::optional<core::Fault> old_read_;
};

// Older values in the places of the newer ones, for the time of one instruction.
class ValuesInPlace {
 public:
  ValuesInPlace() = default;
  ~ValuesInPlace();
  ValuesInPlace(const ValuesInPlace&) = delete;
  ValuesInPlace& operator=(const ValuesInPlace&) = delete;
  void Put(std::span<std::byte> place, std::span<const std::byte> value);

 private:
  std::vector<std::pair<std::span<std::byte>, std::vector<std::byte>>> before_;
};

// For the active lanes, each `bytes` from its address in global memory. False after a fault. `values`: where older ones
// may be put for the read; null: it reads what is there.
bool CheckVisible(Context& c, const Instruction* i, const uint64_t* address, uint32_t bytes,
                  ValuesInPlace* values = nullptr);
bool CheckWrites(Context& c, const Instruction* i, const uint64_t* address, uint32_t bytes);

}  // namespace warpwright::sim
