#include "schedule/contraction_tile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace warpwright::schedule {
namespace {

// In multiplications of one multiprocessor at its peak. A multiprocessor with one block waits for memory more often
// than one with two.
double TimeOf(const TileShape& shape, const Problem& problem, const Contraction& contraction,
              const core::ScheduledCase& c) {
  const double blocks = std::ceil(CountOf(contraction.m, c) / shape.m) *
                        std::ceil(CountOf(contraction.n, c) / shape.n) * CountOf(contraction.batch, c);
  const double waves = std::ceil(blocks / problem.input.chip.multiprocessors);
  return waves * shape.m * shape.n * CountOf(contraction.k, c) / shape.efficiency;
}

}  // namespace

double CountOf(const std::vector<Axis>& axes, const core::ScheduledCase& c) {
  double count = 1;
  for (const Axis& axis : axes) count *= static_cast<double>(ValueIn(axis.extent, c).value_or(0));
  return count;
}

const TileShape* FindTileShape(std::span<const TileShape> shapes, std::string_view name) {
  for (const TileShape& shape : shapes)
    if (shape.name == name) return &shape;
  return nullptr;
}

const TileShape& TileShapeOf(std::span<const TileShape> shapes, std::string_view name) {
  const TileShape* const found = FindTileShape(shapes, name);
  if (found == nullptr) throw std::out_of_range(std::string(name));
  return *found;
}

const TileShape& BestTileShape(std::span<const TileShape> shapes, const Problem& problem,
                               const ContractionGroup& group) {
  const TileShape* best = &shapes.front();
  double least = std::numeric_limits<double>::infinity();
  for (const TileShape& shape : shapes) {
    double time = 0;
    for (const core::ScheduledCase& c : problem.input.cases)
      time += c.weight * TimeOf(shape, problem, group.contraction, c);
    if (time < least) least = time, best = &shape;
  }
  return *best;
}

}  // namespace warpwright::schedule
