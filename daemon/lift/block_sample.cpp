#include "lift/block_sample.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/random.h"

namespace warpwright::lift {
namespace {

// The most telling first.
std::vector<uint64_t> Coordinates(uint64_t extent, uint64_t count) {
  std::vector<uint64_t> chosen;
  const auto add = [&](uint64_t at) {
    if (at < extent && chosen.size() < count && std::find(chosen.begin(), chosen.end(), at) == chosen.end())
      chosen.push_back(at);
  };
  for (const uint64_t at : {uint64_t{0}, extent - 1, uint64_t{1}, extent / 2, extent / 2 + 1, extent - 2}) add(at);
  for (uint64_t k = 1; k < count; ++k) add(extent * k / count);
  return chosen;
}

}  // namespace

BlockList GridSample(const core::Dim3& grid, uint64_t count) {
  const auto dimensions = (grid.x > 1 ? 1 : 0) + (grid.y > 1 ? 1 : 0) + (grid.z > 1 ? 1 : 0);
  const double root = std::pow(static_cast<double>(count), 1.0 / std::max(dimensions, 1));
  const auto of_each = std::max<uint64_t>(static_cast<uint64_t>(root + 1e-9), 2);
  std::set<uint64_t> blocks;
  for (const uint64_t z : Coordinates(grid.z, of_each))
    for (const uint64_t y : Coordinates(grid.y, of_each))
      for (const uint64_t x : Coordinates(grid.x, of_each)) blocks.insert((z * grid.y + y) * grid.x + x);
  return {blocks.begin(), blocks.end()};
}

BlockList RandomSample(const core::Dim3& grid, uint64_t count, uint64_t seed) {
  const base::CounterRandom random(seed, 0);
  std::set<uint64_t> blocks;
  for (uint64_t k = 0; k < count; ++k) blocks.insert(random.Bits(k) % grid.Count());
  return {blocks.begin(), blocks.end()};
}

}  // namespace warpwright::lift
