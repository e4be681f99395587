// Integer points of a box that fulfil guards: how many, and which values positions take on them. Variables that no
// guard and no position connects are treated apart, so that what is tried is far less than the box.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/computation_program.h"

namespace warpwright::core {

struct PointSet {
  std::vector<std::pair<VariableId, int64_t>> box;  // with extents
  std::vector<CompiledGuard> guards;
  const std::vector<PositionTerm>* terms = nullptr;  // of the guards' and other positions

  // None: more than `budget` points would be tried; it is reduced by those that were.
  std::optional<uint64_t> Count(uint64_t& budget) const;
};

// Offsets that some coordinates of a tensor contribute together: first, first + step, ..., or a sorted list.
struct OffsetSet {
  std::vector<size_t> dimensions;
  int64_t first = 0, step = 0, count = 0;
  std::vector<int64_t> list;  // if count is 0
  uint64_t size() const { return count > 0 ? static_cast<uint64_t>(count) : list.size(); }
  int64_t operator[](uint64_t i) const { return count > 0 ? first + static_cast<int64_t>(i) * step : list[i]; }
  bool operator==(const OffsetSet&) const = default;
};
struct Coordinates {
  std::vector<std::optional<Position>> positions;  // an absent one takes all values
  std::vector<int64_t> extents, strides;           // of the tensor; what is outside does not count
};
// The elements at `coordinates`, over the points, as a sum of sets. None: too many points to list, or the budget.
std::optional<std::vector<OffsetSet>> OffsetsOf(const PointSet& points, const Coordinates& coordinates,
                                                uint64_t& budget);
// At least these: each coordinate by itself, under no guard of several variables.
std::optional<std::vector<OffsetSet>> OffsetsApart(const PointSet& points, const Coordinates& coordinates,
                                                   uint64_t& budget);

}  // namespace warpwright::core
