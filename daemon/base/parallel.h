// A loop over independent elements on all cores. What it computes must not depend on how the range is cut.
#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace warpwright {

// Calls body(begin, end) for pieces that cover [0, count), at the same time. Short ranges stay on the caller's thread. `body` must not
// throw.
template <typename Body>
void ParallelFor(size_t count, const Body& body) {
  constexpr size_t kPiece = 256u << 10;  // elements that are worth a thread
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const size_t pieces = std::min(cores, (count + kPiece - 1) / kPiece);
  if (pieces <= 1) {
    body(size_t{0}, count);
    return;
  }
  std::vector<std::jthread> threads;
  threads.reserve(pieces - 1);
  const auto begin = [&](size_t piece) { return count / pieces * piece + std::min(piece, count % pieces); };
  for (size_t piece = 1; piece < pieces; ++piece) threads.emplace_back([&, piece] { body(begin(piece), begin(piece + 1)); });
  body(size_t{0}, begin(1));
}

}  // namespace warpwright
