// What was in words of global memory that a launch stores atomically or as volatile, and which blocks still may read
// it. By PTX's memory model a read has the value of the last store that comes before it, or of any later one that does
// not come after it: who stored a word, and has told nobody, may not have changed it yet for others. The order of the
// stores to one word is the one in which they ran; a block that has read a value, or knows of one that has, reads none
// that is older.
//
// Only whole words that are stored and read alike, by addresses and sizes: of others nothing is known, and they are
// read as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

namespace warpwright::sim {

// A block's thread, the time of the block, how many fences it had executed, and its clock. Zero: nobody.
struct BlockAccess {
  uint32_t block_and_one = 0, thread = 0, time = 0, fences = 0, clock = 0;
};

class OldValues {
 public:
  // `before`: what is there, which the store replaces.
  void Write(const BlockAccess& by, uint64_t address, std::span<const std::byte> before);
  // An ordinary store.
  void Forget(uint64_t address, uint64_t bytes);

  struct Answer {
    std::span<const std::byte> value;  // until the next call; empty: what is there
    uint32_t written_by = 0;           // block of the first store that is passed over
  };
  // The oldest value that the block may read; the newest one, when it has got others so often that it may wait for it.
  // `arrived`: whether what an access did comes before what the block does now.
  Answer Read(const BlockAccess& by, uint64_t address, uint32_t bytes,
              const std::function<bool(const BlockAccess&)>& arrived);

 private:
  struct Store {
    BlockAccess by;
    std::vector<std::byte> before;
  };
  struct Reader {
    BlockAccess by;
    uint64_t seen = 0;   // number of the store whose value it has read, and one
    uint32_t given = 0;  // older values
  };
  struct Word {
    std::vector<Store> stores;
    uint64_t dropped = 0;                          // stores before the first of these
    std::unordered_map<uint32_t, Reader> readers;  // by block
    size_t bytes = 0;
  };
  std::map<uint64_t, Word> words_;  // by address
};

}  // namespace warpwright::sim
