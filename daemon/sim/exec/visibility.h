// Which writes of a launch to global memory a read of the same launch may see. All blocks share one memory here, which
// shows a write at once; two kinds of reads that a GPU may answer with what was there before are faults instead:
//   - of what another block wrote by an ordinary store, unless that block has executed a fence of the device's scope
//     since (__threadfence, a release of that scope, the barrier of a cooperative grid). Volatile reads are no
//     exception: they do not make the other block's stores arrive. Flags are stored atomically or as volatile, which
//     needs no fence, and what is read by an atomic is not asked about;
//   - through the read-only path (ld.global.nc, __ldg) of anything that the launch has written.
// Like the race check it knows the one order in which the blocks ran. Which thread of a block executed the fence, and
// whether a barrier stood before it, is not followed: that is the race check's.
//
// One per launch, of which the blocks run on one thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/exec/context.h"
#include "sim/exec/services.h"

namespace warpwright::sim {

class Visibility {
 public:
  explicit Visibility(uint64_t blocks) : fences_(blocks) {}

  // What may not be seen of [address, address + bytes): the block that wrote it, kReadOnlyPath, or kNothing.
  static constexpr uint64_t kNothing = UINT64_MAX, kReadOnlyPath = UINT64_MAX - 1;
  uint64_t FindHidden(uint64_t block, uint64_t address, uint32_t bytes, bool read_only_path);
  // `strong`: atomic, volatile or relaxed.
  void NoteWrite(uint64_t block, uint64_t address, uint32_t bytes, bool strong);
  void NoteFence(uint64_t block) { ++fences_[block]; }

 private:
  // Of a byte: who wrote it last, and how many fences that block had executed. Zero: nobody.
  struct Stamp {
    uint32_t block_and_one = 0, fences = 0;
  };
  static constexpr uint32_t kStrong = UINT32_MAX;  // in place of a block
  static constexpr uint64_t kPageBytes = 4096;
  using Page = std::array<Stamp, kPageBytes>;
  Page* Find(uint64_t address) const;
  Stamp& At(uint64_t address);

  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  std::vector<uint32_t> fences_;  // by block
};

// For the active lanes, each `bytes` from its address in global memory. False after a fault.
bool CheckVisible(Context& c, const Instruction* i, const uint64_t* address, uint32_t bytes);
void NoteWrites(Context& c, const Instruction* i, const uint64_t* address, uint32_t bytes);

}  // namespace warpwright::sim
