// What a call does with memory that outlives it. A result depends on earlier calls only through bytes that a call reads
// before it has written them, and that some call leaves with another value: a workspace that every call fills before it
// reads it, and a ticket that is back at its beginning when the call ends, are no state of an entry.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::core {

struct ByteRange {
  uint64_t begin = 0, end = 0;
  bool operator==(const ByteRange&) const = default;
};
struct StateUse {
  std::string name;
  bool variable = true;              // of the module; otherwise a workspace of the plan
  std::vector<ByteRange> inherited;  // read before the call wrote them; ascending, as below
  std::vector<ByteRange> left;       // with another value than the call found
  bool operator==(const StateUse&) const = default;
};

// The ranges for which `is_in(i)`, of the indices below `size`. Beyond a limit of ranges the last one covers the rest.
template <typename Predicate>
std::vector<ByteRange> RangesOf(uint64_t size, Predicate is_in) {
  constexpr size_t kMost = 4096;
  std::vector<ByteRange> ranges;
  for (uint64_t i = 0; i < size; ++i) {
    if (!is_in(i)) continue;
    if (!ranges.empty() && (ranges.back().end == i || ranges.size() == kMost)) ranges.back().end = i + 1;
    else ranges.push_back({i, i + 1});
  }
  return ranges;
}
// Both ascending.
std::vector<ByteRange> Union(const std::vector<ByteRange>& a, const std::vector<ByteRange>& b);
std::optional<uint64_t> FirstCommon(const std::vector<ByteRange>& a, const std::vector<ByteRange>& b);
// Adds what another run did to what is known, by name.
void Merge(const std::vector<StateUse>& more, std::vector<StateUse>& known);

}  // namespace warpwright::core
