// What the blocks of a launch know of each other: vector clocks. Strong accesses (atomics, volatile and relaxed ones)
// carry them: what reads or exchanges a word knows all that the block knew which wrote it, and all that it had done.
// Any thread of a block knows what another of its threads does: how they tell each other is looked at elsewhere.
//
// Lenient where it costs nothing that is looked for: words of four bytes stand for what is in them, and a strong write
// needs no fence before it (exec/visibility.h asks for those).
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace warpwright::sim {

class BlockClocks {
 public:
  explicit BlockClocks(uint64_t blocks) : blocks_(blocks) {}

  // Of the block's own work, from 0; it advances with every strong write.
  uint32_t Now(uint64_t block) const { return blocks_[block].clock; }
  void Read(uint64_t block, uint64_t address);      // a strong read
  void Write(uint64_t block, uint64_t address);     // a strong write that does not look at what was there
  void Exchange(uint64_t block, uint64_t address);  // an atomic operation that returns what was there
  void Reduce(uint64_t block, uint64_t address);    // one that does not
  // Whether what `other` did at its time `clock` comes before what `block` does now, in every order of the blocks.
  bool Knows(uint64_t block, uint64_t other, uint32_t clock) const;

 private:
  using Clocks = std::vector<uint32_t>;  // by block; one more than the last known time, 0: nothing is known
  struct Block {
    uint32_t clock = 0;
    Clocks known;                          // empty: of nobody
    std::shared_ptr<const Clocks> shared;  // a copy of it that messages hold; null: it has changed since
  };
  // What a word carries: what its writers had done, and what they knew.
  struct Message {
    std::shared_ptr<const Clocks> known;
    uint64_t writer = UINT64_MAX;
    uint32_t clock = 0;
  };
  void Learn(uint64_t block, const Message& message);
  Message MessageOf(uint64_t block);
  bool GivesUp();

  std::vector<Block> blocks_;
  std::unordered_map<uint64_t, Message> messages_;  // by word
  uint64_t copied_ = 0;                             // clocks in all copies that were made
  bool given_up_ = false;
};

}  // namespace warpwright::sim
