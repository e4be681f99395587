// Loops over independent elements on all cores. Their results must not depend on how the range is partitioned.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <span>
#include <thread>
#include <vector>

namespace warpwright::base {

// Calls body(begin, end) concurrently for subranges that cover [0, count). Short ranges stay on the caller's thread.
// `body` must not throw. `least`: the number of elements that justify another thread, which takes about 30 us to start.
template <typename Body>
void ParallelFor(size_t count, const Body& body, size_t least = 64u << 10) {
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const size_t pieces = std::min(cores, (count + least - 1) / least);
  if (pieces <= 1) {
    body(size_t{0}, count);
    return;
  }
  const auto begin = [&](size_t piece) { return count / pieces * piece + std::min(piece, count % pieces); };
  std::vector<std::jthread> threads;  // the last to be declared: joined before what they use is gone
  threads.reserve(pieces - 1);
  for (size_t piece = 1; piece < pieces; ++piece)
    threads.emplace_back([&, piece] { body(begin(piece), begin(piece + 1)); });
  body(size_t{0}, begin(1));
}

inline constexpr size_t kParallelChunk = 1u << 15;  // elements per partial sum, if an element costs a few operations

// Sums over [0, count) that do not depend on the number of cores: body(begin, end, part) fills one part for each
// `chunk` of the range, and the parts are merged in order by part.Merge(next). A chunk should be about as much work as
// kParallelChunk simple elements.
template <typename Part, typename Body>
Part ParallelSum(size_t count, size_t chunk, const Body& body) {
  std::vector<Part> parts((count + chunk - 1) / chunk);
  ParallelFor(
      parts.size(),
      [&](size_t begin, size_t end) {
        for (size_t p = begin; p < end; ++p) body(p * chunk, std::min(count, (p + 1) * chunk), parts[p]);
      },
      2);
  Part sum;
  for (const Part& part : parts) sum.Merge(part);
  return sum;
}

inline bool ParallelEqual(std::span<const std::byte> a, std::span<const std::byte> b) {
  if (a.size() != b.size()) return false;
  std::atomic<bool> equal = true;
  ParallelFor(
      a.size(),
      [&](size_t begin, size_t end) {
        if (end > begin && std::memcmp(a.data() + begin, b.data() + begin, end - begin) != 0) equal = false;
      },
      2u << 20);
  return equal;
}

inline void ParallelCopy(std::byte* to, std::span<const std::byte> from) {
  ParallelFor(
      from.size(),
      [&](size_t begin, size_t end) {
        if (end > begin) std::memcpy(to + begin, from.data() + begin, end - begin);
      },
      2u << 20);
}

}  // namespace warpwright::base
