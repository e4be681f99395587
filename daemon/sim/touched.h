// Which bytes an operation of a plan touched.
#pragma once

#include <cstdint>
#include <vector>

#include "core/state_use.h"

namespace warpwright::sim {

struct Touched {
  using Ranges = std::vector<core::ByteRange>;  // of addresses, in their order
  Ranges read, written;                         // by ordinary accesses
  Ranges exchanged;                             // by atomic or volatile writes

  // Behind what is in `ranges`.
  static void Add(Ranges& ranges, uint64_t address, uint64_t bytes) {
    if (!ranges.empty() && ranges.back().end == address) ranges.back().end += bytes;
    else if (bytes > 0) ranges.push_back({address, address + bytes});
  }
};

}  // namespace warpwright::sim
